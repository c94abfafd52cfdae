// SPDX-License-Identifier: Apache-2.0
//
// The page of served requests: distributions, curves over time, tables, files to save. What it shares
// with other pages is in report_page.js, axes and colours are in report_charts.js.
//
// Data contract (<script type="application/json" id="data">, every `<` in it written \u003c):
//   title, generated_by, question, scenario   text; question and scenario may be empty
//   notes    [text]
//   runs     [{name, text, facts: [[label, text]], seconds_per_point,
//              limits: {ttft, tpot}   objectives in s, null for none; requests_per_s: number or null
//              tables: [[[text]]]     the first row is the header
//              sides: [{name, ttft: [s], tpot: [s]   in ascending order: quantiles at (i + ½) / n
//                       quantiles: {ttft, tpot}   p50, p90, p95, p99 of each
//                       running, waiting, cache, output, busy: [number or null]   from the start on}],
//              files: [{name, text}]}]
// A list that is empty was not recorded. The first side has the first colour.
'use strict';

const model = JSON.parse(byId('data').textContent);
const state = { run: 0, printing: false };
const charts = {};
const kCurves = [
  { key: 'running', label: 'Running requests', axis: 'Requests', unit: '' },
  { key: 'waiting', label: 'Waiting requests', axis: 'Requests', unit: '' },
  { key: 'cache', label: 'KV cache in use', axis: 'Share of the cache', unit: 'fraction' },
  { key: 'output', label: 'Output tokens per second', axis: 'Tokens/s', unit: '' },
  { key: 'busy', label: 'Time with an iteration under way', axis: 'Share of the time', unit: 'fraction' },
];
const kDashes = ['solid', [6, 4], [2, 3]];

const wholePercent = (share) => `${Math.round(100 * share)} %`;
const run = () => model.runs[state.run];
const recorded = (key) => run().sides.some((side) => side[key].length > 0);

function lineOf(theme, side, index, data, step) {
  return {
    type: 'line', name: side.name, data, symbol: 'none', step, sampling: 'lttb',
    lineStyle: { color: theme.series(index), width: 1.8, type: kDashes[index % kDashes.length] },
    itemStyle: { color: theme.series(index) },
  };
}

function lineOption(theme, { chart, x, y, series, tip }) {
  const option = baseOption(theme);
  Object.assign(option.tooltip, { trigger: 'axis', formatter: tip });
  const room = Math.max(3, Math.floor(chart.getWidth() / 75));
  return Object.assign(option, {
    grid: { left: 62, right: 22, top: 34, bottom: 48 },
    xAxis: axisOption(theme, { ...x, room, vertical: false }),
    yAxis: Object.assign(axisOption(theme, { ...y, low: 0, high: 1, room: 6, vertical: true }), y.limits),
    series,
  });
}

const kQuantiles = [0.5, 0.9, 0.95, 0.99];
const shareWithin = (times, limit) => times.filter((time) => time <= limit).length / times.length;

