// SPDX-License-Identifier: Apache-2.0
//
// The page of a roadmap: options over a portfolio whose weights can be turned, features by what each brings. What it
// shares with other pages is in report_page.js, report_charts.js and row_charts.js.
//
// Data contract (<script type="application/json" id="data">, every `<` in it written \u003c); a gain that is not known
// is null:
//   title, generated_by, question, scenario   text; the question may be empty
//   workloads [{name, weight, metric, label, unit, conditions: [text], base: OUTCOME}]
//   options   [{name, replay, portfolio: {gain, low90, high90, tok_per_j, tok_per_usd, replayed},
//               workloads: [OUTCOME with gain, low90, high90, tok_per_j, tok_per_usd, replayed]}]      the best first
//             OUTCOME is {value, limited_by, at, calibration, provenance, replay, replay_note} or {value: null, reason}
//             replayed: the gain in the replay; replay: "confirmed", "estimated only"
//   features  [{name, alone, last, share, takes}]   takes: of what the order is by; null by the gain alone
//   order     [index]        greedy;  together [gain] and funded [{replayed, replay}] after each of the first, which gain
//   edge_notes, replay_notes [text]
//   pairs     [[index, index, gain]]  the strongest first
//   subsets   [[ln gain]]    of each workload, by the bits of the features; empty where nothing runs without them
//   no_features              why features could not be combined; empty
'use strict';

const model = JSON.parse(byId('data').textContent);
const state = { weights: model.workloads.map((w) => w.weight), gainOf: -1, printing: false };
const charts = {};
const kFigures = ['gain', 'low90', 'high90', 'tok_per_j', 'tok_per_usd', 'replayed'];
const kWorthSaying = 0.005;  // of the ln of a gain
const kNoLoss = 1e-9;  // less is an error of rounding
const kFewLost = 0.01;  // of the largest share

const runs = (w) => model.workloads[w].base.value !== null;
const counted = () => state.weights.map((weight, w) => (runs(w) ? weight : 0));
const mostText = (gain) => (gain > 1 ? 'gains most' : 'loses least');
const untouched = () => state.weights.every((weight, w) => weight === model.workloads[w].weight);
const nameOf = (feature) => model.features[feature].name;
const shortOf = (feature) => short(nameOf(feature));
const nameHtml = (name) => `<span class="name" title="${escapeHtml(name)}">${escapeHtml(name)}</span>`;

// ---- From the gains of each workload to those of the portfolio -------------------------------

// Weighted geometric mean; null where one that counts is not known, or none counts.
function meanGain(gains) {
  const weights = counted();
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const used = gains.filter((gain, w) => weights[w] > 0);
  if (sum === 0 || used.some(isEmpty)) { return null; }
  return Math.exp(gains.reduce((all, gain, w) => all + (weights[w] > 0 ? weights[w] * Math.log(gain) : 0), 0) / sum);
}

// Options with their portfolio's figures, the best first; what has none goes last.
function rankedOptions() {
  const judged = model.options.map((option) => ({ ...option, ...(untouched() ? option.portfolio
    : Object.fromEntries(kFigures.map((key) => [key, meanGain(option.workloads.map((cell) => cell[key]))]))) }));
  return judged.sort((a, b) => (b.gain ?? 0) - (a.gain ?? 0));
}

