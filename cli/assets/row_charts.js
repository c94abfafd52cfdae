// SPDX-License-Identifier: Apache-2.0
//
// Charts of named rows, one below the other: bars, intervals and marks on one axis, each row's name above its bar, so
// that long names have the width of a phone. Shared by the pages of roadmaps and of sensitivities; what it shares with
// other pages is in report_page.js, axes and colours are in report_charts.js.

const kRow = { height: 40, bar: 12, drop: 7, foot: 46, head: 6 };  // a bar is `drop` below the middle of its row
const kMargin = 12;
const tables = {};        // of each chart, to save

// Ticks of 1, 2 or 5 times a power of ten, and ends on them; what is hardly beyond one is drawn beyond it.
function roundAxis(low, high, room) {
  const span = high > low ? high - low : Math.abs(high) || 1;
  const raw = span / Math.max(2, room);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((m) => m * power >= raw * 0.999) * power;
  return { min: Math.floor(low / step + 0.05) * step, max: Math.ceil(high / step - 0.05) * step, interval: step };
}

function textOf(text, x, y, theme, muted, align = 'left') {
  return { type: 'text', style: { text, x, y, align, verticalAlign: 'middle', fontSize: 12,
    fontFamily: theme.font, fill: muted ? theme.muted : theme.text, stroke: theme.background, lineWidth: 3 } };
}

function markOf(mark, x, y, theme) {
  const style = { fill: mark.hollow ? theme.background : mark.colour, stroke: mark.colour, lineWidth: 1.8 };
  return mark.shape === 'diamond'
    ? { type: 'polygon', shape: { points: [[x, y - 6], [x + 6, y], [x, y + 6], [x - 6, y]] }, style }
    : mark.shape === 'rect'
      ? { type: 'rect', shape: { x: x - 4.5, y: y - 4.5, width: 9, height: 9 }, style }
      : { type: 'circle', shape: { cx: x, cy: y, r: 5 }, style };
}

// One row: {bars: [{from, to, colour, pale, line}], whisker: [low, high], marks: [{at, colour, shape, hollow}], text}.
function drawnRow(row, api, index, theme, zero) {
  const at = (value) => api.coord([value, index]);
  const y = at(zero)[1] + kRow.drop;
  const children = [];
  const [, band] = api.size([0, 1]);
  const [x0, middle] = at(zero);
  children.push({ type: 'line', shape: { x1: x0, x2: x0, y1: middle - band / 2, y2: middle + band / 2 },
    style: { stroke: theme.muted, lineWidth: 1 } });
  let end = null;
  const reach = (x) => { end = end === null ? x : row.leftwards ? Math.min(end, x) : Math.max(end, x); };
  const bars = row.bars || [];
  bars.forEach((bar, i) => {
    const [from, to] = [at(bar.from)[0], at(bar.to)[0]];
    const height = bars.length > 1 ? 8 : kRow.bar;
    const top = y - kRow.bar / 2 + i * height;
    children.push({ type: 'rect',
      shape: { x: Math.min(from, to), y: top, width: Math.max(1, Math.abs(to - from)), height: height - 1 },
      style: { fill: bar.colour, opacity: bar.pale ? 0.4 : 1 } });
    reach(from);
    reach(to);
    if (bar.whisker) {
      const [a, b] = bar.whisker.map((value) => at(value)[0]);
      children.push({ type: 'line', shape: { x1: a, x2: b, y1: top + height / 2 - 0.5, y2: top + height / 2 - 0.5 },
        style: { stroke: theme.text, lineWidth: 1.5 } });
      [a, b].forEach((x) => children.push({ type: 'line',
        shape: { x1: x, x2: x, y1: top, y2: top + height - 1 }, style: { stroke: theme.text, lineWidth: 1.5 } }));
      reach(row.leftwards ? a : b);
    }
  });
  (row.marks || []).forEach((mark) => {
    const x = at(mark.at)[0];
    if (mark.to !== undefined) {
      children.push({ type: 'line', shape: { x1: x, x2: at(mark.to)[0], y1: y, y2: y },
        style: { stroke: theme.muted, lineWidth: 2 } });
    }
    children.push(markOf(mark, x, y, theme));
    reach(x);
  });
  if (row.text) {
    children.push(textOf(row.text, (end ?? x0) + (row.leftwards ? -7 : 7), y + 0.5, theme, row.muted,
      row.leftwards ? 'right' : 'left'));
  }
  return { type: 'group', children };
}

const endsOf = (row) => (row.bars || []).flatMap((bar) => [bar.from, bar.to, ...(bar.whisker || [])])
  .concat((row.marks || []).map((mark) => mark.at)).filter((value) => Number.isFinite(value));

// The chart is as high as its rows. On paper too: report_page.js reads data-paper-height.
function sizedChart(name, height) {
  const element = byId(`${name}-chart`);
  element.style.setProperty('--chart-height', `${height}px`);
  element.dataset.paperHeight = height;
  const chart = chartOf(name, true);
  if (!state.printing) { chart.resize(); }
  return chart;
}