// Which share of the requests a limit leaves good, as it grows: quantiles marked, the objective as a line.
function drawDistribution(key) {
  const { sides, limits, requests_per_s: rate } = run();
  const log = byId('log').checked;
  const times = sides.flatMap((side) => side[key]).filter((time) => time > 0);
  byId(`${key}-chart`).parentElement.hidden = times.length === 0;
  if (times.length === 0) { return; }
  const limit = limits[key];
  const low = Math.min(...times);
  const high = Math.max(...times, limit || 0);
  const scale = scaleOf('s', high);
  const theme = pageTheme();
  const series = sides.map((side, index) => {
    const n = side[key].length;
    return { ...lineOf(theme, side, index, side[key].filter((time) => time > 0 || !log)
      .map((time, i, kept) => [time, (i + n - kept.length + 0.5) / n]), false),
    markPoint: { symbol: 'circle', symbolSize: 6, label: { show: false }, silent: true,
      data: side.quantiles[key].map((time, i) => ({ coord: [time, kQuantiles[i]] })) },
    ...(index > 0 || !limit ? {} : { markLine: { symbol: 'none', silent: true,
      lineStyle: { color: theme.text, type: [4, 3], width: 1.2 }, data: [{ xAxis: limit }],
      label: { position: 'insideMiddleBottom', color: theme.text, fontSize: 12,
        textBorderColor: theme.background, textBorderWidth: 3,
        formatter: `objective ${format(limit, 's')}: ${
          (100 * shareWithin(side[key], limit)).toFixed(1)} %` } } }) };
  });
  const tip = (items) => tipHtml(`Limit ${format(items[0].axisValue, 's')}`, sides.flatMap((side, index) => {
    const share = shareWithin(side[key], items[0].axisValue);
    return [[side.name, `${(100 * share).toFixed(1)} % of the requests`],
      ...(index > 0 || rate === null ? [] : [['', `${plainNumber(share * rate, 3)} of ${
        plainNumber(rate, 3)} requests/s`]])];
  }));
  byId(`${key}-caption`).textContent = sides.filter((side) => side[key].length > 0).map((side) =>
    (sides.length > 1 ? `${side.name}: ` : '') + side.quantiles[key].map((time, i) =>
      `p${Math.round(100 * kQuantiles[i])} ${format(time, 's', 4)}`).join(', ')).join('; ') + '.';
  const chart = chartOf(key, true);
  showOption(chart, lineOption(theme, {
    chart, series, tip,
    x: { name: `Limit on ${key.toUpperCase()} (${scale.unit})`, log, low: low / 1.1, high: high * 1.1,
      label: (v) => String(Number((v / scale.factor).toPrecision(3))) },
    y: { name: 'Requests within the limit', log: false, label: wholePercent, limits: { max: 1 } },
  }));
}

function drawCurve({ key, axis, unit }) {
  const { sides, seconds_per_point: step } = run();
  const drawn = sides.filter((side) => side[key].length > 0);
  if (drawn.length === 0) { return; }
  const series = drawn.map((side) => lineOf(pageTheme(), side, sides.indexOf(side),
    side[key].map((value, i) => [i * step, value]), 'end'));
  const tip = (items) => tipHtml(`${kPlain.format(items[0].axisValue)} s`,
    items.map((item) => [item.seriesName, format(item.value[1], unit)]));
  const chart = chartOf(key, true);
  showOption(chart, lineOption(pageTheme(), {
    chart, series, tip,
    x: { name: 'Time (s)', log: false, low: 0, high: 1, label: (v) => kPlain.format(v) },
    y: { name: axis, log: false, label: (v) => (unit ? wholePercent(v) : plainNumber(v, 3)),
      limits: unit ? { max: 1 } : {} },
  }));
}

// The points of the curves of one chart, one column for each side; `at` is the column of x.
function curveTable(at, columns, points) {
  const rows = new Map();
  points.forEach((list, side) => list.forEach(([x, y]) => {
    if (!rows.has(x)) { rows.set(x, Array(points.length).fill(null)); }
    rows.get(x)[side] = y;
  }));
  return { columns: [at, ...columns],
    rows: [...rows].sort((a, b) => a[0] - b[0]).map(([x, values]) => [x, ...values]) };
}

function setUpDownloads() {
  const { sides, name, seconds_per_point: step } = run();
  const several = model.runs.length > 1;
  const add = (key, table) => {
    if (byId(`${key}-chart`)) {
      addDownloads(byId(`${key}-chart`), () => charts[key],
        () => fileStem(model.title, several && name, key), table);
    }
  };
  ['ttft', 'tpot'].forEach((key) => add(key, () => curveTable(`${key}_s`, sides.map((side) =>
    `${side.name}_share`), sides.map((side) => side[key].map((time, i) =>
    [time, (i + 0.5) / side[key].length])))));
  kCurves.forEach(({ key }) => add(key, () => curveTable('time_s', sides.map((side) =>
    `${side.name}_${key}`), sides.map((side) => side[key].map((value, i) => [i * step, value])))));
}

function drawCharts() {
  ['ttft', 'tpot'].forEach(drawDistribution);
  kCurves.forEach(drawCurve);
}