// Of v(S) = ln of the portfolio's gain with the features of S: what each brings, order, shares, pairs.
function combined(values) {
  const n = model.features.length;
  const all = values.length - 1;
  const size = (subset) => { let count = 0; for (; subset > 0; subset >>= 1) { count += subset & 1; } return count; };
  const choose = (k) => { let ways = 1; for (let i = 1; i <= k; ++i) { ways = ways * (n - i) / i; } return ways; };
  const sharesOf = (i) => values.reduce((sum, value, s) => (s >> i & 1 ? sum
    : sum + (values[s | 1 << i] - value) / (n * choose(size(s)))), 0);
  const shares = model.features.map((f, i) => sharesOf(i));
  const ofOneSign = Math.abs(values[all]) > kNoLoss && (Math.min(...shares) >= -kFewLost * Math.max(...shares) || Math.max(...shares) <= -kFewLost * Math.min(...shares));
  const features = model.features.map((f, i) => ({ name: f.name, alone: Math.exp(values[1 << i]),
    last: Math.exp(values[all] - values[all ^ 1 << i]), share: ofOneSign ? shares[i] / values[all] : null }));
  const order = [];
  const together = [];
  for (let joined = 0; order.length < n;) {
    const worth = (i) => (values[joined | 1 << i] - (model.features[i].takes ? values[joined] : 0))
      / (model.features[i].takes || 1);
    let next = -1;
    for (let i = 0; i < n; ++i) {
      if (!(joined >> i & 1) && (next < 0 || worth(i) > worth(next))) { next = i; }
    }
    const gains = together.length === order.length && values[joined | 1 << next] - values[joined] > kNoLoss;
    joined |= 1 << next;
    order.push(next);
    if (gains) { together.push(Math.exp(values[joined])); }
  }
  const pairs = [];
  for (let i = 0; i < n; ++i) {
    for (let j = i + 1; j < n; ++j) {
      pairs.push([i, j, Math.exp(values[1 << i | 1 << j] - values[1 << i] - values[1 << j] + values[0])]);
    }
  }
  pairs.sort((a, b) => Math.abs(Math.log(b[2])) - Math.abs(Math.log(a[2])));
  return { features, order, together, pairs };
}

// null where there are none, or no workload counts.
function judgedFeatures() {
  const weights = counted();
  const sum = weights.reduce((all, weight) => all + weight, 0);
  if (model.order.length === 0 || sum === 0) { return null; }
  if (untouched()) { return model; }
  return combined(Array.from({ length: 2 ** model.features.length }, (none, s) => weights.reduce((value, weight, w) =>
    (weight > 0 ? value + weight / sum * model.subsets[w][s] : value), 0)));
}

// ---- Tables ----------------------------------------------------------------------------------

const intervalText = (of) => (isEmpty(of.low90) ? '' : `${gainText(of.low90)} to ${gainText(of.high90)}`);
const limitText = (outcome) => (outcome.value === null ? outcome.reason
  : [outcome.limited_by, outcome.at].filter(Boolean).join(', '));
const replayText = (of) => [of.replay, isEmpty(of.replayed) ? '' : gainText(of.replayed)].filter(Boolean).join(', ');

// Green where it gains, orange where it loses; the figure says it too.
function shadeOf(gain) {
  if (isEmpty(gain) || gain <= 0) { return ''; }
  const strength = Math.min(1, Math.abs(Math.log2(gain)));
  return `background: color-mix(in srgb, var(--${gain >= 1 ? 'c2' : 'c1'}) ${(45 * strength).toFixed(0)}%, transparent)`;
}

function gainCell(option, cell, w) {
  const workload = model.workloads[w];
  const title = `${option.name}, ${workload.name}: ${cell.value === null ? cell.reason
    : `${workload.label} ${format(cell.value, workload.unit, 4)}, limited by ${limitText(cell) || 'nothing told'}; without it `
      + `${format(workload.base.value, workload.unit, 4)}, limited by ${limitText(workload.base) || 'nothing told'}`}`;
  return `<td class="no-print" style="${shadeOf(cell.gain)}" title="${escapeHtml(title)}"><b>${gainText(cell.gain)}</b>`
    + `<small>${intervalText(cell)}</small><small title="${escapeHtml(cell.replay_note || '')}">${escapeHtml(replayText(cell))}</small>`
    + `<small class="limit">${escapeHtml(limitText(cell))}</small></td>`;
}

