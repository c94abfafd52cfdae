// SPDX-License-Identifier: Apache-2.0
//
// The trade-off of two metrics: its chart as an ECharts option, a function from values, then its controls,
// its drawing and the area that selects rows. report.js owns the model and the state.
'use strict';

const kDenseSeries = 500;   // from here they are smaller and paler
const kPackedFront = 50;    // from here the marks of a front are small and have no rim
const kLargeSeries = 2000;  // from here the dominated points are painted as one path

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

// The intervals of rows along both axes, as two lines with gaps.
function intervalBars(rows, { at, intervals }) {
  return [0, 1].map((dimension) => ({
    type: 'line', silent: true, z: 3, symbol: 'none', tooltip: { show: false },
    data: rows.flatMap((row) => {
      const ends = intervals(row)[dimension];
      return ends ? [...ends.map((end) => (dimension === 0 ? [end, at(row)[1]] : [at(row)[0], end])),
        ['-', '-']] : [];
    }),
  }));
}

// view: x, y {name, log, sign (0: no better side), label}, series [{name, rows, index}],
// unmet [row], context [row] (left out by the filter), at(row), tip(row), selected (row or null),
// intervals(row) [of x, of y] and whether fronts have them (bars), width.
function paretoOption(theme, view) {
  const { at } = view;
  const all = view.series.flatMap((s) => s.rows).concat(view.unmet, view.context);
  const point = (row) => [...at(row), row];
  const judged = view.x.sign !== 0 && view.y.sign !== 0;
  const globalFront = judged
    ? frontOf(view.series.flatMap((s) => s.rows), at, view.x.sign, view.y.sign) : [];
  const onGlobal = new Set(globalFront);
  const lines = [];
  if (view.context.length > 0) {
    lines.push({
      type: 'scatter', name: 'left out by the filter', data: view.context.map(point), z: 1, silent: true,
      large: view.context.length > kLargeSeries, symbol: 'circle', symbolSize: 3,
      itemStyle: { color: theme.muted, opacity: 0.25 },
    });
  }
  if (view.unmet.length > 0) {
    lines.push({
      type: 'scatter', name: 'constraint not met', data: view.unmet.map(point), z: 1,
      large: view.unmet.length > kLargeSeries,
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
    if (view.bars) {
      lines.push(...intervalBars(front, view).map((bar) => ({ ...bar, name: `${name}, 90 % interval`,
        lineStyle: { color: theme.series(index), width: 1, opacity: 0.55 } })));
    }
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
    lines.push(...intervalBars([view.selected], view).map((bar) => ({ ...bar, name: '90 % interval', z: 5,
      lineStyle: { color: theme.text, width: 1.5, type: [4, 3] } })));
    lines.push({
      type: 'scatter', name: 'selected', data: [point(view.selected)], silent: true, z: 6,
      symbol: 'circle', symbolSize: 20,
      itemStyle: { color: 'transparent', borderColor: theme.text, borderWidth: 2 },
    });
  }
  const axis = (side, dimension, vertical) => {
    const [low, high] = paddedExtent(all.map((row) => at(row)[dimension]), side.log);
    const room = vertical ? 9 : Math.max(3, Math.floor(view.width / 75));
    // Ticks close together, far from 0, need more digits to differ.
    const close = Math.log10(Math.abs(high) / Math.max(high - low, 1e-4 * Math.abs(high)));
    const digits = 3 + Math.max(0, Math.ceil(close - 1));
    return axisOption(theme, { ...side, low, high, vertical, room, label: (value) => side.label(value, digits) });
  };
  const option = baseOption(theme);
  option.tooltip.formatter = (item) => (item.value ? view.tip(item.value[2]) : '');
  option.toolbox.feature.brush = { show: false };  // the page has a button for it
  return Object.assign(option, {
    grid: { left: 62, right: 22, top: 34, bottom: 48 },
    xAxis: axis(view.x, 0, false), yAxis: axis(view.y, 1, true), series: lines,
    brush: { toolbox: [], brushType: 'rect', brushMode: 'single', xAxisIndex: 0, yAxisIndex: 0,
      seriesIndex: [], outOfBrush: { colorAlpha: 1 }, throttleType: 'debounce',
      brushStyle: { color: theme.envelope, opacity: 0.18, borderColor: theme.text, borderWidth: 1 } },
  });
}

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
    || (c.kind === 'axis' && !c.constant) || /^limited_by_/.test(c.name)));
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
    redrawSeries();
  };
  byId('pareto-unmet').onchange = drawPareto;
  byId('pareto-intervals').onchange = drawPareto;
  byId('pareto-brush').onclick = () => {
    const pressed = byId('pareto-brush').getAttribute('aria-pressed') === 'true';
    byId('pareto-brush').setAttribute('aria-pressed', String(!pressed));
    showArea(chartOf('pareto'));
  };
  const chart = chartOf('pareto', model.rows.length <= 3000);
  chart.on('click', (item) => {
    if (item.value && item.value.length === 3) { select(item.value[2]); }
  });
  keyStarts.pareto = () => (state.selected === null ? null
    : [...[state.x, state.y].map((c) => model.rows[state.selected][c.index]), state.selected]);
  chart.on('brushEnd', ({ areas }) => setTimeout(() => filterByArea(areas[0]), 0));
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

