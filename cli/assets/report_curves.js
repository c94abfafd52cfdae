// SPDX-License-Identifier: Apache-2.0
//
// Curves over a count that doubles, such as GPUs, or over a quantity: one chart for each of the data's `curves`. Only some
// reports have them. report.js owns the model and the state.
'use strict';

const curveName = (index) => `curve-${index}`;
const curveValue = (value, unit) => (unit === 'fraction' ? `${plainNumber(100 * value, 3)} %` : plainNumber(value, 3));

function paintCurve({ x, y, unit, lines }, index) {
  const theme = pageTheme();
  const chart = chartOf(curveName(index), true);
  if (!state.printing) { chart.resize(); }
  const option = baseOption(theme);
  Object.assign(option.tooltip, { trigger: 'axis', formatter: (items) => tipHtml(
    `${plainNumber(items[0].axisValue, 6)} ${x.label}`,
    items.map((item) => [item.seriesName, curveValue(item.value[1], unit)])) });
  const series = lines.map(({ name, values }, line) => ({
    type: 'line', name, symbol: x.doubles ? shapeOf(line) : 'none', symbolSize: 6,
    lineStyle: { color: theme.series(line), width: 1.8 }, itemStyle: { color: theme.series(line) },
    data: values.map((value, i) => [x.values[i], value]).filter(([, value]) => value !== null),
  }));
  const room = Math.max(3, Math.floor(chart.getWidth() / 75));
  const [low, high] = [x.values[0], x.values[x.values.length - 1]];
  showOption(chart, Object.assign(option, {
    grid: { left: 62, right: 22, top: 34, bottom: 48 },
    xAxis: axisOption(theme, { name: x.label, low: x.doubles ? low / 1.1 : low, high: x.doubles ? high * 1.1 : high,
      log: x.doubles, room, vertical: false,
      label: (value) => (x.doubles ? kPlain.format(value) : plainNumber(value, 4)) }),
    yAxis: Object.assign(axisOption(theme, { name: y, low: 0, high: 1, log: false, room: 6, vertical: true,
      label: (value) => curveValue(value, unit) }), { min: 0 }),
    series,
  }));
}

const paintCurves = () => (model.curves || []).forEach(paintCurve);

function setUpCurves() {
  const curves = model.curves || [];
  byId('curves-section').hidden = curves.length === 0;
  byId('curves').innerHTML = curves.map(({ heading, caption, lines }, index) =>
    `<figure><h3>${escapeHtml(heading)}</h3><div class="legend static">${lines.map(({ name }, line) =>
      `<span class="key">${symbolSvg(line, line)}${escapeHtml(name)}</span>`).join('')}</div>`
      + `<div id="${curveName(index)}-chart" class="chart small" role="img" aria-label="${escapeHtml(heading)}"></div>`
      + `<figcaption>${escapeHtml(caption)}</figcaption></figure>`).join('');
}

function curvesTable({ x, lines }) {
  return { columns: [x.label, ...lines.map(({ name }) => name)],
    rows: x.values.map((value, i) => [value, ...lines.map(({ values }) => values[i])]) };
}
