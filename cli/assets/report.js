// SPDX-License-Identifier: Apache-2.0
//
// The page of a roofcast report: reads one JSON document, fills the header, the trade-off chart,
// the operator views, the table and the scenario. What it shares with other
// pages is in report_page.js, the drawings are in report_charts.js, the table in report_table.js; all are
// loaded before this file and use its names when they are called.
//
// Data contract (<script type="application/json" id="data">, every `<` in it written \u003c):
//   title, generated_by, question, scenario   text; question and scenario may be empty
//   columns  [{name, label, unit, description, kind: axis|metric|bound|status,
//              better: higher|lower|null, bounds}]    a bound is an end of the 90 % interval of the
//              metric that `bounds` names
//   rows     [[value, …]] in column order: SI base units, text, true/false, or null for none
//   total_rows, feasible_rows, shown_rows     shown_rows is rows.length; total_rows may be larger
//   pareto   {maximize: [name], minimize: [name]}; the first two are the chart's axes
//   series_column  name of the column that gives a row its colour
//   points   [{row, label, chip, hbm_bandwidth_bytes_per_s, peaks: [{format, flop_per_s}],
//              phases: [{name, time_s, operators: [{name, category, count, time_s, flop, bytes,
//              message_bytes, intensity, achieved_flop_per_s, bound, format}]}]}]
//            `row` indexes rows; an operator's time, flop and bytes are totals over its `count`
//   notes    [text]
// Columns with a meaning here, each optional: fits, reason, pareto_rank (1 = on the front),
// bound_tpot, bound_ttft. A row is infeasible when fits is false or reason is not empty.
'use strict';

// ---- The document -------------------------------------------------------------------------

// Columns gain: index, numeric, integers, scale, constant, values (distinct, when few) and
// sign (+1: higher is better, -1: lower is, 0: neither).
function readModel() {
  const data = JSON.parse(byId('data').textContent);
  const { columns, rows } = data;
  const pareto = { maximize: [], minimize: [], ...data.pareto };
  columns.forEach((column, index) => {
    const values = rows.map((row) => row[index]).filter((value) => !isEmpty(value));
    column.numeric = values.length > 0 && values.every((value) => typeof value === 'number'
      || (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))));
    if (column.numeric) {
      rows.forEach((row) => { row[index] = isEmpty(row[index]) ? null : Number(row[index]); });
    }
    const sizes = column.numeric ? values.map((v) => Math.abs(Number(v))).sort((a, b) => a - b)
        : [];
    const wanted = pareto.maximize.includes(column.name) ? 'higher'
      : pareto.minimize.includes(column.name) ? 'lower' : column.better;
    const distinct = new Set(values);
    const scale = scaleOf(column.unit || '', sizes.length ? sizes[sizes.length >> 1] : 0);
    Object.assign(column, {
      index, unit: column.unit || '', label: column.label || column.name, scale,
      integers: scale.factor === 1 && sizes.every((size) => Number.isInteger(size) && size < 1e9),
      constant: distinct.size <= 1 && rows.length > 1,
      values: distinct.size <= 60 ? [...distinct].map((v) => (column.numeric ? Number(v) : v))
          : null,
      sign: wanted === 'higher' ? 1 : wanted === 'lower' ? -1 : 0,
    });
  });
  const named = new Map(columns.map((column) => [column.name, column]));
  columns.filter((c) => c.kind === 'bound' && named.has(c.bounds)).forEach((c) => {
    named.get(c.bounds)[c.name.startsWith('low') ? 'low' : 'high'] = c;
  });
  const cell = (row, name) => (named.has(name) ? rows[row][named.get(name).index] : null);
  const infeasible = rows.map((_, row) => {
    const meets = cell(row, named.has('meets') ? 'meets' : 'fits');
    return meets === false || String(meets).toLowerCase() === 'false'
        || (!named.has('meets') && !isEmpty(cell(row, 'reason')));
  });
  const front = rows.map((_, row) => !infeasible[row] && cell(row, 'pareto_rank') === 1);
  const points = data.points || [];
  return {
    ...data, pareto, named, cell, infeasible, front, points,
    objectives: [...pareto.maximize, ...pareto.minimize].filter((name) => named.has(name)),
    pointOfRow: new Map(points.map((point, index) => [point.row, index])),
  };
}

