// SPDX-License-Identifier: Apache-2.0
//
// The drawings of a report. First the two charts as ECharts options, functions from values to
// options: the trade-off of two metrics and the roofline of one configuration. Then the views of
// the operators: roofline, stacked bars, tables. report.js owns the model and the state,
// report_page.js the text of numbers (`format`) and the escaping (`escapeHtml`).

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
const kCategories = ['gemm', 'attention', 'moe', 'collective', 'elementwise', 'ssm'];
const kFramingShare = 0.002;  // operators below this share of their step do not widen the roofline
const kNamedShare = 0.09;  // operators from this share of their step on have their name beside them
const kDenseSeries = 500;   // from here they are smaller and paler
const kPackedFront = 50;    // from here the marks of a front are small and have no rim
const kLargeSeries = 2000;  // from here the dominated points are painted as one path

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

// Known categories keep their colour from report to report; the others take what is left.
function categoryColours(categories) {
  const known = new Map(kCategories.map((name, index) => [name, index]));
  const free = [6, 5, 2, 3, 4];
  let next = 0;
  return new Map(categories.map((name) => [
    name, known.has(name) ? known.get(name) : free[next++ % free.length],
  ]));
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

// The rows no other row beats in both directions, ordered by x. `at(row)` gives [x, y];
// a sign is +1 where higher is better and -1 where lower is.
function frontOf(rows, at, signX, signY) {
  const order = rows.slice().sort((a, b) => {
    const [ax, ay] = at(a);
    const [bx, by] = at(b);
    return signX * (bx - ax) || signY * (by - ay);
  });
  const front = [];
  let best = -Infinity;
  for (const row of order) {
    const height = signY * at(row)[1];
    if (height > best) {
      best = height;
      front.push(row);
    }
  }
  return signX > 0 ? front.reverse() : front;
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

// view: x, y {name, log, sign (0: no better side), label}, series [{name, rows, index}],
// infeasible [row], at(row), tip(row), selected (row or null), intervals(row) [of x, of y], width.
function paretoOption(theme, view) {
  const { at } = view;
  const all = view.series.flatMap((s) => s.rows).concat(view.infeasible);
  const point = (row) => [...at(row), row];
  const judged = view.x.sign !== 0 && view.y.sign !== 0;
  const globalFront = judged
    ? frontOf(view.series.flatMap((s) => s.rows), at, view.x.sign, view.y.sign) : [];
  const onGlobal = new Set(globalFront);
  const lines = [];
  if (view.infeasible.length > 0) {
    lines.push({
      type: 'scatter', name: 'infeasible', data: view.infeasible.map(point), z: 1,
      large: view.infeasible.length > kLargeSeries,
      symbol: `path://${kShapes[5].path}`, symbolRotate: 45, symbolSize: 6,
      itemStyle: { color: theme.muted, opacity: 0.45 },
    });
  }
  for (const { name, rows, index } of view.series) {
    const front = judged ? frontOf(rows, at, view.x.sign, view.y.sign) : [];
    const onFront = new Set(front);
    const rest = rows.filter((row) => !onFront.has(row));
    const large = rest.length > kLargeSeries;
    const dense = rest.length > kDenseSeries;
    const packed = front.length > kPackedFront;
    const shape = shapeOf(index);
    lines.push({
      type: 'scatter', name, data: rest.map(point), z: 2, large, largeThreshold: kLargeSeries,
      symbol: large && shape.startsWith('path') ? 'circle' : shape,
      symbolSize: judged ? (dense ? 3 : 5.5) : 8,
      itemStyle: { color: theme.series(index), opacity: judged ? (dense ? 0.18 : 0.4) : 0.8 },
    });
    lines.push({
      type: 'line', name, z: 4, symbol: shape, showAllSymbol: true,
      lineStyle: { color: theme.series(index), width: 1.5 },
      itemStyle: { color: theme.series(index), borderColor: theme.background,
        borderWidth: packed ? 0 : 1 },
      symbolSize: (value) => (onGlobal.has(value[2]) ? 12 : 8.5) * (packed ? 0.55 : 1),
      data: front.map(point), emphasis: { scale: 1.3 },
    });
  }
  if (globalFront.length > 1) {
    lines.push({
      type: 'line', name: 'front of all', data: globalFront.map(point), silent: true,
          symbol: 'none',
      z: 3, lineStyle: { color: theme.envelope, width: 7, opacity: 0.38, cap: 'round',
          join: 'round' },
      tooltip: { show: false },
    });
  }
  if (view.selected !== null) {
    const [x, y] = at(view.selected);
    const [acrossX, acrossY] = view.intervals(view.selected);
    [acrossX && acrossX.map((end) => [end, y]), acrossY && acrossY.map((end) => [x, end])]
      .filter(Boolean).forEach((data) => lines.push({
        type: 'line', name: '90 % interval', data, silent: true, z: 5, symbol: 'none',
        lineStyle: { color: theme.text, width: 1.5, type: [4, 3] }, tooltip: { show: false },
      }));
    lines.push({
      type: 'scatter', name: 'selected', data: [point(view.selected)], silent: true, z: 6,
      symbol: 'circle', symbolSize: 20,
      itemStyle: { color: 'transparent', borderColor: theme.text, borderWidth: 2 },
    });
  }
  const axis = (side, dimension, vertical) => {
    const [low, high] = paddedExtent(all.map((row) => at(row)[dimension]), side.log);
    const room = vertical ? 9 : Math.max(3, Math.floor(view.width / 75));
    return axisOption(theme, { ...side, low, high, vertical, room });
  };
  const option = baseOption(theme);
  option.tooltip.formatter = (item) => (item.value ? view.tip(item.value[2]) : '');
  return Object.assign(option, {
    grid: { left: 62, right: 22, top: 34, bottom: 48 },
    xAxis: axis(view.x, 0, false), yAxis: axis(view.y, 1, true), series: lines,
  });
}

// The ceilings to draw: formats the operators used (all when none is named), equal peaks merged.
function ceilingsOf(point, operators) {
  const used = new Set(operators.map((op) => op.format));
  const peaks = point.peaks || [];
  const chosen = peaks.some((p) => used.has(p.format)) ? peaks.filter((p) => used.has(p.format))
      : peaks;
  const merged = new Map();
  for (const { format: name, flop_per_s: peak } of chosen) {
    merged.set(peak, merged.has(peak) ? `${merged.get(peak)}, ${name}` : name);
  }
  return [...merged].map(([peak, name]) => ({ peak, name })).sort((a, b) => b.peak - a.peak);
}

// view: point, operators [{op, phase, phaseIndex, share, colour}] (each with intensity and rate),
// text(value, unit), tip(entry), width.
function rooflineOption(theme, view) {
  const { point, operators, text } = view;
  const bandwidth = point.hbm_bandwidth_bytes_per_s;
  const ceilings = ceilingsOf(point, operators.map((entry) => entry.op));
  const ridges = ceilings.map(({ peak }) => peak / bandwidth);
  // An operator of a few microseconds far down the slope must not squeeze the rest into a corner.
  const framing = operators.filter(({ share }) => share >= kFramingShare);
  const xs = framing.map(({ op }) => op.intensity).concat(ridges);
  const ys = framing.map(({ op }) => op.achieved_flop_per_s).concat(ceilings.map((c) => c.peak));
  const left = Math.min(...xs) / 2.5;
  const right = Math.max(...xs) * 4;
  const bottom = Math.min(...ys, left * bandwidth) / 1.5;
  const top = Math.max(...ys) * 5;
  // Names go right of their mark, and where the right edge is near, above or below it.
  const split = left * (right / left) ** 0.7;
  const maxRidge = Math.max(...ridges);
  const namePosition = (op) => (op.intensity <= split ? 'right'
    : op.achieved_flop_per_s > 0.5 * ceilings[0].peak ? 'top' : 'bottom');
  // The bandwidth is written where the slope is emptiest.
  const distance = (x) => Math.min(3, ...operators.filter(({ share }) => share >= 0.02)
    .map(({ op }) => Math.abs(Math.log10(op.intensity / x))));
  const middle = [0.5, 0.65, 0.35, 0.8].map((part) => left * (maxRidge / left) ** part)
    .reduce((best, x) => (distance(x) > distance(best) ? x : best));
  const roof = (data, width) => ({
    type: 'line', data, symbol: 'none', silent: true, z: 2, tooltip: { show: false },
    lineStyle: { color: theme.muted, width },
  });
  const label = (value, content) => ({
    value, label: { show: true, formatter: content, position: [-8, -7], align: 'right',
      color: theme.text, fontSize: 12, textBorderColor: theme.background, textBorderWidth: 3 },
  });
  const series = [roof([[left, left * bandwidth], [maxRidge, maxRidge * bandwidth]], 1.8)];
  ceilings.forEach(({ peak }) => series.push(roof([[peak / bandwidth, peak], [right, peak]], 1.8)));
  series.push({
    type: 'scatter', symbolSize: 1, silent: true, z: 5, itemStyle: { color: 'transparent' },
    data: [
      // Text ends left of the slope, above the roof: no operator can be there.
      label([middle, middle * bandwidth], `DRAM ${text(bandwidth, 'B/s')}`),
      ...ceilings.map(({ peak, name }) => label([peak / bandwidth, peak],
        `${name} ${text(peak, 'FLOP/s')}`)),
    ],
  });
  const ordered = operators.slice().sort((a, b) => b.share - a.share);
  const mark = ({ op, share, phaseIndex }) => ({
    value: [op.intensity, op.achieved_flop_per_s],
    symbol: ['circle', 'diamond', 'rect', 'triangle'][phaseIndex % 4],
    symbolSize: Math.max(7, 46 * Math.sqrt(share)) * (phaseIndex % 4 === 1 ? 1.15 : 1),
  });
  series.push({
    type: 'scatter', z: 3,
    data: ordered.map((entry) => ({ ...mark(entry), entry, itemStyle: { opacity: 0.72,
      color: theme.series(entry.colour), borderColor: theme.text, borderWidth: 0.8 } })),
  });
  series.push({  // the names lie over all marks
    type: 'scatter', z: 4, silent: true, labelLayout: { hideOverlap: true },
    itemStyle: { color: 'transparent' },
    data: ordered.filter(({ share }) => share >= kNamedShare).map((entry) => ({ ...mark(entry),
      label: { show: true, formatter: entry.op.name, distance: 4, fontSize: 11.5, color: theme.text,
      position: namePosition(entry.op),
      textBorderColor: theme.background, textBorderWidth: 2 } })),
  });
  const option = baseOption(theme);
  option.tooltip.formatter = (item) => (item.data && item.data.entry ? view.tip(item.data.entry)
      : '');
  return Object.assign(option, {
    grid: { left: 70, right: 22, top: 34, bottom: 48 },
    xAxis: axisOption(theme, { name: 'Arithmetic intensity (FLOP per DRAM byte)', low: left,
        high: right,
      log: true, room: Math.max(3, Math.floor(view.width / 60)),
          label: (v) => String(Number(v.toPrecision(3))) }),
    yAxis: axisOption(theme, { name: 'Achieved rate (FLOP/s)', low: bottom, high: top, log: true,
        room: 9,
      vertical: true, label: (v) => text(v, 'FLOP/s').replace(/FLOP\/s$/, '').trim() }),
    series,
  });
}

// ---- Operators of one stored configuration ------------------------------------------------

const barStyle = (share, colour) =>
  `width:${(100 * share).toFixed(3)}%;background:var(--c${colour})`;
const operatorTime = (phase) => phase.operators.reduce((sum, op) => sum + op.time_s, 0);

function allCategories() {
  const seen = new Set(model.points.flatMap((p) => p.phases.flatMap((f) => f.operators
      .map((o) => o.category))));
  return [...kCategories.filter((name) => seen.has(name)), ...[...seen]
      .filter((n) => !kCategories.includes(n))];
}

function drawRoofline() {
  const point = model.points[state.point];
  const categories = allCategories();
  const colours = categoryColours(categories);
  const phases = point.phases.map((phase) => phase.name);
  fillLegend('roofline-legend', [
    ...phases.map((name, index) => ({ key: `phase ${name}`, html: symbolSvg([0, 3, 1,
        2][index % 4], 6) + escapeHtml(name) })),
    { key: null },
    ...categories.map((name) => ({ key: name, html: symbolSvg(1, colours.get(name))
        + escapeHtml(name) })),
  ], state.hiddenOps, drawRoofline);
  const entries = point.phases.flatMap((phase, phaseIndex) => {
    const total = operatorTime(phase);
    return phase.operators.map((op) => ({ op, phase, phaseIndex, share: total > 0
        ? op.time_s / total : 0,
      colour: colours.get(op.category) }));
  });
  const plotted = (entry) => entry.op.intensity > 0 && entry.op.achieved_flop_per_s > 0;
  const tiny = entries.filter((entry) => plotted(entry) && entry.share < kFramingShare).length;
  const missing = point.phases.map((phase) => {
    const left = entries.filter((entry) => entry.phase === phase && !plotted(entry));
    const names = left.map((entry) => entry.op.name);
    const share = left.reduce((sum, entry) => sum + entry.share, 0);
    return left.length === 0 ? ''
        : `${phase.name}: ${names.join(', ')} (${percent(share)} of the operator time)`;
  }).filter(Boolean);
  const operators = entries.filter((entry) => plotted(entry)
      && !state.hiddenOps.has(entry.op.category)
    && !state.hiddenOps.has(`phase ${entry.phase.name}`));
  const bandwidth = point.hbm_bandwidth_bytes_per_s;
  const ceilings = ceilingsOf(point, entries.map((entry) => entry.op));
  byId('roofline-caption').textContent = `${point.chip}. `
    + 'The area of a mark is its share of its step. '
    + (missing.length ? `Without FLOP or DRAM bytes, so not drawn: ${missing.join('; ')}. ` : '')
    + (tiny ? `${tiny} operators below ${percent(kFramingShare)} of their step may lie outside `
      + 'the frame.' : '');
  byId('roofline-chart').hidden = !(bandwidth > 0 && ceilings.length);
  if (byId('roofline-chart').hidden) {
    byId('roofline-caption').textContent = 'No peak rate or bandwidth is stored for this chip.';
    return;
  }
  const peakOf = (op) => ((point.peaks.find((p) => p.format === op.format)
      || ceilings[0]).flop_per_s
    || ceilings[0].peak);
  const tip = ({ op, phase, share }) => {
    const roof = Math.min(peakOf(op), op.intensity * bandwidth);
    return tipHtml(`${op.name}${op.count > 1 ? ` × ${op.count}` : ''}`, [
      ['Step', phase.name], ['Category', op.category], ['Format', op.format || '–'],
      ['Time', `${format(op.time_s, 's')}, ${percent(share)} of operator time`], ['Bound by',
          op.bound],
      ['Intensity', `${format(op.intensity, '')} FLOP/B`], ['Achieved',
          format(op.achieved_flop_per_s, 'FLOP/s')],
      ['Roof here', `${format(roof, 'FLOP/s')}, ${percent(op.achieved_flop_per_s / roof)} reached`],
      ['Work', `${format(op.flop, 'FLOP')}, ${format(op.bytes, 'B')} DRAM`],
      ...(op.message_bytes ? [['Messages', format(op.message_bytes, 'B')]] : []),
    ]);
  };
  const chart = chartOf('roofline', true);
  chart.setOption(rooflineOption(pageTheme(), { point, operators, text: (value,
      unit) => format(value, unit, 3),
    tip, width: chart.getWidth() }), { notMerge: true });
}

// One stacked bar for each stored configuration and phase; colours follow the category.
function drawBars() {
  const categories = allCategories();
  const colours = categoryColours(categories);
  const asShare = byId('bars-share').checked;
  byId('bars-legend').innerHTML = categories.map((name) =>
    `<span class="key">${symbolSvg(1, colours.get(name))}${escapeHtml(name)}</span>`).join('');
  const phases = [...new Set(model.points.flatMap((p) => p.phases.map((phase) => phase.name)))];
  byId('bars').innerHTML = phases.map((name) => {
    const bars = model.points.map((point, index) => ({ point, index, phase: point.phases
        .find((f) => f.name === name) }))
      .filter(({ phase }) => phase);
    const longest = Math.max(...bars.map(({ phase }) => operatorTime(phase)));
    const rows = bars.map(({ point, index, phase }) => {
      const total = operatorTime(phase);
      const ordered = phase.operators.slice().sort((a, b) =>
        categories.indexOf(a.category) - categories.indexOf(b.category) || b.time_s - a.time_s);
      const segments = ordered.map((op) => {
        const width = op.time_s / (asShare ? total : longest);
        const text = `${op.name}: ${format(op.time_s, 's')}, ${percent(op.time_s / total)}, `
          + `bound by ${op.bound}`;
        return `<i style="${barStyle(width, colours.get(op.category))}" `
          + `title="${escapeHtml(text)}">${width > 0.11 ? escapeHtml(op.name) : ''}</i>`;
      }).join('');
      return `<button type="button" class="bar-row" data-point="${index}" `
        + `aria-pressed="${index === state.point}">`
        + `<span class="bar-label"><span>${escapeHtml(point.label)}</span>`
        + `<span>${escapeHtml(format(phase.time_s, 's'))}</span></span>`
        + `<span class="stack">${segments}</span></button>`;
    }).join('');
    return `<div class="bar-group"><h4>${escapeHtml(name)}</h4>${rows}</div>`;
  }).join('');
}

// The operators of each phase, longest first, with what bounds them.
function drawPhaseTables() {
  const point = model.points[state.point];
  const colours = categoryColours(allCategories());
  byId('phase-tables').innerHTML = point.phases.map((phase) => {
    const total = operatorTime(phase);
    const sorted = phase.operators.slice().sort((a, b) => b.time_s - a.time_s);
    const longest = sorted.length ? sorted[0].time_s : 1;
    const byBound = new Map();
    sorted.forEach((op) => byBound.set(op.bound, (byBound.get(op.bound) || 0) + op.time_s));
    const bounds = [...byBound].filter(([, time]) => time >= 0.0005 * total)
      .sort((a, b) => b[1] - a[1]).map(([name, time]) => `${name} ${percent(time / total)}`);
    const difference = phase.time_s - total;
    const rest = Math.abs(difference) < 0.005 * total ? ''
      : difference < 0
        ? ` Operators add up to ${format(total, 's')}; ${format(-difference, 's')} is hidden by `
          + 'overlap.'
        : ` Operators add up to ${format(total, 's')}; ${format(difference, 's')} is outside them.`;
    const rows = sorted
        .map((op) => `<tr><td>${escapeHtml(op.name)}</td>`
      + `<td class="number">${op.count > 1 ? `× ${escapeHtml(op.count)}` : ''}</td>`
      + `<td class="bar"><i style="${barStyle(op.time_s / longest, colours.get(op.category))}">`
      + '</i></td>'
      + `<td class="number">${escapeHtml(format(op.time_s, 's'))}</td>`
      + `<td class="number">${percent(op.time_s / total)}</td>`
      + `<td><span class="bound">${escapeHtml(op.bound)}</span></td>`
      + `<td>${escapeHtml(op.format)}</td></tr>`).join('');
    return `<div><h3>${escapeHtml(phase.name)}, ${escapeHtml(format(phase.time_s, 's'))}</h3>`
      + `<p class="hint">Bound by: ${escapeHtml(bounds.join(', '))}.${escapeHtml(rest)}</p>`
      + '<div class="scroll-x"><table class="operators"><thead><tr><th>Operator</th>'
      + '<th class="number">Count</th><th></th>'
      + '<th class="number">Time</th><th class="number">Share</th>'
      + '<th>Bound by</th><th>Format</th></tr></thead>'
      + `<tbody>${rows}</tbody></table></div></div>`;
  }).join('');
}
