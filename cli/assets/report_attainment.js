// SPDX-License-Identifier: Apache-2.0
//
// Attainment in a report: for each series, the most throughput per GPU of its rows that meet every constraint and
// a limit of a latency, as the limit grows. Dashed: while the upper end of the latency's 90 % interval
// keeps it. report.js owns the model and the state.
'use strict';

const kAttained = 'throughput_tok_per_s_per_gpu';

// Rows in order of the limit from which on each is the best, with `limit(row)` the latency that counts.
function attained(rows, limit) {
  const value = (row) => model.cell(row, kAttained);
  const steps = [];
  rows.filter((row) => !isEmpty(limit(row)) && !isEmpty(value(row)))
    .sort((a, b) => limit(a) - limit(b) || value(b) - value(a))
    .forEach((row) => {
      if (steps.length === 0 || value(row) > value(steps[steps.length - 1])) { steps.push(row); }
    });
  return steps;
}

// [{name, index, sure, steps, limit}] of what the filter and the legend leave.
function attainmentCurves() {
  const { names, groupOf } = seriesGroups();
  const ends = [[state.limit, false], [state.limit.high, true]].filter(([column]) => column);
  return names.filter((name) => !state.hidden.has(name)).flatMap((name) => {
    const rows = state.order.filter((row) => !model.unmet[row] && groupOf(row) === name);
    return ends.map(([column, sure]) => {
      const limit = (row) => model.rows[row][column.index];
      return { name, index: names.indexOf(name), sure, limit, steps: attained(rows, limit) };
    });
  }).filter(({ steps }) => steps.length > 0);
}

function attainmentTable() {
  const columns = downloadColumns([]);
  return { columns: ['series', 'limit_on', `${state.limit.name}_limit`, kAttained,
    ...columns.map((c) => c.name)],
  rows: attainmentCurves().flatMap(({ name, sure, limit, steps }) => steps.map((row) =>
    [name, sure ? state.limit.high.name : state.limit.name, limit(row), model.cell(row, kAttained),
      ...columns.map((c) => model.rows[row][c.index])])) };
}

function paintAttainment() {
  fillSeriesLegend('attainment-legend', true);
  const throughput = model.named.get(kAttained);
  const curves = attainmentCurves();
  const log = byId('attainment-log').checked;
  const kept = model.rows.length < model.total_rows;
  byId('attainment-caption').textContent = `${throughput.label} of the best configuration that meets every `
    + `constraint and whose ${state.limit.label} is within the limit${state.limit.high ? '; dashed: whose upper end of the 90 % '
      + 'interval is, so that 19 of 20 servers should keep it' : ''}. A mark is a configuration: click it to `
    + 'select. Promises on other columns go into the filter.'
    + (!kept ? '' : state.order.length === model.rows.length && state.series
      && state.series.name === model.series_column
      ? ` Of all ${kPlain.format(model.total_rows)} rows: the best ones are all kept in this file.`
      : ' Of the rows that this file keeps: the best of all may be better.');
  byId('attainment-chart').hidden = curves.length === 0;
  if (curves.length === 0) {
    byId('attainment-caption').textContent = 'No configuration that meets every constraint is left.';
    return;
  }
  const theme = pageTheme();
  const chart = chartOf('attainment', true);
  if (!state.printing) { chart.resize(); }
  const limits = curves.flatMap(({ steps, limit }) => steps.map(limit));
  const [low, high] = paddedExtent(limits, log);
  const end = log ? high : high * 1.04;
  const series = curves.map(({ name, index, sure, limit, steps }) => {
    const colour = theme.series(index);
    const value = (row) => [limit(row), model.cell(row, kAttained), row];
    const last = steps[steps.length - 1];
    return { type: 'line', name: sure ? `${name}, 95 % sure` : name, step: 'end', showAllSymbol: true,
      symbol: (point) => (point.length > 3 ? 'none' : shapeOf(index)),
      symbolSize: sure ? 4 : steps.length > kPackedFront ? 4 : 7, triggerLineEvent: false,
      lineStyle: { color: colour, width: sure ? 1.2 : 1.8, type: sure ? [5, 4] : 'solid' },
      itemStyle: { color: colour },
      data: [...steps.map(value), [end, model.cell(last, kAttained), last, 'end']] };
  });
  const option = baseOption(theme);
  option.tooltip.formatter = (item) => (item.value ? paretoTip(item.value[2]) : '');
  const side = (column, text) => ({ name: text, label: (value) =>
    plainNumber(Number((value / column.scale.factor).toPrecision(6)), 3) });
  showOption(chart, Object.assign(option, {
    grid: { left: 62, right: 22, top: 34, bottom: 48 },
    xAxis: Object.assign(axisOption(theme, { ...side(state.limit, `Limit on ${state.limit.label} (${
      state.limit.scale.unit})`), low, high: end, log, vertical: false,
    room: Math.max(3, Math.floor(chart.getWidth() / 75)) }), log ? {} : { max: end }),
    yAxis: axisOption(theme, { ...side(throughput, axisName(throughput, true)), low: 0, high: 1, log: false,
      vertical: true, room: 8 }),
    series,
  }));
}

function setUpAttainment() {
  const throughput = model.named.get(kAttained);
  const latencies = model.columns.filter((c) => c.kind === 'metric' && c.numeric && !c.constant
    && c.unit === 's' && c.better === 'lower');
  byId('attainment-section').hidden = !throughput || !throughput.numeric || latencies.length === 0
    || !state.x;
  if (byId('attainment-section').hidden) { return; }
  state.limit = latencies.find((c) => c.name === 'tpot_mean_s') || latencies[0];
  byId('attainment-limit').innerHTML = latencies.map((c) => option(c.index, c.label, c === state.limit)).join('');
  const suggestLog = () => {
    const sizes = model.rows.map((row) => row[state.limit.index]).filter((v) => v !== null);
    const [low, high] = paddedExtent(sizes, false);
    byId('attainment-log').checked = low > 0 && high / low > 50;
  };
  suggestLog();
  byId('attainment-limit').onchange = (event) => {
    state.limit = model.columns[Number(event.target.value)];
    suggestLog();
    drawAttainment();
  };
  byId('attainment-log').onchange = drawAttainment;
  chartOf('attainment', true).on('click', (item) => {
    if (item.value) { select(item.value[2]); }
  });
}