// The ends of a metric's 90 % interval in a row; null where it has none.
function intervalOf(row, column) {
  const ends = [column.low, column.high].map((c) => (c ? model.rows[row][c.index] : null));
  return ends.some(isEmpty) ? null : ends;
}

// "15.2 ms to 22.1 ms", or nothing
function formatInterval(row, column) {
  const ends = intervalOf(row, column);
  return ends ? ends.map((value) => formatFor(value, column)).join(' to ') : '';
}

function rowName(model, row) {
  const parts = model.columns.filter((c) => c.kind === 'axis' && !c.constant)
    .map((c) => [c.label, formatFor(model.rows[row][c.index], c)]);
  return parts.map(([label, text]) => (/^[\d.,–]/.test(text) ? `${label} ${text}`
      : text)).join(' · ')
    || `row ${row + 1}`;
}

// ---- Page ---------------------------------------------------------------------------------

const model = readModel();
const state = {
  x: null, y: null, series: null, hidden: new Set(), selected: null, point: 0,
  hiddenOps: new Set(), printing: false,
  sort: null, descending: false, order: [], drawn: [], shownColumns: [], texts: null,
};
const charts = { pareto: null, roofline: null };
const kRowHeight = 24;
const kPrintRows = 150;
const kTipMetrics = 12;

function option(value, text, selected) {
  return `<option value="${escapeHtml(value)}"${selected ? ' selected' : ''}>`
    + `${escapeHtml(text)}</option>`;
}

function fillHeader() {
  const front = model.front.filter(Boolean).length;
  const unranked = model.rows.filter((_, row) => model.named.has('pareto_rank')
      && !model.infeasible[row] && isEmpty(model.cell(row, 'pareto_rank'))).length;
  document.title = model.title || 'roofcast report';
  byId('title').textContent = model.title || 'roofcast report';
  byId('question').textContent = model.question || '';
  byId('question').hidden = !model.question;
  const count = (n, what) => `<li><b>${kPlain.format(n)}</b>${what}</li>`;
  byId('counts').innerHTML = count(model.total_rows, 'configurations')
    + count(model.feasible_rows, 'feasible') + (model.named.has('pareto_rank')
      ? count(front, 'on the front') : '')
    + (unranked > 0 ? count(unranked, 'left out of the front: a value is not known') : '')
    + (model.rows.length < model.total_rows ? count(model.rows.length, 'kept in this file') : '');
  const fixed = model.columns.filter((c) => c.constant && c.kind !== 'status' && c.values
      && c.values.length);
  byId('constants').innerHTML = fixed.length === 0 ? '' : 'The same in every row: '
      + fixed.map((c) =>
    `${escapeHtml(c.label)} <b>${escapeHtml(formatFor(c.values[0], c))}</b>`).join(', ') + '.';
  byId('notes').innerHTML = (model.notes || []).map((note) => `<p>${escapeHtml(note)}</p>`)
      .join('');
  byId('notes').hidden = !(model.notes || []).length;
  byId('scenario').textContent = model.scenario || '';
  byId('scenario-section').hidden = !model.scenario;
  byId('footer').textContent = `Made by ${model.generated_by || 'roofcast'}. One file, nothing `
    + 'loaded from a network. Charts: Apache ECharts.';
}

// Buttons that switch entries on and off; `entries` are {key, html}.
function fillLegend(id, entries, hidden, redraw) {
  byId(id).innerHTML = entries.map(({ key, html }) => (key === null ? '<span class="gap"></span>'
    : `<button type="button" aria-pressed="${!hidden.has(key)}" data-key="${escapeHtml(key)}">`
      + `${html}</button>`)).join('');
  byId(id).onclick = (event) => {
    const button = event.target.closest('button');
    if (!button) { return; }
    const { key } = button.dataset;
    if (!hidden.delete(key)) { hidden.add(key); }
    redraw();
    [...byId(id).querySelectorAll('button')].find((b) => b.dataset.key === key).focus();
  };
}