// For paper, which is narrower than the table: the cells one below the other.
function fillPrintOptions(options) {
  const line = (workload, name, cell) => `<tr><td>${escapeHtml(workload.name)}</td><td>${escapeHtml(name)}</td>`
    + [cell.value === null ? '–' : `${workload.label} ${format(cell.value, workload.unit, 4)}`, gainText(cell.gain),
      intervalText(cell), replayText(cell),
      limitText(cell)].map((text) => `<td>${escapeHtml(text)}</td>`).join('') + '</tr>';
  byId('print-options').innerHTML = '<thead><tr>' + ['Workload', 'Option', '', 'Gain', '90 %', 'Replay',
      'Limited by'].map((text) => `<th>${text}</th>`).join('')
    + '</tr></thead><tbody>' + model.workloads.map((workload, w) => line(workload, 'none of them', workload.base)
      + options.map((option) => line(workload, option.name, option.workloads[w])).join('')).join('') + '</tbody>';
}

// "memory 4, compute 2": what limits how many of the workloads.
function limitsOf(option) {
  const counts = new Map();
  option.workloads.filter((cell) => cell.value !== null && cell.limited_by)
    .forEach((cell) => counts.set(cell.limited_by, (counts.get(cell.limited_by) || 0) + 1));
  return [...counts].sort((a, b) => b[1] - a[1]).map(([limit, count]) => `${limit} ${count}`).join(', ');
}

function fillOptions(options) {
  const head = ['', 'Option', 'Portfolio', 'Tokens/J', 'Tokens/$', 'Replay',
      'Limited by'].map((text) => `<th>${text}</th>`).join('')
    + model.workloads.map((w) => `<th class="no-print">${nameHtml(w.name)}<small>${escapeHtml(w.label)}</small></th>`).join('');
  const body = options.map((option, rank) => `<tr><td class="number">${isEmpty(option.gain) ? '–' : rank + 1}</td>`
    + `<th scope="row">${nameHtml(option.name)}</th>`
    + `<td style="${shadeOf(option.gain)}"><b>${gainText(option.gain)}</b><small>${intervalText(option)}</small></td>`
    + `<td>${gainText(option.tok_per_j)}</td><td>${gainText(option.tok_per_usd)}</td>`
    + `<td>${escapeHtml(replayText(option))}</td><td>${escapeHtml(limitsOf(option))}</td>`
    + option.workloads.map((cell, w) => gainCell(option, cell, w)).join('') + '</tr>').join('');
  const base = '<tr class="base"><td></td><th scope="row">none of them</th><td>×1</td><td>×1</td><td>×1</td><td></td>'
    + `<td>${escapeHtml(limitsOf({ workloads: model.workloads.map((w) => w.base) }))}</td>`
    + model.workloads.map((w) => `<td class="no-print"><b>${escapeHtml(format(w.base.value, w.unit, 4))}</b>`
      + `<small class="limit">${escapeHtml(limitText(w.base))}</small></td>`).join('') + '</tr>';
  byId('options').innerHTML = `<thead><tr>${head}</tr></thead><tbody>${body}${base}</tbody>`;
}

function fillWeights() {
  const most = Math.max(...model.workloads.map((w) => w.weight));
  byId('weights').innerHTML = '<thead><tr><th>Workload</th><th class="no-print"></th><th class="number">Weight</th>'
    + '<th class="number">Share</th></tr></thead><tbody>' + model.workloads.map((workload, w) =>
    `<tr><td>${escapeHtml(workload.name)}<small>${escapeHtml(runs(w) ? workload.conditions.join(', ')
      : `left out: it does not run without options (${workload.base.reason})`)}</small></td><td class="no-print"><input type="range" data-workload="${w}" min="0" `
    + `max="${3 * most}" step="${most / 60}" aria-label="Weight of ${escapeHtml(workload.name)}"${runs(w) ? '' : ' disabled'}></td>`
    + `<td class="number" id="weight-${w}"></td><td class="number" id="part-${w}"></td></tr>`).join('') + '</tbody>';
}

