// SPDX-License-Identifier: Apache-2.0
//
// Parallel coordinates of a report: a line for each row that meets every constraint, across the axes of the
// sweep and chosen metrics. An interval drawn on an axis is written into the filter, and what the filter says of an axis is
// shown on it. report.js owns the model and the state, report_filter.js the filter.
'use strict';

const kParallelLines = 1500;    // more are thinned
const kLabelLines = 30;         // of categories' names beside an axis
const kContextLines = 400;      // of rows that the filter leaves out
const kParallelAxes = 8;        // chosen at first
const kCategoryValues = 16;     // a sweep's axis with no more values has them as ticks
const kLetters = 24;           // of a line of a name: the first and the last axis have 84 px beside them
const kNarrowPage = 700;        // px; below it the axes lie

const isCategory = (column) => !column.numeric
  || (column.kind === 'axis' && column.values && column.values.length <= kCategoryValues);
const categoriesOf = (column) => (column.numeric ? column.values.slice().sort((a, b) => a - b)
  : column.values).map(String);

function parallelChoices() {
  return model.columns.filter((c) => !c.constant && (c.kind === 'axis' ? c.numeric || c.values
    : c.kind === 'metric' && c.numeric));
}

// A label of some words in lines of at most `width` letters.
function brokenLabel(text, width) {
  const lines = [''];
  text.split(/(?<=[\s_.])/).forEach((word) => {
    if ((lines[lines.length - 1] + word).trim().length > width && lines[lines.length - 1]) { lines.push(''); }
    lines[lines.length - 1] += word;
  });
  return lines.map((line) => line.trim()).join('\n');
}

// Every so many of the places of an axis, as many as have room, and the chosen one without its neighbours.
function shownPlaces(names, chosen) {
  const lines = Math.max(...names.map((name) => name.split('\n').length));
  const every = Math.ceil(names.length * lines / kLabelLines);
  return names.map((_, place) => place).filter((place) => place === chosen
    || (place % every === 0 && !(chosen >= 0 && Math.abs(place - chosen) < every)));
}

function parallelAxis(theme, column, dim, letters) {
  const unit = column.numeric ? `${column.scale.lead}${column.scale.unit}` : '';
  const axis = { dim, id: `axis${column.index}`, inverse: column.sign < 0,
    name: brokenLabel(column.label + (unit ? ` (${unit})` : ''), letters),
    nameTextStyle: { color: theme.text, fontSize: 11.5, lineHeight: 14 },
    areaSelectStyle: { width: 18, borderWidth: 1, borderColor: theme.text, color: theme.envelope, opacity: 0.45 },
    axisLine: { lineStyle: { color: theme.muted } },
    axisLabel: { color: theme.text, fontSize: 11, textBorderColor: theme.background, textBorderWidth: 3 } };
  if (isCategory(column)) {
    const values = categoriesOf(column)
      .map((value) => (column.numeric ? formatCell(Number(value), column) : value));
    const chosen = state.selected === null ? -1 : column.places.get(String(model.rows[state.selected][column.index]));
    const names = values.map((value) => brokenLabel(value, 18));
    const places = shownPlaces(names, chosen);
    Object.assign(axis.axisLabel, { customValues: places,
      formatter: (place) => names[place] ?? '' });
    return { ...axis, type: 'value', min: -0.5, max: values.length - 0.5, axisTick: { customValues: places } };
  }
  const sizes = model.rows.filter((_, row) => !model.unmet[row]).map((row) => row[column.index])
    .filter((v) => v !== null);
  const [low, high] = paddedExtent(sizes, false);
  axis.axisLabel.formatter = (value) =>
    plainNumber(Number((value / column.scale.factor).toPrecision(6)), 3);
  if (low > 0 && high / low > 50) {
    axis.axisLabel.customValues = logTicks(low, high, 8);
    axis.axisTick = { customValues: axis.axisLabel.customValues };
    return { ...axis, type: 'log', min: low, max: high };
  }
  const ticks = evenTicks(low, high, 6);
  axis.axisLabel.customValues = ticks;
  axis.axisTick = { customValues: ticks };
  return { ...axis, type: 'value', min: Math.min(low, ticks[0]), max: Math.max(high, ticks[ticks.length - 1]) };
}