// The names of the rows' colours in order, and which one a row has.
function seriesGroups() {
  const groupOf = (row) => (state.series ? String(model.rows[row][state.series.index] ?? 'none') : 'all');
  const names = [...new Set(model.rows.map((_, row) => groupOf(row)))];
  if (state.series && state.series.numeric) { names.sort(new Intl.Collator('en', { numeric: true }).compare); }
  return { names, groupOf };
}

// Buttons for the series with rows that meet every constraint; they hold for all charts.
function fillSeriesLegend(id, shapes) {
  const { names, groupOf } = seriesGroups();
  const used = new Set(model.rows.map((_, row) => row).filter((row) => !model.unmet[row]).map(groupOf));
  fillLegend(id, names.filter((name) => used.has(name)).map((name) => ({ key: name,
    html: symbolSvg(shapes ? names.indexOf(name) : 1, names.indexOf(name)) + escapeHtml(name) })),
  state.hidden, redrawSeries);
}

// ---- Selecting an area --------------------------------------------------------------------

function filterByArea(area) {
  const sides = [state.x, state.y];
  setFilter(sides.map((column, side) => [column, area ? rangeWords(column, area.coordRange[side]) : []]));
}

// The pointer draws areas while the button is pressed; the area is what the filter says of the two axes.
function showArea(chart) {
  const drawing = byId('pareto-brush').getAttribute('aria-pressed') === 'true';
  if (drawing !== chart.drawsAreas) {
    chart.drawsAreas = drawing;
    chart.dispatchAction({ type: 'takeGlobalCursor', key: 'brush',
      brushOption: { brushType: drawing ? 'rect' : false, brushMode: 'single' } });
  }
  const ranges = [state.x, state.y].map(filterRange);
  if (ranges.every((range) => range === null)) { return; }
  const whole = (range, axis) => {
    const extent = chart.getModel().getComponent(axis).axis.scale.getExtent();
    return range ? [Math.max(range[0], extent[0]), Math.min(range[1], extent[1])] : extent;
  };
  chart.dispatchAction({ type: 'brush', areas: [{ brushType: 'rect', xAxisIndex: 0, yAxisIndex: 0,
      coordRange: [whole(ranges[0], 'xAxis'), whole(ranges[1], 'yAxis')] }] });
}

function redrawSeries() {
  drawPareto();
  drawParallel();
  drawAttainment();
}

function paintPareto() {
  if (!state.x) { return; }
  const log = { x: byId('pareto-x-log').checked, y: byId('pareto-y-log').checked };
  const at = (row) => [model.rows[row][state.x.index], model.rows[row][state.y.index]];
  const drawable = (row) => at(row).every((v, i) => v !== null && (v > 0 || !log[i ? 'y' : 'x']));
  const usable = state.order.filter(drawable);
  const { names, groupOf } = seriesGroups();
  const groups = new Map(names.map((name) => [name, []]));
  usable.forEach((row) => { if (!model.unmet[row]) { groups.get(groupOf(row)).push(row); } });
  fillSeriesLegend('pareto-legend', true);
  const chart = chartOf('pareto');
  const side = (column, isLog, vertical) => ({ name: axisName(column, vertical), log: isLog,
      sign: column.sign,
    label: (value, digits = 3) =>
      plainNumber(Number((value / column.scale.factor).toPrecision(6)), digits) });
  const series = names.filter((name) => !state.hidden.has(name))
    .map((name) => ({ name, rows: groups.get(name), index: names.indexOf(name) }));
  const drawn = series.reduce((sum, s) => sum + s.rows.length, 0);
  const unmet = byId('pareto-unmet').checked ? usable
      .filter((row) => model.unmet[row]) : [];
  state.drawn = [...series.flatMap((s) => s.rows), ...unmet].sort((a, b) => a - b);
  const passing = new Set(state.order);
  const context = model.rows.map((_, row) => row).filter((row) => !passing.has(row)
      && !model.unmet[row] && drawable(row) && !state.hidden.has(groupOf(row)));
  const nothing = context.length + drawn + unmet.length === 0;
  const wasHidden = byId('pareto-chart').hidden;
  byId('pareto-chart').hidden = nothing;
  if (!nothing) {
    if (wasHidden) { chart.resize(); }
    showOption(chart, paretoOption(pageTheme(), {
      x: side(state.x, log.x, false), y: side(state.y, log.y, true), series, unmet, context, at,
      tip: paretoTip, width: chart.getWidth(), bars: byId('pareto-intervals').checked,
      selected: state.selected !== null && drawable(state.selected) ? state.selected : null,
      intervals: (row) => [state.x, state.y].map((column) => intervalOf(row, column)),
    }));
    chart.drawsAreas = false;  // a new option forgets it
    showArea(chart);
  }
  const objectives = model.objectives.map((name) => model.named.get(name).label).join(', ');
  byId('pareto-caption').textContent = `${kPlain.format(drawn)} configurations that meet every constraint`
    + (context.length > 0 ? `; pale dots: ${kPlain.format(context.length)} that the filter leaves out`
      : '') + '. '
    + (nothing ? 'Nothing to draw on these axes.' : state.x.sign && state.y.sign
      ? 'Thin lines: the front of each series on these two axes. Wide pale line and '
      + 'largest marks: the front of all that is drawn. '
        : 'One axis has no better side, so no front is drawn. ')
    + (model.objectives.length > 2 ? `Pareto rank in the table counts ${objectives}.` : '');
}