function sayWeights() {
  const weights = counted();
  const sum = weights.reduce((all, weight) => all + weight, 0);
  model.workloads.forEach((workload, w) => {
    const input = document.querySelector(`input[data-workload="${w}"]`);
    if (input !== document.activeElement) { input.value = state.weights[w]; }
    byId(`weight-${w}`).textContent = runs(w) ? plainNumber(state.weights[w], 3) : '–';
    byId(`part-${w}`).textContent = sum > 0 ? percent(weights[w] / sum) : '–';
  });
  byId('weights-reset').disabled = untouched();
  byId('weights-said').textContent = untouched()
    ? 'Weights are the roadmap’s. Move one: ranks, gains and shares are recomputed here from the gains of each workload; nothing is forecast anew.'
    : 'Weights changed on this page: ranks, gains and shares are recomputed from the gains of each workload; nothing is forecast anew. '
      + 'A workload of weight 0 is left out.';
}

function fillFeatures(found) {
  byId('features').innerHTML = '<thead><tr><th class="number">Order</th><th>Feature</th><th class="number">Alone</th>'
    + '<th class="number">With those before</th><th>Replay</th><th class="number">On top of all others</th><th class="number">Share</th></tr></thead><tbody>'
    + found.order.map((i, place) => `<tr><td class="number">${place < found.together.length ? place + 1 : '–'}</td><td>${escapeHtml(nameOf(i))}</td>`
      + [gainText(found.features[i].alone), gainText(found.together[place])].map((text) => `<td class="number">${text}</td>`).join('')
      + `<td>${escapeHtml(replayText((found.funded ?? [])[place] ?? { replay: 'estimated only' }))}</td>`
      + [gainText(found.features[i].last), shareText(found.features[i].share)].map((text) => `<td class="number">${text}</td>`).join('')
            + '</tr>').join('') + '</tbody>';
}

// ---- Charts ----------------------------------------------------------------------------------

const gainAxis = (name) => ({ name, zero: 1, label: (v) => `×${Number(v.toPrecision(4))}` });

function drawGains(options) {
  const theme = pageTheme();
  const whole = state.gainOf < 0;
  const place = whole ? 'the portfolio' : model.workloads[state.gainOf].name;
  const rows = options.map((option) => ({ option, of: whole ? option : option.workloads[state.gainOf] }))
    .sort((a, b) => (b.of.gain ?? 0) - (a.of.gain ?? 0)).map(({ option, of }) => {
      const known = !isEmpty(of.gain);
      return {
        label: option.name, muted: !known,
        text: known ? gainText(of.gain) : 'does not run',
        bars: known ? [{ from: 1, to: of.gain, colour: theme.series(of.gain >= 1 ? 2 : 1), pale: true,
          whisker: isEmpty(of.low90) ? null : [of.low90, of.high90] }] : [],
        marks: known ? [['tok_per_j', 0, 'circle'], ['tok_per_usd', 3, 'diamond']].filter(([key]) => !isEmpty(of[key]))
          .map(([key, colour, shape]) => ({ at: of[key], colour: theme.series(colour), shape })) : [],
        tip: known ? [['Gain', gainText(of.gain)], ['90 % interval', intervalText(of) || '–'],
            ['Tokens per joule', gainText(of.tok_per_j)],
          ['Tokens per dollar', gainText(of.tok_per_usd)],
              ...(whole ? [['Limited by', limitsOf(option)]] : [['Limited by', limitText(of)]])]
          : [['Does not run', option.workloads.filter((cell) => cell.value === null).map((cell) => cell.reason)[0]
            || 'no workload counts']],
      };
    });
  const best = rows.find((row) => !row.muted);
  const anyKnown = options.some((option) => option.workloads.some((cell) => !isEmpty(cell.gain)));
  drawRows('gains', { rows: anyKnown ? rows : [], axis: gainAxis(`Gain of ${place}`),
    table: { columns: ['option', 'workload', 'gain', 'low90_gain', 'high90_gain', 'tok_per_j_gain', 'tok_per_usd_gain',
      'replayed_gain'],
      rows: options.map((option) => [option.name, whole ? 'portfolio' : place,
        ...kFigures.map((key) => (whole ? option : option.workloads[state.gainOf])[key])]) },
    finding: best ? `In ${short(place)}, ${short(best.label)} ${mostText(best.bars[0].to)}, ${best.text}${best.tip[1][1] === '–' ? '' : ` (90 %: ${best.tip[1][1]})`}; `
      + `tokens per joule ${best.tip[2][1]}, per dollar ${best.tip[3][1]}.`
        : `No option runs ${whole ? 'every workload' : short(place)}.` });
}