// Those of the front and the selected row, then the others evenly.
function thinned(rows, room) {
  if (rows.length <= room) { return rows; }
  const first = rows.filter((row) => model.front[row] || row === state.selected);
  const rest = rows.filter((row) => !(model.front[row] || row === state.selected));
  const left = Math.max(0, room - first.length);
  return [...Array.from({ length: left }, (_, i) => rest[Math.floor(i * rest.length / left)]),
    ...first.slice(0, room)];
}

function parallelOption(theme, view) {
  const { columns, series, context, lying } = view;
  columns.filter(isCategory).forEach((c) => {
    c.places = c.places || new Map(categoriesOf(c).map((value, place) => [value, place]));
  });
  const values = (row) => columns.map((c) => {
    const value = model.rows[row][c.index];
    return isCategory(c) ? c.places.get(String(value)) : value;
  });
  const lines = (rows, style) => ({ type: 'parallel', data: rows.map((row) => ({ value: values(row), row })),
    lineStyle: style, inactiveOpacity: style.opacity, activeOpacity: style.opacity, smooth: false,
    progressive: 0, emphasis: { lineStyle: { width: 2.5, opacity: 1 } } });
  const option = baseOption(theme);
  delete option.toolbox;
  option.tooltip.formatter = (item) => (item.data && item.data.row !== undefined
    ? paretoTip(item.data.row) : '');
  const total = series.reduce((sum, s) => sum + s.rows.length, 0);
  const opacity = total > 400 ? 0.25 : total > 60 ? 0.5 : 0.85;
  const selected = state.selected !== null && view.drawable(state.selected) ? [state.selected] : [];
  return Object.assign(option, {
    parallel: { ...(lying ? { layout: 'vertical', left: 18, right: 26, top: 34, bottom: 28 }
      : { left: 84, right: 84, top: 62, bottom: 22 }),
          parallelAxisDefault: { realtime: false, nameGap: lying ? 14 : 12 } },
    parallelAxis: columns.map((column, dim) => {
      const axis = parallelAxis(theme, column, dim, lying ? 60 : view.letters);
      axis.nameLocation = lying !== Boolean(axis.inverse) ? 'start' : 'end';
      if (lying) { Object.assign(axis.nameTextStyle, { align: 'left', verticalAlign: 'bottom',
        padding: [0, 0, 8, 0] }); }
      return axis;
    }),
    series: [
      { ...lines(context, { color: theme.muted, width: 0.8, opacity: 0.16 }), silent: true },
      ...series.map((s) => lines(s.rows, { color: theme.series(s.index), width: 1.2, opacity })),
      lines(selected, { color: theme.text, width: 3, opacity: 1 }),
    ],
  });
}

// The intervals of an axis that stand for what the filter says of its column.
function shownIntervals(column) {
  const range = column.numeric ? filterRange(column) : null;
  if (!isCategory(column)) { return range ? [range] : []; }
  const kept = filterValues(column);
  if (!kept && !range) { return []; }
  const runs = [];
  categoriesOf(column).forEach((text, place) => {
    const value = column.numeric ? Number(text) : text.toLowerCase();
    if (!(kept ? kept.includes(value) : value >= range[0] && value <= range[1])) { return; }
    const last = runs[runs.length - 1];
    if (last && place - last[1] < 1) { last[1] = place + 0.4; } else { runs.push([place - 0.4, place + 0.4]); }
  });
  return runs;
}

// A bar on each axis that the filter speaks of; a click on it lets the axis go.
function showIntervals(chart, columns, lying) {
  const theme = pageTheme();
  const { coordinateSystem } = chart.getModel().getComponent('parallel');
  const bars = columns.flatMap((column, index) => {
    const axis = coordinateSystem.getAxis(`dim${index}`);
    const [x, y] = coordinateSystem.getAxisLayout(`dim${index}`).position;
    const extent = axis.getExtent();
    const place = (value) => Math.min(Math.max(axis.dataToCoord(value), Math.min(...extent)),
      Math.max(...extent));
    return shownIntervals(column).map((ends) => {
      const [from, to] = ends.map((end) => (Number.isFinite(end) ? place(end)
        : end > 0 === Boolean(axis.inverse) ? Math.min(...extent) : Math.max(...extent)))
        .sort((a, b) => a - b);
      return { type: 'rect', z: 50, onclick: () => setTimeout(() => filterByInterval(column, null), 0),
        shape: lying ? { x: x + from, y: y - 8, width: to - from, height: 16 }
          : { x: x - 8, y: y - to, width: 16, height: to - from },
        style: { fill: theme.envelope, opacity: 0.4, stroke: theme.text, lineWidth: 1 } };
    });
  });
  chart.setOption({ graphic: bars });
}