// ---- Trade-off ----------------------------------------------------------------------------

function setUpPareto() {
  const choices = model.columns.filter((c) => c.numeric && !c.constant
    && (c.kind === 'axis' || c.kind === 'metric'));
  const metrics = choices.filter((c) => c.kind === 'metric');
  if (metrics.length === 0 || choices.length < 2) {
    byId('pareto-section').querySelector('.toolbar').hidden = true;
    byId('pareto-chart').hidden = true;
    byId('pareto-caption').textContent = 'No two quantities vary here.';
    return;
  }
  const named = model.objectives.map((name) => model.named.get(name))
      .filter((c) => choices.includes(c));
  state.y = named[0] || metrics[0];
  state.x = named[1] || metrics.find((c) => c !== state.y) || choices.find((c) => c !== state.y);
  const fill = (id, chosen) => {
    const group = (label, list) => (list.length ? `<optgroup label="${label}">${list.map((c) =>
      option(c.index, c.label, c === chosen)).join('')}</optgroup>` : '');
    byId(id).innerHTML = group('Metrics', metrics) + group('Sweep axes', choices
        .filter((c) => c.kind === 'axis'));
  };
  fill('pareto-x', state.x);
  fill('pareto-y', state.y);
  const seriesColumns = model.columns.filter((c) => c.values && (c.name === model.series_column
    || (c.kind === 'axis' && !c.constant) || /^bound_/.test(c.name)));
  state.series = model.named.get(model.series_column) || seriesColumns[0] || null;
  byId('pareto-series').innerHTML = seriesColumns.map((c) =>
    option(c.index, c.label, c === state.series)).join('');
  const suggestLog = (side) => {
    const sizes = model.rows.map((row) => row[state[side].index]).filter((v) => v !== null);
    const low = sizes.reduce((a, b) => Math.min(a, b), Infinity);
    const high = sizes.reduce((a, b) => Math.max(a, b), -Infinity);
    byId(`pareto-${side}-log`).checked = low > 0 && high / low > 200;
  };
  for (const side of ['x', 'y']) {
    suggestLog(side);
    byId(`pareto-${side}`).onchange = (event) => {
      state[side] = model.columns[Number(event.target.value)];
      suggestLog(side);
      drawPareto();
    };
    byId(`pareto-${side}-log`).onchange = drawPareto;
  }
  byId('pareto-series').onchange = (event) => {
    state.series = model.columns[Number(event.target.value)];
    state.hidden.clear();
    drawPareto();
  };
  byId('pareto-infeasible').onchange = drawPareto;
  const chart = chartOf('pareto', model.rows.length <= 3000);
  chart.on('click', (item) => {
    if (item.value && item.value.length === 3) { select(item.value[2]); }
  });
}

function paretoTip(row) {
  const status = model.columns.filter((c) => c.kind === 'status' && c.name !== 'fits');
  const metrics = model.columns.filter((c) => c.kind === 'metric' && !c.constant);
  const objectives = model.objectives.map((name) => model.named.get(name));
  const shown = new Set([state.y, state.x, ...objectives, ...metrics]);
  return tipHtml(rowName(model, row), [...[...shown].slice(0, kTipMetrics), ...status]
    .filter((c) => !isEmpty(model.rows[row][c.index]))
    .map((c) => [c.label, [formatFor(model.rows[row][c.index], c), formatInterval(row, c)]
      .filter(Boolean).join(', ')]));
}

function axisName(column, vertical) {
  const { scale, sign, label } = column;
  const unit = `${scale.lead}${scale.unit}`;
  const arrow = sign === 0 ? ''
      : `, better ${vertical ? (sign > 0 ? '↑' : '↓') : (sign > 0 ? '→' : '←')}`;
  return `${label}${unit ? ` (${unit})` : ''}${arrow}`;
}