function orderFinding(found) {
  const { order, together } = found;
  if (together.length === 0) { return 'none: no feature gains alone.'; }
  return `${shortOf(order[0])} first, ${gainText(together[0])}` + (together.length > 1
    ? `, then ${shortOf(order[1])}, ${gainText(together[1])} together; ${together.length < order.length ? 'the first' : 'all'} ${together.length} bring ${gainText(together[together.length - 1])}.`
    : '.');
}

function drawOrder(found) {
  const theme = pageTheme();
  const total = found.together[found.together.length - 1] ?? 1;
  const funded = found.order.slice(0, found.together.length);
  const rows = funded.map((i, place) => {
    const before = place > 0 ? found.together[place - 1] : 1;
    const step = found.together[place] / before;
    return { label: `${place + 1}. ${nameOf(i)}`, text: gainText(found.together[place]),
      bars: [{ from: before, to: found.together[place], colour: theme.series(step >= 1 ? 2 : 1) }],
      tip: [['Together with those before', gainText(found.together[place])], ['This step', gainText(step)]] };
  });
  rows.push({ label: 'All together', text: gainText(total), bars: [{ from: 1, to: total, colour: theme.series(6) }],
    tip: [['Gain of all', gainText(total)]] });
  drawRows('order', { rows, axis: gainAxis('Gain of the portfolio'),
    table: { columns: ['place_in_order', 'feature', 'gain_in_order'],
        rows: funded.map((i, place) => [place + 1, nameOf(i), found.together[place]]) },
    finding: orderFinding(found) });
}

function drawAlone(found) {
  const theme = pageTheme();
  const apart = (i) => Math.abs(Math.log(found.features[i].last / found.features[i].alone));
  const rows = found.order.map((i) => {
    const { alone, last } = found.features[i];
    return { label: nameOf(i), text: `${gainText(alone)}, ${gainText(last)}`,
      marks: [{ at: alone, to: last, colour: theme.series(0) },
          { at: last, colour: theme.series(1), shape: 'diamond' }],
      tip: [['Alone', gainText(alone)], ['On top of all others', gainText(last)]] };
  });
  const most = found.order.reduce((a, b) => (apart(b) > apart(a) ? b : a));
  const { alone, last } = found.features[most];
  drawRows('alone', { rows, axis: gainAxis('Gain of the portfolio'),
    table: { columns: ['feature', 'gain', 'gain_on_top'],
        rows: found.order.map((i) => [nameOf(i), found.features[i].alone, found.features[i].last]) },
    finding: apart(most) < kWorthSaying
    ? 'Each brings about the same alone and on top of all others.'
    : `${shortOf(most)} changes most: ${gainText(alone)} alone, ${gainText(last)} on top of all others, which ${last > alone ? 'help it' : 'do some of its work'}.` });
}

function drawShares(found) {
  const theme = pageTheme();
  const ranked = found.order.slice().sort((a, b) => (found.features[b].share ?? 0) - (found.features[a].share ?? 0));
  const rows = isEmpty(found.features[ranked[0]].share) ? [] : ranked.map((i) => {
    const { share } = found.features[i];
    return { label: nameOf(i), text: shareText(share), leftwards: share < -0.0005,
      bars: [{ from: 0, to: share, colour: theme.series(share >= 0 ? 0 : 1) }],
      tip: [['Share of the gain of all', shareText(share)]] };
  });
  drawRows('shares', { rows, axis: { name: 'Share of the gain of all', zero: 0,
      label: (v) => `${Math.round(100 * v)} %` },
    table: { columns: ['feature', 'share_of_gain'], rows: ranked.map((i) => [nameOf(i), found.features[i].share]) },
    finding: rows.length === 0 ? 'There is nothing to share: all together gain nothing, or some gain and some lose.'
        : `${shortOf(ranked[0])} has ${shareText(found.features[ranked[0]].share)} of the gain of all`
      + (ranked.length > 1 ? `, ${shortOf(ranked[1])} ${shareText(found.features[ranked[1]].share)}.` : '.') });
}

