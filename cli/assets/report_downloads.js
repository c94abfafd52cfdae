// SPDX-License-Identifier: Apache-2.0
//
// What each chart of a report hands out as CSV: the values it draws, in SI base units, with the names of
// the result's own columns. report.js owns the model and the state, download.js the buttons.
'use strict';

const csvTableOf = (rows, columns) => ({ columns: columns.map((c) => c.name),
  rows: rows.map((row) => columns.map((c) => model.rows[row][c.index])) });

// `columns` with the ends of their intervals, each once, after what tells rows apart.
function downloadColumns(columns) {
  const axes = model.columns.filter((c) => c.name === 'point' || (c.kind === 'axis' && !c.constant));
  return [...new Set([...axes, ...columns.flatMap((c) => [c, c.low, c.high]).filter(Boolean)])];
}

const operatorCells = ['name', 'category', 'count', 'format', 'time_s', 'flop', 'bytes', 'message_bytes',
  'intensity', 'achieved_flop_per_s', 'bound'];
const operatorNames = ['operator', 'category', 'count', 'format', 'time_s', 'flop', 'bytes_b', 'message_b',
  'intensity_flop_per_b', 'achieved_flop_per_s', 'bound'];

function operatorTable(points) {
  return { columns: ['configuration', 'step', 'step_time_s', ...operatorNames],
    rows: points.flatMap((point) => point.phases.flatMap((phase) => phase.operators.map((op) =>
      [point.label, phase.name, phase.time_s, ...operatorCells.map((key) => op[key])]))) };
}

function setUpDownloads() {
  const stem = (name) => () => fileStem(model.title, name);
  if (state.x) {
    addDownloads(byId('pareto-chart'), () => charts.pareto, stem('trade-off'), () => {
      drawStale('pareto');
      return csvTableOf(state.drawn, downloadColumns([state.y, state.x, state.series,
        model.named.get('meets')].filter(Boolean)));
    });
  }
  (model.curves || []).forEach((each, index) => addDownloads(byId(`${curveName(index)}-chart`),
    () => charts[curveName(index)], stem(each.heading.toLowerCase().replaceAll(' ', '-')), () => {
      drawStale('curves');
      return curvesTable(each);
    }));
  if (!byId('parallel-section').hidden) {
    addDownloads(byId('parallel-chart'), () => charts.parallel, stem('parallel'), () => {
      drawStale('parallel');
      return csvTableOf(state.parallelRows, [...new Set([...downloadColumns([]), ...state.dimensions])]);
    });
  }
  if (state.limit) {
    addDownloads(byId('attainment-chart'), () => charts.attainment, stem('attainment'), attainmentTable);
  }
  if (model.points.length > 0) {
    addDownloads(byId('roofline-chart'), () => charts.roofline, stem('roofline'),
      () => operatorTable([model.points[state.point]]));
    addDownloads(byId('bars'), () => null, stem('operators'), () => operatorTable(model.points));
    addDownloads(byId('timeline'), () => null, stem('timeline'), timelineTable);
  }
}
