// SPDX-License-Identifier: Apache-2.0
//
// The page of two results: the best of each group before and after, both fronts in one chart, the rows that moved most.
// What it shares with other pages is in report_page.js, report_charts.js and report_tradeoff.js.
//
// Data contract (<script type="application/json" id="data">, every `<` in it written \u003c):
//   title, generated_by, question   text
//   notes    [text]
//   key      [name]        columns that tell rows apart;  group: one of them, or empty
//   groups   [{name, old, new}]   the best of the first axis; null where there is none
//   axes     [index of metrics]   vertical, horizontal
//   metrics  [{name, label, unit, sign: 1 when higher is better, -1 when lower, compared, losses, gains, drifts, median,
//              worst, best}]      shares of the old value
//   counts   [[number, what happened]];  total_rows
//   rows     [{key: [text], group, change, metric: index or null, moved, old: SIDE, new: SIDE}]
//            SIDE is {counts, values: [number or null]}, or null where the row is in one table only
'use strict';

const model = JSON.parse(byId('data').textContent);
const state = { y: model.axes[0], x: model.axes[1], printing: false };
const charts = {};
const kShown = 40;  // rows of the table

const groupNames = [...new Set(model.rows.map((row) => row.group))];
const movedText = (share) => (isEmpty(share) ? '–' : share === 0 ? '0 %' : `${share < 0 ? '−' : '+'}${(100 * Math.abs(share)).toFixed(1)} %`);
const metricText = (metric, value) => format(value, metric.unit, 4);
const rowName = (row) => row.key.join(', ') || 'the only row';
const valueOf = (side, metric) => (side ? side.values[metric] : null);
const drawable = (side) => side && side.counts && !isEmpty(side.values[state.x]) && !isEmpty(side.values[state.y]);
const placeOf = (side) => [side.values[state.x], side.values[state.y]];

// The rows whose metrics moved, the most first; a share of nothing is not known and comes last.
const ranked = () => model.rows.filter((row) => row.metric !== null && row.moved !== 0)
  .sort((a, b) => Math.abs(b.moved ?? 0) - Math.abs(a.moved ?? 0));

function pairText(row) {
  const metric = model.metrics[row.metric];
  return `${metric.label} ${metricText(metric, valueOf(row.old, row.metric))} → `
    + `${metricText(metric, valueOf(row.new, row.metric))}, ${movedText(row.moved)}`;
}

function answer() {
  const metric = model.metrics[model.axes[0]];
  const by = (side) => (a, b) => metric.sign * ((b[side] ?? -metric.sign * Infinity) - (a[side] ?? -metric.sign * Infinity));
  const shown = model.groups.slice().sort(by('new')).slice(0, 6);
  const best = shown.map((group) => `${group.name} ${metricText(metric, group.old)} → ${metricText(metric, group.new)}`
    + (isEmpty(group.old) || isEmpty(group.new) || group.old === 0 ? '' : ` (${movedText(group.new / group.old - 1)})`));
  const more = model.groups.length - shown.length;
  const most = model.metrics.filter((m) => !isEmpty(m.median))
    .reduce((a, b) => (a && Math.abs(a.median) >= Math.abs(b.median) ? a : b), null);
  const [first] = ranked();
  return [`The best ${metric.label}${model.group ? ` of each ${model.group}` : ''}, before → after: ${best.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`,
    first ? `${most && most.median !== 0 ? `Of the metrics ${most.label} moved most, ${movedText(most.median)} in the median. ` : ''}`
      + `The row that moved most is ${rowName(first)}: ${pairText(first)}.` : 'No metric of a row moved.'];
}

function lines(theme, front, colour, after) {
  return { type: 'line', data: front.map((row) => placeOf(row[after ? 'new' : 'old'])), symbol: 'none', silent: true, z: 3,
    tooltip: { show: false },
    lineStyle: { color: colour, width: after ? 3 : 2, type: after ? 'solid' : [5, 4], opacity: 0.8 } };
}