function drawPareto() {
  if (!state.x) { return; }
  const log = { x: byId('pareto-x-log').checked, y: byId('pareto-y-log').checked };
  const filtered = byId('filter-chart').checked ? state.order : model.rows.map((_, row) => row);
  const at = (row) => [model.rows[row][state.x.index], model.rows[row][state.y.index]];
  const drawable = (row) => at(row).every((v, i) => v !== null && (v > 0 || !log[i ? 'y' : 'x']));
  const usable = filtered.filter(drawable);
  const groupOf = (row) => (state.series ? String(model.rows[row][state.series.index] ?? 'none')
      : 'all');
  const names = [...new Set(model.rows.map((_, row) => groupOf(row)))];
  const collator = new Intl.Collator('en', { numeric: true });
  if (state.series && state.series.numeric) { names.sort(collator.compare); }
  const groups = new Map(names.map((name) => [name, []]));
  usable.forEach((row) => { if (!model.infeasible[row]) { groups.get(groupOf(row)).push(row); } });
  const used = names.filter((name) => !model.rows.every((_, row) => groupOf(row) !== name
    || model.infeasible[row]));
  fillLegend('pareto-legend', used.map((name) => ({ key: name,
    html: symbolSvg(names.indexOf(name), names.indexOf(name))
        + escapeHtml(name) })), state.hidden, drawPareto);
  const chart = chartOf('pareto');
  const side = (column, isLog, vertical) => ({ name: axisName(column, vertical), log: isLog,
      sign: column.sign,
    label: (value) => plainNumber(Number((value / column.scale.factor).toPrecision(6)), 3) });
  const series = used.filter((name) => !state.hidden.has(name))
    .map((name) => ({ name, rows: groups.get(name), index: names.indexOf(name) }));
  const drawn = series.reduce((sum, s) => sum + s.rows.length, 0);
  const infeasible = byId('pareto-infeasible').checked ? usable
      .filter((row) => model.infeasible[row]) : [];
  state.drawn = [...series.flatMap((s) => s.rows), ...infeasible].sort((a, b) => a - b);
  const nothing = drawn + infeasible.length === 0;
  const wasHidden = byId('pareto-chart').hidden;
  byId('pareto-chart').hidden = nothing;
  if (!nothing) {
    if (wasHidden) { chart.resize(); }
    chart.setOption(paretoOption(pageTheme(), {
      x: side(state.x, log.x, false), y: side(state.y, log.y, true), series, infeasible, at,
      tip: paretoTip, width: chart.getWidth(),
      selected: state.selected !== null && drawable(state.selected) ? state.selected : null,
      intervals: (row) => [state.x, state.y].map((column) => intervalOf(row, column)),
    }), { notMerge: true });
  }
  const all = model.rows.length;
  const objectives = model.objectives.map((name) => model.named.get(name).label).join(', ');
  byId('pareto-caption').textContent = `${kPlain.format(drawn)} feasible configurations`
    + (filtered.length < all ? `, filtered from ${kPlain.format(all)}` : '') + '. '
    + (nothing ? 'Nothing to draw on these axes.' : state.x.sign && state.y.sign
      ? 'Thin lines: the front of each series on these two axes. Wide pale line and '
      + 'largest marks: the front of all that is drawn. '
        : 'One axis has no better side, so no front is drawn. ')
    + (model.objectives.length > 2 ? `Pareto rank in the table counts ${objectives}.` : '');
}

// ---- Selection and operator views ---------------------------------------------------------

function select(row) {
  state.selected = row;
  const point = model.pointOfRow.get(row);
  if (point !== undefined && point !== state.point) {
    state.point = point;
    drawOperators();
  }
  fillSelection();
  drawPareto();
  drawRows();
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

// ---- Theme, print, scenario ---------------------------------------------------------------

function redrawCharts() {
  drawPareto();
  if (model.points.length > 0) { drawRoofline(); }
}

setUpPage(redrawCharts);
addEventListener('resize', () => drawRows());
fillHeader();
setUpTable();
setUpPareto();
setUpOperators();
refreshOrder();
drawTable();
fillSelection();
drawPareto();
drawOperators();
setUpDownloads();
