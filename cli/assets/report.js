// SPDX-License-Identifier: Apache-2.0
//
// The page of a roofcast report: reads one JSON document, fills the header, the trade-off chart, the parallel
// coordinates, the operator views, the table and the scenario. What it shares with other pages is in
// report_page.js, report_charts.js and download.js; each view has a file of its own, report_*.js. All are loaded
// before this file and use its names when they are called.
//
// Data contract (<script type="application/json" id="data">, every `<` in it written \u003c):
//   title, generated_by, question, scenario   text; question and scenario may be empty
//   answer   [sentence], where the rows answer the question; "[12]" in it is the row whose point is 11
//   best     [text], the best of each group, the best first, cited in the same way
//   changes  [text], what would change the answer
//   columns  [{name, label, unit, description, kind: axis|metric|bound|status,
//              better: higher|lower|null, bounds}]    a bound is an end of the 90 % interval of the
//              metric that `bounds` names
//   rows     [[value, …]] in column order: SI base units, text, true/false, or null for none
//   total_rows, meeting_rows, shown_rows     shown_rows is rows.length; total_rows may be larger
//   pareto   {maximize: [name], minimize: [name]}; the first two are the chart's axes
//   series_column  name of the column that gives a row its colour
//   points   [{row, label, chip, hbm_bandwidth_bytes_per_s, peaks: [{format, flop_per_s}],
//              phases: [{name, time_s, operators: [{name, category, count, time_s, flop, bytes,
//              message_bytes, intensity, achieved_flop_per_s, limited_by, limited_share, format}]}]}]
//            `row` indexes rows; an operator's time, flop and bytes are totals over its `count`
//   curves   [{heading, caption, x: {label, values: [number], doubles: bool}, y: text, unit: "fraction" or empty,
//              lines: [{name, values: [number or null]}]}], optional
//   notes    [text]
// Columns with a meaning here, each optional: fits, meets, reason, pareto_rank (1 = on the front),
// limited_by_tpot, limited_by_ttft. A row does not meet every constraint when meets is false; without that column, when fits is
// false or reason is not empty.
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
  const unmet = rows.map((_, row) => {
    const meets = cell(row, named.has('meets') ? 'meets' : 'fits');
    return meets === false || String(meets).toLowerCase() === 'false'
        || (!named.has('meets') && !isEmpty(cell(row, 'reason')));
  });
  const front = rows.map((_, row) => !unmet[row] && cell(row, 'pareto_rank') === 1);
  const points = data.points || [];
  return {
    ...data, pareto, named, cell, unmet, front, points,
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
  sort: null, descending: false, order: [], drawn: [], dimensions: [], limit: null, parallelRows: [], shownColumns: [], texts: null,
};
const charts = { pareto: null, parallel: null, attainment: null, roofline: null };
const kRowHeight = 24;
const kPrintRows = 150;
const kTipMetrics = 12;
const kNearWindow = 50;  // px

function option(value, text, selected) {
  return `<option value="${escapeHtml(value)}"${selected ? ' selected' : ''}>`
    + `${escapeHtml(text)}</option>`;
}

// "[12]" becomes a button that selects the row.
function fillAnswer() {
  const rowOf = new Map(model.rows.map((_, row) => [Number(model.cell(row, 'point')) + 1, row]));
  const cited = (text) => escapeHtml(text).replace(/\[(\d+)\]/g, (cite, number) => (rowOf.has(Number(number))
    ? `<button type="button" class="cite" data-row="${rowOf.get(Number(number))}" title="Select row ${number}">`
      + `${cite}</button>` : cite));
  const [first, ...others] = (model.answer || []).map(cited);
  const best = (model.best || []).map((text) => `<li>${cited(text)}</li>`).join('');
  const changes = (model.changes || []).map((text) => `<li>${escapeHtml(text)}</li>`).join('');
  const more = changes ? `<details><summary>What would change the answer</summary><ul>${changes}</ul></details>` : '';
  byId('answer').innerHTML = first ? `<div><p>${first}</p><p>${others.join(' ')}</p>${more}</div>${
    best ? `<div><h2>The best of each, and what limits it</h2><ol>${best}</ol></div>` : ''}` : '';
  byId('answer').hidden = !first;
  byId('answer').onclick = ({ target }) => {
    if (target.closest('.cite')) { select(Number(target.closest('.cite').dataset.row)); }
  };
}