function points(theme, rows, side, big) {
  return { type: 'scatter', z: big ? 5 : 2, data: rows.map((row) => {
    const group = groupNames.indexOf(row.group);
    const colour = theme.series(group);
    return { value: placeOf(row[side]), row, side, symbol: shapeOf(group), symbolSize: big ? 10 : 5,
      itemStyle: { color: side === 'new' ? colour : theme.background, borderColor: colour, borderWidth: big ? 1.8 : 1,
        opacity: big ? 1 : 0.45 } };
  }) };
}

function drawFronts() {
  const [x, y] = [model.metrics[state.x], model.metrics[state.y]];
  const theme = pageTheme();
  const chart = chartOf('fronts', model.rows.length <= 1500);
  const of = (side) => model.rows.filter((row) => drawable(row[side]));
  const [before, after] = [of('old'), of('new')];
  const frontFor = (rows, side) => frontOf(rows, (row) => placeOf(row[side]), x.sign, y.sign);
  const fronts = [frontFor(before, 'old'), frontFor(after, 'new')];
  const onFront = new Set(fronts.flat());
  const joined = [...onFront].filter((row) => drawable(row.old) && drawable(row.new)
    && String(placeOf(row.old)) !== String(placeOf(row.new)));
  const all = [...before.map((row) => placeOf(row.old)), ...after.map((row) => placeOf(row.new))];
  const nothing = all.length === 0;
  byId('fronts-chart').hidden = nothing;
  byId('fronts-caption').textContent = nothing ? 'Nothing to draw on these axes.'
    : `${kPlain.format(before.length)} rows count before and ${kPlain.format(after.length)} after; of them ${fronts[0].length} and ${
      fronts[1].length} are on the front. Thin lines join the ${joined.length} rows of a front that moved.`
      + (model.rows.length < model.total_rows ? ` This file keeps ${kPlain.format(model.rows.length)} of ${kPlain.format(model.total_rows)} rows: those of the fronts, and those that moved most.` : '');
  if (nothing) { return; }
  const axis = (metric, dimension, vertical) => {
    const values = all.map((place) => place[dimension]);
    const low = Math.min(...values);
    const high = Math.max(...values);
    const log = low > 0 && high / low > 200;
    const scale = scaleOf(metric.unit, high);
    const unit = `${scale.lead}${scale.unit}`;
    const arrow = vertical ? (metric.sign > 0 ? '↑' : '↓') : (metric.sign > 0 ? '→' : '←');
    const [from, to] = paddedExtent(values, log);
    return axisOption(theme, { name: `${metric.label}${unit ? ` (${unit})` : ''}, better ${arrow}`, low: from, high: to, log, vertical,
      room: vertical ? 9 : Math.max(3, Math.floor(chart.getWidth() / 75)),
      label: (value) => plainNumber(Number((value / scale.factor).toPrecision(6)), 3) });
  };
  const option = baseOption(theme);
  option.tooltip.formatter = (item) => (item.data && item.data.row ? tipHtml(rowName(item.data.row),
    [['Shown', item.data.side === 'new' ? 'after' : 'before'], ...[state.y, state.x].map((m) => [model.metrics[m].label,
      `${metricText(model.metrics[m], valueOf(item.data.row.old, m))} → ${metricText(model.metrics[m], valueOf(item.data.row.new, m))}`])]) : '');
  const rest = (rows) => rows.filter((row) => !onFront.has(row));
  const moves = { type: 'line', symbol: 'none', silent: true, z: 4, tooltip: { show: false },
    lineStyle: { color: theme.muted, width: 1 },
    data: joined.flatMap((row) => [placeOf(row.old), placeOf(row.new), ['-', '-']]) };
  showOption(chart, Object.assign(option, {
    grid: { left: 62, right: 22, top: 34, bottom: 48 },
    xAxis: axis(x, 0, false), yAxis: axis(y, 1, true),
    series: [points(theme, rest(before), 'old'), points(theme, rest(after), 'new'),
      lines(theme, fronts[0], theme.envelope, false), lines(theme, fronts[1], theme.text, true), moves,
      points(theme, [...onFront].filter((row) => drawable(row.old)), 'old', true),
      points(theme, [...onFront].filter((row) => drawable(row.new)), 'new', true)],
  }));
}