function filterByInterval(column, interval) {
  if (!interval) {
    setFilter([[column, []]]);
  } else if (isCategory(column)) {
    const [low, high] = interval.slice().sort((a, b) => a - b);
    const inside = categoriesOf(column).filter((_, place) => place >= low && place <= high);
    setFilter([[column, inside.length ? valueWords(column, inside) : []]]);
  } else {
    setFilter([[column, rangeWords(column, interval.slice().sort((a, b) => a - b))]]);
  }
}

function paintParallel() {
  fillSeriesLegend('parallel-legend', false);
  const columns = state.dimensions;
  byId('parallel-chart').hidden = columns.length < 2;
  if (columns.length < 2) {
    byId('parallel-caption').textContent = 'Choose two axes or more.';
    return;
  }
  const lying = !state.printing && document.documentElement.clientWidth < kNarrowPage;
  byId('parallel-chart').style.height = lying ? `${64 + 62 * columns.length}px` : '';
  const chart = chartOf('parallel', false);
  chart.resize(state.printing ? kPrintSize : undefined);
  const drawable = (row) => !model.unmet[row]
    && columns.every((c) => !isEmpty(model.rows[row][c.index]));
  const passing = new Set(state.order);
  const all = model.rows.map((_, row) => row).filter(drawable);
  const { names, groupOf } = seriesGroups();
  const coloured = all.filter((row) => passing.has(row) && !state.hidden.has(groupOf(row)));
  const lines = thinned(coloured, kParallelLines);
  state.parallelRows = coloured;
  showOption(chart, parallelOption(pageTheme(), {
    columns, lying, drawable, letters: Math.min(kLetters, Math.floor(chart.getWidth() / columns.length / 7)),
    context: thinned(all.filter((row) => !passing.has(row)), kContextLines),
    series: names.map((name, index) => ({ index, rows: lines.filter((row) => groupOf(row) === name) })),
  }));
  showIntervals(chart, columns, lying);
  byId('parallel-caption').textContent = `${kPlain.format(coloured.length)} configurations that meet every constraint`
    + (lines.length < coloured.length ? `, ${kPlain.format(lines.length)} of them drawn: those on the front `
      + 'and an even share of the others' : '')
    + (all.length > coloured.length ? '; pale grey: what the filter leaves out' : '')
    + `. Better is ${lying ? 'right' : 'up'} where a metric has a better side.`;
}

function setUpParallel() {
  const choices = parallelChoices();
  const objectives = model.objectives.map((name) => model.named.get(name));
  const wanted = [...new Set([...choices.filter((c) => c.kind === 'axis'),
    ...[...objectives, state.y, state.x, model.named.get('cost_usd_per_mtok')]
      .filter((c) => choices.includes(c))])];
  state.dimensions = wanted.slice(-kParallelAxes);
  byId('parallel-section').hidden = choices.length < 2 || !state.x;
  if (byId('parallel-section').hidden) {
    state.dimensions = [];
    return;
  }
  byId('parallel-list').innerHTML = choices.map((c) => '<label class="check"><input type="checkbox" '
    + `data-column="${c.index}"${state.dimensions.includes(c) ? ' checked' : ''}> `
    + `${escapeHtml(c.label)}</label>`).join('');
  byId('parallel-list').onchange = () => {
    const ticked = new Set([...byId('parallel-list').querySelectorAll(':checked')]
      .map((box) => Number(box.dataset.column)));
    state.dimensions = choices.filter((c) => ticked.has(c.index));
    drawParallel();
  };
  const chart = chartOf('parallel', false);
  chart.on('axisareaselected', (event) => {
    const column = model.columns[Number(String(event.parallelAxisId).slice(4))];
    const intervals = event.intervals || [];
    setTimeout(() => filterByInterval(column, intervals[intervals.length - 1]), 0);
  });
  chart.on('click', (item) => {
    if (item.data && item.data.row !== undefined) { select(item.data.row); }
  });
}