function fillHeader() {
  const front = model.front.filter(Boolean).length;
  const unranked = model.rows.filter((_, row) => model.named.has('pareto_rank')
      && !model.unmet[row] && isEmpty(model.cell(row, 'pareto_rank'))).length;
  fillTitle(model);
  fillAnswer();
  const count = (n, what) => `<li><b>${kPlain.format(n)}</b>${what}</li>`;
  byId('counts').innerHTML = count(model.total_rows, 'configurations')
    + count(model.meeting_rows, 'meet every constraint') + (model.named.has('pareto_rank')
      ? count(front, `on ${model.fronts || 'the front'}`) : '')
    + (unranked > 0 ? count(unranked, 'left out of the front: a value is not known') : '')
    + (model.rows.length < model.total_rows ? count(model.rows.length, 'kept in this file') : '');
  const fixed = model.columns.filter((c) => c.constant && c.kind !== 'status' && c.values
      && c.values.length);
  const [constants, list] = byId('constants').children;
  byId('constants').hidden = fixed.length === 0;
  constants.textContent = `${fixed.length} ${fixed.length === 1 ? 'figure is' : 'figures are'} the same in every row`;
  list.innerHTML = fixed.map((c) => `${escapeHtml(c.label)} <b>${escapeHtml(formatFor(c.values[0], c))}</b>`).join(', ');
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

// ---- Drawing what is in sight -------------------------------------------------------------

// A chart out of sight is drawn when it comes near the window, is printed or saved.
const kPaints = { pareto: paintPareto, curves: paintCurves, parallel: paintParallel, attainment: paintAttainment };
const stale = new Set();

function drawStale(name) {
  if (stale.delete(name)) { kPaints[name](); }
}

function draw(name) {
  const section = byId(`${name}-section`);
  if (section.hidden) { return; }
  const { top, bottom } = section.getBoundingClientRect();
  stale.add(name);
  if (state.printing || (bottom > -kNearWindow && top < innerHeight + kNearWindow)) { drawStale(name); }
}

const drawPareto = () => { if (state.x) { draw('pareto'); } };
const drawCurves = () => draw('curves');
const drawParallel = () => draw('parallel');
const drawAttainment = () => draw('attainment');

function setUpSight() {
  const sight = new IntersectionObserver((entries) => entries.filter((e) => e.isIntersecting)
    .forEach((e) => drawStale(e.target.id.replace('-section', ''))), { rootMargin: `${kNearWindow}px` });
  Object.keys(kPaints).forEach((name) => sight.observe(byId(`${name}-section`)));
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
  drawParallel();
  drawRows();
}

// ---- Theme, print, scenario ---------------------------------------------------------------

function redrawCharts() {
  drawPareto();
  drawCurves();
  drawParallel();
  drawAttainment();
  if (model.points.length > 0) { drawRoofline(); }
}

setUpPage(redrawCharts);
setUpSight();
addEventListener('resize', () => drawRows());
fillHeader();
setUpFilter();
setUpTable();
setUpPareto();
setUpCurves();
setUpParallel();
setUpAttainment();
fillPrintTable();
setUpOperators();
refreshOrder();
drawTable();
fillSelection();
drawPareto();
drawCurves();
drawParallel();
drawAttainment();
drawOperators();
setUpDownloads();
setTimeout(() => [...stale].forEach(drawStale), 300);  // once the page can be read
