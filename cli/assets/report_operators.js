// SPDX-License-Identifier: Apache-2.0
//
// The operators of the stored configurations: roofline, stacked bars, tables. report.js owns the model and
// the state.
'use strict';

const kCategories = ['gemm', 'attention', 'moe', 'collective', 'elementwise', 'ssm'];
const kFramingShare = 0.002;  // operators below this share of their step do not widen the roofline
const kNamedShare = 0.09;  // operators from this share of their step on have their name beside them

// Known categories keep their colour from report to report; the others take what is left.
function categoryColours(categories) {
  const known = new Map(kCategories.map((name, index) => [name, index]));
  const free = [6, 5, 2, 3, 4];
  let next = 0;
  return new Map(categories.map((name) => [
    name, known.has(name) ? known.get(name) : free[next++ % free.length],
  ]));
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
  const middle = (view.width < 500 ? [0.8, 0.9] : [0.5, 0.65, 0.35, 0.8]).map((part) => left * (maxRidge / left) ** part)
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
  `width:${(100 * share).toFixed(3)}%;background:var(--c${colour});color:var(--on-c${colour},var(--on-fill))`;
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
      ['Time', `${format(op.time_s, 's')}, ${percent(share)} of operator time`], ['Limited by',
          `${op.limited_by}, ${percent(op.limited_share)}`],
      ['Intensity', `${format(op.intensity, '')} FLOP/B`], ['Achieved',
          format(op.achieved_flop_per_s, 'FLOP/s')],
      ['Roof here', `${format(roof, 'FLOP/s')}, ${percent(op.achieved_flop_per_s / roof)} reached`],
      ['Work', `${format(op.flop, 'FLOP')}, ${format(op.bytes, 'B')} DRAM`],
      ...(op.message_bytes ? [['Messages', format(op.message_bytes, 'B')]] : []),
    ]);
  };
  const chart = chartOf('roofline', true);
  showOption(chart, rooflineOption(pageTheme(), { point, operators, text: (value,
      unit) => format(value, unit, 3),
    tip, width: chart.getWidth() }));
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
          + `limited by ${op.limited_by}`;
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

// The operators of each phase, longest first, with what limits them.
function drawPhaseTables() {
  const point = model.points[state.point];
  const colours = categoryColours(allCategories());
  byId('phase-tables').innerHTML = point.phases.map((phase) => {
    const total = operatorTime(phase);
    const sorted = phase.operators.slice().sort((a, b) => b.time_s - a.time_s);
    const longest = sorted.length ? sorted[0].time_s : 1;
    const causes = Object.entries(phase.shares || {}).filter(([, share]) => share >= 0.0005)
      .map(([name, share]) => `${name} ${percent(share)}`);
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
      + `<td><span class="bound">${escapeHtml(`${op.limited_by} ${percent(op.limited_share)}`)}</span></td>`
      + `<td>${escapeHtml(op.format)}</td></tr>`).join('');
    return `<div><h3>${escapeHtml(phase.name)}, ${escapeHtml(format(phase.time_s, 's'))}</h3>`
      + `<p class="hint">What the time is for: ${escapeHtml(causes.join(', '))}.${escapeHtml(rest)}</p>`
      + `<div class="scroll-x" tabindex="0" role="region" aria-label="Operators of the ${escapeHtml(phase.name)}">`
      + '<table class="operators"><thead><tr><th>Operator</th>'
      + '<th class="number">Count</th><th></th>'
      + '<th class="number">Time</th><th class="number">Share</th>'
      + '<th>Limited by</th><th>Format</th></tr></thead>'
      + `<tbody>${rows}</tbody></table></div></div>`;
  }).join('');
}

function drawOperators() {
  if (model.points.length === 0) { return; }
  const point = model.points[state.point];
  byId('point-select').value = String(state.point);
  byId('point-line').textContent = point.phases
      .map((phase) => `${phase.name} ${format(phase.time_s, 's')}`).join(', ')
    + ` on ${point.chip}, DRAM ${format(point.hbm_bandwidth_bytes_per_s, 'B/s')}: ${point.label}`;
  drawRoofline();
  drawBars();
  drawTimeline();
  drawPhaseTables();
}

function setUpOperators() {
  byId('operators-section').hidden = model.points.length === 0;
  if (model.points.length === 0) { return; }
  byId('point-select').innerHTML = model.points.map((point, index) => option(index, point.label))
      .join('');
  const choose = (index) => {
    state.point = index;
    drawOperators();
    if (Number.isInteger(model.points[index].row)) { select(model.points[index].row); }
  };
  byId('point-select').onchange = (event) => choose(Number(event.target.value));
  byId('bars-share').onchange = drawBars;
  byId('bars').onclick = (event) => {
    const bar = event.target.closest('.bar-row');
    if (bar) { choose(Number(bar.dataset.point)); }
  };
  if (Number.isInteger(model.points[0].row)) { state.selected = model.points[0].row; }
}