function tableHtml(rows) {
  const [head, ...body] = rows;
  const cells = (row, tag) => row.map((cell, i) =>
    `<${tag}${i > 0 ? ' class="number"' : ''}>${escapeHtml(cell)}</${tag}>`).join('');
  return '<div class="scroll-x" tabindex="0" role="region" aria-label="Times"><table class="operators"><thead><tr>' + cells(head, 'th')
    + '</tr></thead><tbody>' + body.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('')
    + '</tbody></table></div>';
}

// What most requests see, of a run that is beside no other.
function answerOf({ sides: [side, other], limits }) {
  if (other || side.ttft.length === 0 || side.tpot.length === 0) { return ''; }
  const p95 = (key) => format(side.quantiles[key][2], 's', 4);
  const promised = ['ttft', 'tpot'].filter((key) => limits[key] !== null).map((key) =>
    `${(100 * shareWithin(side[key], limits[key])).toFixed(1)} % keep the ${key.toUpperCase()} objective of ${format(limits[key], 's')}`);
  return `95 % of the requests have their first token within ${p95('ttft')}, and 95 % have TPOT of at most ${p95('tpot')}.`
    + (promised.length > 0 ? ` ${promised.join(', ')}.` : '');
}

function fillRun() {
  const { name, text, facts, tables, sides, files, seconds_per_point: step } = run();
  byId('run-heading').textContent = name;
  byId('run-text').textContent = text;
  byId('answer').innerHTML = `<p>${escapeHtml(`${answerOf(run())} ${run().start}`.trim())}</p>`;
  byId('counts').innerHTML = facts.map(([label, fact]) => fact.includes(', ')
    ? `<li>${escapeHtml(label)}: <b>${escapeHtml(fact)}</b></li>`
    : `<li><b>${escapeHtml(fact)}</b>${escapeHtml(label)}</li>`).join('');
  byId('tables').innerHTML = tables.map(tableHtml).join('');
  byId('files').innerHTML = files.map((file, index) =>
    `<button type="button" data-file="${index}">Save ${escapeHtml(file.name)}</button>`).join('');
  const legend = sides.length < 2 ? '' : sides.map((side, index) =>
    `<span class="key">${symbolSvg(1, index)}${escapeHtml(side.name)}${index > 0 ? ', dashed'
      : ''}</span>`).join('');
  document.querySelectorAll('[data-legend]').forEach((box) => { box.innerHTML = legend; });
  Object.keys(charts).filter((key) => kCurves.some((curve) => curve.key === key)).forEach((key) => {
    charts[key].dispose();
    delete charts[key];
  });
  byId('seconds').innerHTML = kCurves.filter(({ key }) => recorded(key)).map(({ key, label }) =>
    `<figure><h3>${label}</h3><div id="${key}-chart" class="chart small" role="img"
      aria-label="${label}"></div></figure>`).join('');
  byId('seconds-hint').textContent = step > 1 ? `Means of ${step} seconds.` : 'Means of each second.';
  drawCharts();
  setUpDownloads();
}

function fillPage() {
  fillTitle(model);
  byId('notes').innerHTML = model.notes.map((note) => `<p>${escapeHtml(note)}</p>`).join('');
  byId('notes').hidden = model.notes.length === 0;
  byId('scenario').textContent = model.scenario;
  byId('scenario-section').hidden = !model.scenario;
  byId('footer').textContent = `Made by ${model.generated_by}. One file, nothing loaded from a network. `
    + 'Charts: Apache ECharts.';
  byId('run-label').hidden = model.runs.length < 2;
  byId('run-select').innerHTML = model.runs.map(({ name }, index) =>
    `<option value="${index}">${escapeHtml(name)}</option>`).join('');
  byId('run-select').onchange = (event) => {
    state.run = Number(event.target.value);
    fillRun();
  };
  byId('files').onclick = (event) => {
    const button = event.target.closest('button');
    if (!button) { return; }
    const file = run().files[Number(button.dataset.file)];
    saveText(`${fileStem(run().name)}.${file.name}`, file.text);
  };
  byId('log').onchange = () => ['ttft', 'tpot'].forEach(drawDistribution);
}

setUpPage(drawCharts);
fillPage();
fillRun();
