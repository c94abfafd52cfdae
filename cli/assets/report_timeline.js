// SPDX-License-Identifier: Apache-2.0
//
// The steps of the chosen configuration from left to right: operators in the order they run, a lane for each
// thing that bounds them. report.js owns the model and the state.
'use strict';

const kLanes = ['compute', 'memory', 'l2', 'network', 'latency', 'host'];

// Blocks of a phase: {op, start_s}. What an operator hides of another is not in the other's time, so they follow
// one another.
function timelineOf(phase) {
  let start = 0;
  return phase.operators.map((op) => {
    const block = { op, start_s: start };
    start += op.time_s;
    return block;
  });
}

const lanesOf = (phase) => [...new Set([...kLanes, ...phase.operators.map((op) => op.bound)])]
  .filter((lane) => phase.operators.some((op) => op.bound === lane && op.time_s > 0));

function drawTimeline() {
  const point = model.points[state.point];
  const colours = categoryColours(allCategories());
  byId('timeline').innerHTML = point.phases.map((phase) => {
    const total = operatorTime(phase);
    const blocks = timelineOf(phase);
    const lanes = lanesOf(phase).map((lane) => {
      const own = blocks.filter(({ op }) => op.bound === lane);
      const time = own.reduce((sum, { op }) => sum + op.time_s, 0);
      const marks = own.map(({ op, start_s }) => {
        const share = op.time_s / total;
        const text = `${op.name}${op.count > 1 ? ` × ${op.count}` : ''}: ${format(op.time_s, 's')} from `
          + `${format(start_s, 's')} on, ${percent(share)}, ${op.category}`;
        return `<i style="left:${(100 * start_s / total).toFixed(3)}%;${barStyle(share, colours.get(op.category))}" `
          + `title="${escapeHtml(text)}">${share > 0.08 ? escapeHtml(op.name) : ''}</i>`;
      }).join('');
      return `<div class="lane"><span class="lane-name">${escapeHtml(lane)}</span>`
        + `<span class="lane-marks" role="img" aria-label="${escapeHtml(`${lane}: ${own.length} operators, `
          + `${format(time, 's')}, ${percent(time / total)}`)}">${marks}</span>`
        + `<span class="lane-time">${percent(time / total)}</span></div>`;
    }).join('');
    return `<div class="bar-group"><h4>${escapeHtml(phase.name)}, ${escapeHtml(format(phase.time_s, 's'))}</h4>`
      + `${lanes}</div>`;
  }).join('');
}

function timelineTable() {
  const point = model.points[state.point];
  return { columns: ['configuration', 'step', 'operator', 'category', 'count', 'bound', 'start_s', 'time_s'],
    rows: point.phases.flatMap((phase) => timelineOf(phase).map(({ op, start_s }) =>
      [point.label, phase.name, op.name, op.category, op.count, op.bound, start_s, op.time_s])) };
}
