// SPDX-License-Identifier: Apache-2.0
//
// The steps of the chosen configuration from left to right: operators in the order they run, layer after layer, a lane
// for each thing that limits them. report.js owns the model and the state.
'use strict';

const kLanes = ['tensor', 'kernel', 'padding', 'exponential', 'vector', 'few blocks', 'wave tail', 'serial k', 'HBM',
  'latency', 'L2', 'fill', 'launch', 'host', 'power', 'link', 'hops', 'straggler', 'unexplained'];
const kFolded = 0.12;  // of the drawing's width, all folds together at most 3 of them

// The operators of one layer: of its mixer, then of its feed-forward, each with its time in one layer.
function layerOperators({ operators, layers: { first, mixers, ffns } }, mixer, ffn) {
  const kinds = [...mixers, ...ffns];
  const of = (index) => {
    const from = kinds.slice(0, index).reduce((sum, [calls]) => sum + calls, first);
    const [calls, layers] = kinds[index];
    return operators.slice(from, from + calls).map((op) => ({ op, time_s: op.time_s / layers, runs: op.count / layers }));
  };
  return [...of(mixer), ...of(mixers.length + ffn)];
}

// Parts of a phase in order: {name, blocks: [{op, start_s, time_s, runs}]}, or {name, fold: [{op, time_s}], start_s, time_s}.
// The first layer of each kind is drawn, the layers like it are folded. What an operator hides of another is not in the
// other's time, so they follow one another.
function timelineOf(phase) {
  const { operators, layers } = phase;
  let start = 0;
  const part = (name, list) => ({ name, blocks: list.map((block) => {
    const placed = { ...block, start_s: start };
    start += block.time_s;
    return placed;
  }) });
  const whole = (list) => list.map((op) => ({ op, time_s: op.time_s, runs: op.count }));
  const inLayers = layers ? [...layers.mixers, ...layers.ffns].reduce((sum, [calls]) => sum + calls, 0) : 0;
  if (inLayers === 0 || layers.first + inLayers > operators.length) { return [part('', whole(operators))]; }
  const parts = [part('embedding', whole(operators.slice(0, layers.first)))];
  const seen = new Set();
  let done = 0;
  for (const [mixer, ffn, count] of layers.runs) {
    const list = layerOperators(phase, mixer, ffn);
    let left = count;
    if (!seen.has(`${mixer} ${ffn}`)) {
      seen.add(`${mixer} ${ffn}`);
      parts.push(part(`layer ${done + 1}`, list));
      left -= 1;
    }
    if (left > 0) {
      const last = parts[parts.length - 1];
      const fold = last.fold ? last : { fold: new Map(), start_s: start, time_s: 0, layers: 0 };
      list.forEach(({ op, time_s: time }) => fold.fold.set(op, (fold.fold.get(op) || 0) + left * time));
      const time = left * list.reduce((sum, block) => sum + block.time_s, 0);
      fold.layers += left;
      fold.name = `× ${fold.layers}`;
      fold.time_s += time;
      start += time;
      if (fold !== last) { parts.push(fold); }
    }
    done += count;
  }
  parts.push(part('end', whole(operators.slice(layers.first + inLayers))));
  return parts.filter((p) => p.fold || p.blocks.some(({ time_s: time }) => time > 0));
}

const lanesOf = (phase) => [...new Set([...kLanes, ...phase.operators.map((op) => op.limited_by)])]
  .filter((lane) => phase.operators.some((op) => op.limited_by === lane && op.time_s > 0));

// Where each part is in the drawing, as shares of it: the folds have a width of their own, the rest is true to scale.
function placedParts(phase) {
  const parts = timelineOf(phase);
  const folds = parts.filter((p) => p.fold).length;
  const fold = folds > 0 ? Math.min(kFolded, 3 * kFolded / folds) : 0;
  const timeOf = (p) => (p.fold ? 0 : p.blocks.reduce((sum, block) => sum + block.time_s, 0));
  const scale = (1 - folds * fold) / (parts.reduce((sum, p) => sum + timeOf(p), 0) || 1);
  let left = 0;
  return parts.map((p) => {
    const placed = { ...p, left, width: p.fold ? fold : timeOf(p) * scale, scale };
    left += placed.width;
    return placed;
  });
}