// What a chart shows, in a sentence: beside it, and for who cannot see it. Without rows the figure goes.
function sayFinding(name, rows, finding) {
  const element = byId(`${name}-chart`);
  element.closest('figure').hidden = rows === 0;
  element.setAttribute('aria-label', finding);
  byId(`${name}-finding`).textContent = finding;
}

// view: rows (above, each with label and tip [[label, text]]), axis {name, zero, label, low, high}, finding, table
// {columns, rows} of what is drawn.
function drawRows(name, view) {
  const { rows, axis } = view;
  tables[name] = view.table;
  sayFinding(name, rows.length, view.finding);
  if (rows.length === 0) { return; }
  const theme = pageTheme();
  const chart = sizedChart(name, rows.length * kRow.height + kRow.foot + kRow.head);
  const width = chart.getWidth();
  const ends = rows.flatMap(endsOf).concat(axis.zero, axis.low ?? [], axis.high ?? []);
  // A gap, what a bar may reach beyond its axis, and the text.
  const roomFor = (side) => {
    const longest = Math.max(0, ...rows.filter((row) => row.text && Boolean(row.leftwards) === side)
      .map((row) => row.text.length));
    return longest > 0 ? 22 + 7 * longest : 0;
  };
  const left = Math.max(kMargin, roomFor(true));
  const option = baseOption(theme);
  option.toolbox.show = false;
  Object.assign(option.tooltip, { trigger: 'axis', axisPointer: { type: 'shadow',
      shadowStyle: { color: theme.grid, opacity: 0.6 } },
    formatter: (items) => tipHtml(rows[items[0].dataIndex].label, rows[items[0].dataIndex].tip) });
  const xAxis = Object.assign(axisOption(theme, { name: axis.name, low: -1, high: 1, room: 5, vertical: false,
    label: (value) => axis.label(Number(value.toPrecision(6))).replace('-', '−') }),
  roundAxis(Math.min(...ends), Math.max(...ends), Math.min(7, Math.floor(width / 90))));
  if (left === kMargin) { xAxis.axisLabel.alignMinLabel = 'left'; }
  chart.setOption(Object.assign(option, {
    grid: { left, right: Math.max(24, roomFor(false)), top: kRow.head, bottom: kRow.foot },
    xAxis,
    yAxis: {
      type: 'category', inverse: true, data: rows.map((row) => row.label),
      axisLine: { show: false }, axisTick: { show: false }, splitLine: { show: false },
      axisLabel: {
        inside: true, margin: kMargin - left + 2, interval: 0, color: theme.text, fontSize: 12.5, align: 'left',
        verticalAlign: 'bottom', padding: [0, 0, 5, 0], width: width - 2 * kMargin, overflow: 'truncate',
        textBorderColor: theme.background, textBorderWidth: 3,
        formatter: onOneLine,
      },
      z: 10,
    },
    series: [{
      type: 'custom', clip: false, encode: { x: 0, y: 1 }, data: rows.map((row, index) => [axis.zero, index]),
      renderItem: (params, api) => drawnRow(rows[params.dataIndex], api, params.dataIndex, theme, axis.zero),
    }],
  }), { notMerge: true });
}

const kLongName = 70;

// A name in a sentence.
const short = (name) => (name.length > kLongName ? `${name.slice(0, kLongName - 1)}…` : name);
const onOneLine = (name) => name.replaceAll(/[\r\n]+/g, ' ');
const gainText = (gain) => (isEmpty(gain) ? '–' : `×${plainNumber(gain, 3)}`);
const shareText = (share) => (isEmpty(share) ? '–' : `${(100 * share).toFixed(1)} %`);
const signedPercent = (share) => `${share < 0 ? '−' : '+'}${(100 * Math.abs(share)).toFixed(1)} %`;

function keyHtml(items) {
  return items.map(({ label, colour, shape, pale }) => '<span class="key"><svg viewBox="0 0 10 10" aria-hidden="true">'
    + `<path d="${kShapes[{ rect: 1, diamond: 3 }[shape] ?? 0].path}" style="fill: ${pale ? `color-mix(in srgb, var(--c${colour}) 40%, transparent)` : `var(--c${colour})`}"/></svg>`
    + `${escapeHtml(label)}</span>`).join('');
}

// Before a chart is drawn, so that its buttons are named after what it is and not after what it finds.
function setUpDownloads(...names) {
  names.forEach((name) => addDownloads(byId(`${name}-chart`), () => charts[name], () => fileStem(model.title, name),
    () => tables[name]));
}

function fillHead() {
  fillTitle(model);
  byId('scenario').textContent = model.scenario;
  byId('footer').textContent = `Made by ${model.generated_by}. One file, nothing loaded from a network. `
    + 'Charts: Apache ECharts.';
}