function pairsFinding(found) {
  const worth = found.pairs.filter(([, , gain]) => Math.abs(Math.log(gain)) > kWorthSaying);
  const said = (pair, what) => `${shortOf(pair[0])} and ${shortOf(pair[1])} ${what}, ${gainText(pair[2])}`;
  const help = worth.find(([, , gain]) => gain > 1);
  const hinder = worth.find(([, , gain]) => gain < 1);
  const parts = [help && said(help, 'help each other most'), hinder
      && said(hinder, 'do most of the same work')].filter(Boolean);
  return parts.length ? `${parts.join('; ')}.` : 'No pair brings more or less than the product of both.';
}

// Blue with + where a pair helps, orange with − where one makes the other needless.
function drawPairs(found) {
  sayFinding('pairs', found.pairs.length, pairsFinding(found));
  tables.pairs = { columns: ['first', 'second', 'gain_beyond_product'],
      rows: found.pairs.map(([i, j, gain]) => [nameOf(i), nameOf(j), gain]) };
  if (found.pairs.length === 0) { return; }
  const theme = pageTheme();
  const n = model.features.length;
  const chart = sizedChart('pairs', Math.max(n, 3) * 36 + 44);
  const names = Math.min(200, chart.getWidth() * 0.4);
  const most = Math.max(kWorthSaying, ...found.pairs.map(([, , gain]) => Math.abs(Math.log(gain))));
  const shade = (share) => Math.round(10 + 150 * share).toString(16).padStart(2, '0');  // opacity, in hexadecimal
  const cell = (chart.getWidth() - names - 24) / n;
  const place = found.order.map((i, at) => [i, at]).sort((a, b) => a[0] - b[0]).map(([, at]) => at);
  const cells = found.pairs.flatMap(([i, j, gain]) => [[i, j], [j, i]].map(([x, y]) => ({
    value: [place[x], place[y], gain], pair: [i, j, gain],
    itemStyle: { color: theme.series(gain >= 1 ? 0 : 1) + shade(Math.abs(Math.log(gain)) / most),
        borderColor: theme.background, borderWidth: 1 },
    label: { show: cell >= 40, formatter: Math.abs(gain - 1) < 0.0005 ? '×1' : gainText(gain), color: theme.text,
        fontSize: 11.5 },
  })));
  const option = baseOption(theme);
  option.toolbox.show = false;
  option.tooltip.formatter = ({ data: { pair: [i, j, gain] } }) => tipHtml(`${nameOf(i)} and ${nameOf(j)}`,
    [[gain >= 1 ? 'Help each other' : 'Do the same work', gainText(gain)],
        ['Alone', `${gainText(found.features[i].alone)}, ${gainText(found.features[j].alone)}`]]);
  const axis = { type: 'category', axisTick: { show: false }, axisLine: { show: false }, splitArea: { show: false } };
  chart.setOption(Object.assign(option, {
    grid: { left: names + 12, right: 12, top: 6, bottom: 34 },
    xAxis: { ...axis, data: found.order.map((i, at) => String(at + 1)),
        axisLabel: { color: theme.muted, fontSize: 12, interval: 0 } },
    yAxis: { ...axis, inverse: true, data: found.order.map((i, at) => `${at + 1} ${onOneLine(nameOf(i))}`),
      axisLabel: { color: theme.text, fontSize: 12.5, interval: 0, width: names, overflow: 'truncate' } },
    series: [{ type: 'heatmap', data: cells, emphasis: { disabled: true } }],
  }), { notMerge: true });
}

// ---- The page --------------------------------------------------------------------------------

const first = (options) => options.filter((option) => !isEmpty(option.gain));

