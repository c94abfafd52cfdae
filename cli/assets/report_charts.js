// SPDX-License-Identifier: Apache-2.0
//
// What charts share: shapes and colours of series, the theme of the page, axes, the base of an ECharts option,
// tooltips. report_page.js has the text of numbers and the escaping.

// Shape and colour walk their lists at different lengths, so that 56 series stay distinct.
const kShapes = [
  { name: 'circle', path: 'M5 0A5 5 0 1 1 5 10A5 5 0 1 1 5 0Z' },
  { name: 'rect', path: 'M.6 .6H9.4V9.4H.6Z' },
  { name: 'triangle', path: 'M5 0L10 9.4H0Z' },
  { name: 'diamond', path: 'M5 -.6L10.6 5L5 10.6L-.6 5Z' },
  { name: 'down', path: 'M5 10L10 .6H0Z' },
  { name: 'cross', path: 'M3.3 0H6.7V3.3H10V6.7H6.7V10H3.3V6.7H0V3.3H3.3Z' },
  { name: 'hexagon', path: 'M2.5 .5H7.5L10 5L7.5 9.5H2.5L0 5Z' },
  { name: 'bow', path: 'M0 .5L5 4L10 .5V9.5L5 6L0 9.5Z' },
];
const kBuiltInShapes = ['circle', 'rect', 'triangle', 'diamond'];
const kColours = 7;

function shapeOf(index) {
  const { name, path } = kShapes[index % kShapes.length];
  return kBuiltInShapes.includes(name) ? name : `path://${path}`;
}

function symbolSvg(index, colour) {
  const { path } = kShapes[index % kShapes.length];
  return `<svg viewBox="0 0 10 10" aria-hidden="true"><path d="${path}" `
    + `fill="var(--c${colour % kColours})"/></svg>`;
}

// The colours of the page as it is now, light or dark.
function pageTheme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    background: read('bg'), text: read('text'), muted: read('muted'), line: read('line'),
    grid: read('grid'), panel: read('panel'), envelope: read('envelope'),
    font: read('sans').replaceAll('"', "'"),  // it stands in attributes of an SVG
    series: (index) => read(`c${index % kColours}`),
  };
}

// Ticks at multiples of 1, 2 or 5 of a power of ten inside [low, high], at most `room` of them; the ends if that leaves
// fewer than two.
function evenTicks(low, high, room) {
  const least = (high - low) / Math.max(room - 1, 1);
  if (!(least > 0)) { return [low]; }
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((mantissa) => mantissa * power).find((wanted) => wanted >= least * (1 - 1e-9));
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); ++i) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks.length >= 2 ? ticks : [low, high];
}

// Ticks at 1, 2, 5 (or 1, 3, or whole decades) inside [low, high], about `room` of them at most.
function logTicks(low, high, room) {
  const decades = Math.log10(high / low);
  const perDecade = room / Math.max(decades, 0.1);
  const mantissas = perDecade >= 8 ? [1, 1.5, 2, 3, 4, 5, 6, 8]
    : perDecade >= 4 ? [1, 2, 5] : perDecade >= 2.4 ? [1, 3] : [1];
  const stride = perDecade >= 1 ? 1 : Math.ceil(1 / perDecade);
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) {
    if (e % stride !== 0) { continue; }
    for (const mantissa of mantissas) {
      const tick = Number(`${mantissa}e${e}`);
      if (tick >= low && tick <= high) { ticks.push(tick); }
    }
  }
  return ticks;
}

function axisOption(theme, { name, low, high, log, label, room, vertical }) {
  const axis = {
    type: log ? 'log' : 'value', name,
    nameLocation: vertical ? 'end' : 'middle', nameGap: vertical ? 14 : 30,
    nameTextStyle: { color: theme.text, fontSize: 12.5, align: vertical ? 'left' : 'center',
      padding: vertical ? [0, 0, 0, -52] : 0 },
    axisLine: { show: true, onZero: false, lineStyle: { color: theme.muted } },
    axisTick: { show: true, lineStyle: { color: theme.muted } },
    axisLabel: { color: theme.muted, fontSize: 12, hideOverlap: true, formatter: label },
    splitLine: { lineStyle: { color: theme.grid } },
    splitNumber: Math.min(room, 8),
  };
  if (log) {
    const ticks = logTicks(low, high, room);
    Object.assign(axis, { min: low, max: high, logBase: 10 });
    axis.axisLabel.customValues = ticks;
    axis.axisTick.customValues = ticks;
  } else if (low > 0.5 * high) {
    axis.scale = true;
  } else if (low >= 0) {
    axis.min = 0;
  }
  return axis;
}

function baseOption(theme) {
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: theme.font },
    tooltip: {
      trigger: 'item', confine: true, backgroundColor: theme.background, borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: 12.5 }, className: 'tip',
      extraCssText: 'white-space: normal; max-width: min(380px, 92vw)',
    },
    toolbox: {
      show: !state.printing, right: 0, top: 0, itemSize: 13,
          iconStyle: { borderColor: theme.muted },
      emphasis: { iconStyle: { borderColor: theme.text, textPosition: 'left' } },
      feature: {
        dataZoom: { title: { zoom: 'Zoom into an area', back: 'Undo zoom' }, filterMode: 'none',
          brushStyle: { color: theme.envelope, opacity: 0.25 } },
      },
    },
  };
}

// A table of [label, text] for a tooltip; everything in it is escaped here.
function tipHtml(title, pairs) {
  const cells = pairs.map(([label, text]) =>
    `<tr><td>${escapeHtml(label)}</td><td>${escapeHtml(text)}</td></tr>`).join('');
  return `<b>${escapeHtml(title)}</b><table>${cells}</table>`;
}

function paddedExtent(values, log) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) { low = value; }
    if (value > high) { high = value; }
  }
  const pad = log ? Math.max((high / low) ** 0.04, 1.06) : 1;
  return [low / pad, high * pad];
}