const markHtml = (left, width, style, title, text) => `<i style="left:${(100 * left).toFixed(3)}%;width:${(100 * width).toFixed(3)}%;${style}" `
  + `title="${escapeHtml(title)}">${escapeHtml(text)}</i>`;

// The operators of a lane, and in each fold the time that the lane has there.
function laneMarks(parts, lane, total, colours) {
  return parts.map((p) => {
    if (p.fold) {
      const time = [...p.fold].reduce((sum, [op, of]) => sum + (op.limited_by === lane ? of : 0), 0);
      return time > 0 ? markHtml(p.left, p.width, 'background:var(--envelope)', `${p.name} more layers: ${format(time, 's')}, ${percent(time / total)}`, '') : '';
    }
    let at = p.left;
    return p.blocks.map(({ op, start_s: start, time_s: time, runs }) => {
      const width = time * p.scale;
      const left = at;
      at += width;
      const text = `${p.name ? `${p.name}, ` : ''}${op.name}${runs > 1 ? ` × ${plainNumber(runs, 3)}` : ''}: ${format(time, 's')} from `
        + `${format(start, 's')} on, ${percent(time / total)}, ${op.category}`;
      return op.limited_by === lane && time > 0 ? markHtml(left, width, barStyle(width, colours.get(op.category)), text, width > 0.08 ? op.name : '') : '';
    }).join('');
  }).join('');
}

function layerLane(parts) {
  const marks = parts.filter(({ name }) => name).map((p) => {
    const time = p.fold ? p.time_s : p.blocks.reduce((sum, block) => sum + block.time_s, 0);
    const text = `${p.name}${p.fold ? ' more layers' : ''}: ${format(time, 's')}`;
    return markHtml(p.left, p.width, '', text, p.width < 0.025 ? '' : p.fold || p.width < 0.2 ? p.name : text);
  }).join('');
  return marks ? `<div class="lane layers"><span class="lane-name"></span><span class="lane-marks">${marks}</span><span class="lane-time"></span></div>` : '';
}

function drawTimeline() {
  const point = model.points[state.point];
  const colours = categoryColours(allCategories());
  byId('timeline').innerHTML = point.phases.map((phase) => {
    const total = operatorTime(phase);
    const parts = placedParts(phase);
    const lanes = lanesOf(phase).map((lane) => {
      const own = phase.operators.filter((op) => op.limited_by === lane);
      const time = own.reduce((sum, op) => sum + op.time_s, 0);
      return `<div class="lane"><span class="lane-name">${escapeHtml(lane)}</span>`
        + `<span class="lane-marks" role="img" aria-label="${escapeHtml(`${lane}: ${own.length} operators, `
          + `${format(time, 's')}, ${percent(time / total)}`)}">${laneMarks(parts, lane, total, colours)}</span>`
        + `<span class="lane-time">${percent(time / total)}</span></div>`;
    }).join('');
    return `<div class="bar-group"><h4>${escapeHtml(phase.name)}, ${escapeHtml(format(phase.time_s, 's'))}</h4>`
      + `${layerLane(parts)}${lanes}</div>`;
  }).join('');
}

function timelineTable() {
  const point = model.points[state.point];
  const row = (phase, layer, op, runs, start, time) =>
    [point.label, phase.name, layer, op.name, op.category, runs, op.limited_by, start, time];
  return { columns: ['configuration', 'step', 'part', 'operator', 'category', 'count', 'limited_by', 'start_s', 'time_s'],
    rows: point.phases.flatMap((phase) => timelineOf(phase).flatMap((p) => (p.fold
      ? [...p.fold].map(([op, time]) => row(phase, `${p.name} more layers`, op, null, p.start_s, time))
      : p.blocks.map(({ op, runs, start_s: start, time_s: time }) => row(phase, p.name, op, runs, start, time))))) };
}