function frontsTable() {
  const columns = [state.y, state.x].map((m) => model.metrics[m].name);
  return { columns: [...model.key, 'change', ...columns.flatMap((name) => [`old_${name}`, `new_${name}`])],
    rows: model.rows.map((row) => [...row.key, row.change,
      ...[state.y, state.x].flatMap((m) => [valueOf(row.old, m), valueOf(row.new, m)])]) };
}

const tableHtml = (head, rows, numbers) => `<thead><tr>${head.map((text, i) =>
  `<th${numbers.includes(i) ? ' class="number"' : ''}>${escapeHtml(text)}</th>`).join('')}</tr></thead><tbody>`
  + rows.map((row) => `<tr>${row.map((text, i) => `<td${numbers.includes(i) ? ' class="number"' : ''}>${
    escapeHtml(text)}</td>`).join('')}</tr>`).join('') + '</tbody>';

function fillTables() {
  const keys = model.key.length;
  const rows = ranked();
  byId('moved').innerHTML = tableHtml(['What happened', ...model.key, 'Metric', 'Before', 'After', 'Change'],
    rows.slice(0, kShown).map((row) => [row.change, ...row.key, model.metrics[row.metric].label,
      metricText(model.metrics[row.metric], valueOf(row.old, row.metric)),
      metricText(model.metrics[row.metric], valueOf(row.new, row.metric)), movedText(row.moved)]),
    [keys + 2, keys + 3, keys + 4]);
  byId('moved-hint').textContent = `${Math.min(rows.length, kShown)} of ${kPlain.format(rows.length)} rows that moved, each with the `
    + 'metric that moved most, losses before gains.';
  byId('metrics').innerHTML = tableHtml(['Metric', 'Rows', 'Losses', 'Gains', 'Drifts', 'Median', 'Worst', 'Best'],
    model.metrics.filter((metric) => metric.compared > 0).map((metric) => [metric.label, metric.compared, metric.losses,
      metric.gains, metric.drifts, ...[metric.median, metric.worst, metric.best].map(movedText)]), [1, 2, 3, 4, 5, 6, 7]);
}

function fillPage() {
  fillTitle(model);
  byId('answer').innerHTML = answer().map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join('');
  byId('counts').innerHTML = model.counts.map(([count, what]) => `<li><b>${kPlain.format(count)}</b>${escapeHtml(what)}</li>`).join('');
  byId('notes').innerHTML = model.notes.map((note) => `<p>${escapeHtml(note)}</p>`).join('');
  byId('notes').hidden = model.notes.length === 0;
  byId('footer').textContent = `Made by ${model.generated_by}. One file, nothing loaded from a network. Charts: Apache ECharts.`;
  for (const side of ['x', 'y']) {
    byId(`fronts-${side}`).innerHTML = model.metrics.map(({ label }, index) =>
      `<option value="${index}"${index === state[side] ? ' selected' : ''}>${escapeHtml(label)}</option>`).join('');
    byId(`fronts-${side}`).onchange = (event) => {
      state[side] = Number(event.target.value);
      drawFronts();
    };
  }
  byId('fronts-legend').innerHTML = '<span class="key">hollow, dashed: before</span><span class="key">filled, solid: after</span>'
    + groupNames.map((name, i) => `<span class="key">${symbolSvg(i, i)}${escapeHtml(name)}</span>`).join('');
  fillTables();
  drawFronts();
  addDownloads(byId('fronts-chart'), () => charts.fronts, () => fileStem(model.title, 'fronts'), frontsTable);
}

setUpPage(drawFronts);
fillPage();