function optionsAnswer(options) {
  const [best, next] = first(options);
  if (!best) { return counted().some((weight) => weight > 0) ? 'No option can run every workload.'
      : 'No workload counts: give one a weight.'; }
  const apart = next && !isEmpty(best.low90) && best.low90 > next.high90;
  return `${short(best.name)} ${mostText(best.gain)}: ${gainText(best.gain)} over the portfolio${isEmpty(best.low90) ? '' : ` (90 %: ${intervalText(best)})`}.`
    + (next ? ` ${short(next.name)} is next with ${gainText(next.gain)}; their intervals ${apart ? 'lie apart' : 'overlap, so that their order is not certain'}.` : '');
}

function drawAll() {
  if (model.options.length > 0) { drawGains(rankedOptions()); }
  const found = judgedFeatures();
  if (found) { [drawOrder, drawAlone, drawShares, drawPairs].forEach((draw) => draw(found)); }
}

function update() {
  sayWeights();
  if (model.options.length > 0) {
    const options = rankedOptions();
    fillOptions(options);
    fillPrintOptions(options);
    byId('options-answer').textContent = optionsAnswer(options);
  }
  const found = judgedFeatures();
  byId('features-found').hidden = !found;
  if (found) { fillFeatures(found); }
  byId('order-answer').textContent = found ? `Of the features fund ${orderFinding(found)}` : '';
  byId('features-answer').hidden = Boolean(found);
  byId('features-answer').textContent = model.no_features ? `Features cannot be combined: ${model.no_features}.`
    : found ? '' : 'No workload counts: give one a weight.';
  drawAll();
}

function parameters() {
  const named = new Set([...model.workloads.map((w) => w.base), ...model.options.flatMap((option) => option.workloads)]
    .filter((outcome) => outcome.value !== null).map((outcome) => `${outcome.calibration} (${outcome.provenance})`));
  return named.size ? `Parameters: ${[...named].join(', ')}.` : '';
}

function fillPage() {
  fillHead();
  const count = (list, one) => `<li><b>${list.length}</b>${one}${list.length === 1 ? '' : 's'}</li>`;
  byId('counts').innerHTML = count(model.options, 'option') + count(model.features, 'feature')
      + count(model.workloads, 'workload');
  byId('notes').textContent = 'No workload runs without options, so that there is nothing to compare with.';
  byId('notes').hidden = model.workloads.some((none, w) => runs(w));
  byId('parameters').textContent = parameters();
  for (const [list, notes] of [['edge-notes', model.edge_notes], ['replay-notes', model.replay_notes]]) {
    byId(list).innerHTML = notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('');
  }
  byId('edges-section').hidden = model.edge_notes.length === 0;
  byId('options-section').hidden = model.options.length === 0;
  byId('features-section').hidden = model.features.length === 0 && !model.no_features;
  byId('gain-of').innerHTML = ['the portfolio', ...model.workloads.map((w) => w.name)]
    .map((name, index) => `<option value="${index - 1}">${escapeHtml(name)}</option>`).join('');
  byId('gains-legend').innerHTML = keyHtml([{ label: 'gain, with its 90 % interval', colour: 2, shape: 'rect',
      pale: true },
    { label: 'tokens per joule', colour: 0 }, { label: 'tokens per dollar', colour: 3, shape: 'diamond' }]);
  byId('alone-legend').innerHTML = keyHtml([{ label: 'alone', colour: 0 },
      { label: 'on top of all others', colour: 1, shape: 'diamond' }]);
  byId('pairs-legend').innerHTML = keyHtml([{ label: 'help each other', colour: 0, shape: 'rect' },
      { label: 'do the same work', colour: 1, shape: 'rect' }]);
  fillWeights();
  setUpDownloads('gains', 'order', 'alone', 'shares', 'pairs');
  byId('weights').oninput = (event) => {
    state.weights[Number(event.target.dataset.workload)] = Number(event.target.value);
    update();
  };
  byId('weights-reset').onclick = () => {
    state.weights = model.workloads.map((w) => w.weight);
    update();
  };
  byId('gain-of').onchange = (event) => {
    state.gainOf = Number(event.target.value);
    drawGains(rankedOptions());
  };
}

setUpPage(drawAll);
fillPage();
update();
