// SPDX-License-Identifier: Apache-2.0
//
// The page of sensitivities: what a metric hangs on. What it shares with other pages is in report_page.js,
// report_charts.js and row_charts.js.
//
// Data contract (<script type="application/json" id="data">, every `<` in it written \u003c):
//   title, generated_by, question, scenario   text
//   notes    [text]
//   metrics  [{name, label, unit, better: 1 when higher, -1 when lower, limited_by, low90, high90}]
//            none where the scenario does not run
//   answer   as `roofcast sensitivity --format json` prints it
'use strict';

const model = JSON.parse(byId('data').textContent);
const state = { metric: 0, printing: false };
const charts = {};
const kShown = 15;            // knobs in a chart
const kWorthShowing = 0.005;  // elasticities and shares from here on
const kResources = { compute: 0, memory: 2, network: 3, launch: 4, host: 5, power: 1 };
const kOther = 6;

const metric = () => model.metrics[state.metric];
const found = () => model.answer.metrics[metric().name];
const valueText = (value) => format(value, metric().unit, 4);
const rangeText = (low, high) => `${valueText(low)} to ${valueText(high)}`;
const signed = (value) => (isEmpty(value) ? '–' : `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`);
const colourOf = (theme, resource) => theme.series(kResources[resource] ?? kOther);
const changeOf = (knob) => (isEmpty(knob.improved) ? null : knob.improved / found().value - 1);
const nowText = (knob) => (knob.now.includes(', ') ? `${knob.now.split(', ').length} figures` : knob.now);

// The strongest first.
const ranked = () => found().elasticities.slice()
  .sort((a, b) => Math.abs(b.elasticity ?? 0) - Math.abs(a.elasticity ?? 0));
const shownKnobs = () => ranked().filter((knob) => Math.abs(knob.elasticity ?? 0) >= kWorthShowing).slice(0, kShown);

// What to mind of an elasticity.
function noteOf(knob) {
  const { elasticity, elasticity_at_half_step: half, note } = knob;
  return note || isEmpty(half) || isEmpty(elasticity) || Math.abs(half - elasticity) <= 0.02
      + 0.1 * Math.abs(elasticity)
    ? note : `not smooth: ${signed(half)} of half a step`;
}

function drawElasticities() {
  const theme = pageTheme();
  const knobs = shownKnobs();
  const { label } = metric();
  drawRows('elasticity', {
    rows: knobs.map((knob) => ({
      label: `${knob.knob}, ${nowText(knob)}`, text: signed(knob.elasticity), leftwards: knob.elasticity < 0,
      bars: [{ from: 0, to: knob.elasticity, colour: colourOf(theme, knob.resource) }],
      tip: [['Now', nowText(knob)], ['Elasticity', signed(knob.elasticity)],
          ...(knob.resource ? [['Resource', knob.resource]] : []),
        ...(noteOf(knob) ? [['Mind', noteOf(knob)]] : [])],
    })),
    axis: { name: `Percent of ${label} for one percent`, zero: 0, label: (v) => `${v > 0 ? '+' : ''}${v}` },
    finding: knobs.length === 0 ? '' : `One percent more of ${knobs[0].knob} changes ${label} by ${signed(knobs[0].elasticity)} %, the most of `
      + `${found().elasticities.length} knob${found().elasticities.length === 1 ? '' : 's'}${knobs.length > 1
        ? `; then ${knobs[1].knob}, ${signed(knobs[1].elasticity)} %` : ''}.`,
    table: { columns: ['knob', 'now', 'resource', 'elasticity', 'elasticity_at_half_step'],
      rows: knobs.map((knob) => [knob.knob, knob.now, knob.resource, knob.elasticity, knob.elasticity_at_half_step]) },
  });
}

function drawImproved() {
  const theme = pageTheme();
  const { label, better, name } = metric();
  const knobs = shownKnobs().filter((knob) => changeOf(knob) !== null);
  const { gain } = model.answer;
  const best = knobs.reduce((a, b) => (a && Math.abs(changeOf(a)) >= Math.abs(changeOf(b)) ? a : b), null);
  drawRows('improved', {
    rows: knobs.map((knob) => {
      const change = changeOf(knob);
      return { label: knob.knob, text: signedPercent(change), leftwards: change < 0,
        bars: [{ from: 0, to: change, colour: theme.series(better * change > 0 ? 2 : better * change < 0 ? 1 : 6) }],
        tip: [['Now', nowText(knob)], [label, `${valueText(found().value)} → ${valueText(knob.improved)}`],
            ['Change', signedPercent(change)]] };
    }),
    axis: { name: `Change of ${label}`, zero: 0, label: (v) =>
        `${v > 0 ? '+' : ''}${Number((100 * v).toPrecision(4))} %` },
    finding: best ? `${best.knob} ${gain} times better takes ${label} from ${valueText(found().value)} to ${valueText(best.improved)}, ${signedPercent(changeOf(best))}.` : '',
    table: { columns: ['knob', name, `improved_${name}`],
        rows: knobs.map((knob) => [knob.knob, found().value, knob.improved]) },
  });
}

function drawFreed() {
  const theme = pageTheme();
  const { label, name } = metric();
  const { value, waterfall } = found();
  byId('freed-section').hidden = waterfall.length === 0;
  const left = (step) => (step.in_order > 1e-6 * value ? step.in_order : 0);  // of what is free, nothing
  const tip = (pairs) => pairs.map(([text, time]) => [text, `${valueText(time)}, ${signedPercent(time / value - 1)}`]);
  const rows = waterfall.map((step, i) => {
    const before = i > 0 ? left(waterfall[i - 1]) : value;
    return { label: `${step.free} free`, text: valueText(left(step)), leftwards: true,
      bars: [{ from: before, to: left(step), colour: colourOf(theme, step.free) }],
      marks: [{ at: step.alone, colour: theme.text, shape: 'diamond', hollow: true }],
      tip: tip([['It alone free', step.alone], ['With all above', left(step)]]) };
  });
  const last = waterfall.length > 0 ? left(waterfall[waterfall.length - 1]) : 0;
  drawRows('freed', {
    rows: waterfall.length === 0 ? [] : [{ label: 'now', text: valueText(value),
        bars: [{ from: 0, to: value, colour: theme.series(kOther) }],
      tip: [[label, valueText(value)]] }, ...rows,
    { label: 'left with all of them free', text: valueText(last),
        bars: [{ from: 0, to: last, colour: theme.series(kOther) }], tip: tip([['Left', last]]) }],
    axis: { name: label, zero: 0, label: (v) => format(v, metric().unit) },
    finding: waterfall.length === 0 ? '' : `With ${waterfall[0].free} free ${label} would be ${valueText(waterfall[0].alone)} in place of ${valueText(value)}, `
      + `${signedPercent(waterfall[0].alone / value - 1)}; with all of them free ${valueText(last)} is left.`,
    table: { columns: ['free', `alone_${name}`, `in_order_${name}`],
      rows: [['', value, value], ...waterfall.map((step) => [step.free, step.alone, step.in_order])] },
  });
}

function drawErrors() {
  const theme = pageTheme();
  const { label, low90, high90, name } = metric();
  const errors = found().errors.filter((error) => error.share >= kWorthShowing);
  byId('errors-section').hidden = errors.length === 0;
  drawRows('errors', {
    rows: errors.map(({ source, share }) => ({ label: source, text: shareText(share),
        bars: [{ from: 0, to: share, colour: theme.series(0) }],
      tip: [['Share of the width', shareText(share)]] })),
    axis: { name: 'Share of the interval’s width', zero: 0, label: (v) => `${Math.round(100 * v)} %` },
    finding: errors.length === 0 ? '' : `${shareText(errors[0].share)} of the width comes from the error of ${errors[0].source}.`,
    table: { columns: ['source', 'share'], rows: found().errors.map((error) => [error.source, error.share]) },
  });
  const interval = (text, low, high, colour) => ({ label: text,
      bars: [{ from: low, to: high, colour: theme.series(colour), pale: true }],
    marks: [{ at: found().value, colour: theme.series(colour) }],
        tip: [[label, valueText(found().value)], ['90 % interval', rangeText(low, high)]] });
  drawRows('known', {
    rows: errors.length === 0 ? [] : [interval('as it is', low90, high90, kOther),
      ...errors.map((error) => interval(`${error.source} known`, error.low90_without, error.high90_without, 0))],
    axis: { name: label, zero: found().value, label: (v) => format(v, metric().unit) },
    finding: errors.length === 0 ? '' : `If ${errors[0].source} were known, the interval would be ${rangeText(errors[0].low90_without, errors[0].high90_without)}; it is ${rangeText(low90, high90)}.`,
    table: { columns: ['known', `low90_${name}`, `high90_${name}`],
      rows: [['', low90, high90], ...found().errors.map((error) =>
          [error.source, error.low90_without, error.high90_without])] },
  });
}

function drawVariance() {
  const { variance } = found();
  byId('variance-section').hidden = !variance;
  if (!variance) { return; }
  const theme = pageTheme();
  const { label } = metric();
  const text = (value, half) => (isEmpty(value) ? '–' : `${value.toFixed(3)} ± ${half.toFixed(3)}`);
  const out = model.answer.rows - variance.rows;
  byId('variance-text').textContent = `${label} is ${valueText(variance.mean)} on average over the ranges, ${rangeText(variance.low90, variance.high90)} nine times in ten.`
    + (out > 0 ? ` ${kPlain.format(out)} of ${kPlain.format(model.answer.rows)} rows of the sample are left out: points of them do not fit.` : '');
  const shares = variance.shares.slice().sort((a, b) => (b.total ?? 0) - (a.total ?? 0));
  const bar = (value, half, colour) => (isEmpty(value) ? []
      : [{ from: 0, to: value, colour: theme.series(colour), whisker: [value - half, value + half] }]);
  drawRows('variance', {
    rows: shares.map((share) => ({
      label: `${share.knob}, ${share.range}`, muted: isEmpty(share.total),
      text: isEmpty(share.total) ? 'not known' : `${share.first_order.toFixed(2)}, ${share.total.toFixed(2)}`,
      bars: [...bar(share.first_order, share.first_order_half_width90, 0),
          ...bar(share.total, share.total_half_width90, 1)],
      tip: [['Range', share.range], ['First order', text(share.first_order, share.first_order_half_width90)],
          ['Total', text(share.total, share.total_half_width90)]],
    })),
    axis: { name: `Share of the variance of ${label}`, zero: 0, low: 0, high: 1,
        label: (v) => String(Number(v.toFixed(3))) },
    finding: isEmpty(shares[0].total) ? 'The sample says nothing of the shares.'
      : `${shares[0].knob} has most of the variance: ${text(shares[0].first_order, shares[0].first_order_half_width90)} alone, `
        + `${text(shares[0].total, shares[0].total_half_width90)} with what it does together with others.`,
    table: { columns: ['knob', 'range', 'first_order', 'first_order_half_width90', 'total', 'total_half_width90'],
      rows: variance.shares.map((s) => [s.knob, s.range, s.first_order, s.first_order_half_width90, s.total,
          s.total_half_width90]) },
  });
}

function fillKnobs() {
  const knobs = ranked();
  const { gain } = model.answer;
  byId('knobs-section').hidden = knobs.length === 0;
  byId('improved-heading').textContent = `What each knob buys, ${gain} times better`;
  const hidden = knobs.length - shownKnobs().length;
  const sum = found().rates_less_latencies;
  byId('knobs-hint').textContent = (hidden > 0 ? `${hidden} more knobs have less effect. ` : '')
      + 'Latencies are divided where rates are multiplied.'
    + (isEmpty(sum) || metric().unit !== 's' ? '' : ` Elasticities to rates less those to latencies sum to ${signed(sum)}; −1 where no other time matters.`);
  byId('knobs-summary').textContent = knobs.length === 1 ? 'The knob as a table'
      : `All ${knobs.length} knobs as a table`;
  const cells = (knob) => [knob.knob, nowText(knob), knob.resource ?? '', signed(knob.elasticity),
    changeOf(knob) === null ? '–' : signedPercent(changeOf(knob)), noteOf(knob)];
  byId('knobs').innerHTML = `<thead><tr><th>Knob</th><th>Now</th><th>Resource</th><th class="number">Elasticity</th><th class="number">${gain} times better</th><th></th></tr></thead><tbody>`
    + knobs.map((knob) => `<tr>${cells(knob).map((text, i) => `<td${i === 3 || i === 4 ? ' class="number"' : ''}>${escapeHtml(text)}</td>`).join('')}</tr>`).join('') + '</tbody>';
  const used = Object.keys(kResources).filter((resource) => shownKnobs().some((knob) => knob.resource === resource));
  byId('resources-legend').innerHTML = keyHtml([...used.map((resource) =>
      ({ label: resource, colour: kResources[resource], shape: 'rect' })),
    ...(shownKnobs().some((knob) => !knob.resource) ? [{ label: 'neither a rate nor a latency', colour: kOther,
      shape: 'rect' }] : [])]);
}

function drawAll() {
  if (model.metrics.length > 0) {
    [drawElasticities, drawImproved, drawFreed, drawErrors, drawVariance].forEach((draw) => draw());
  }
}

function fillMetric() {
  const { label, limited_by: limit, low90, high90 } = metric();
  byId('metric-heading').textContent = label;
  const facts = [[valueText(found().value), 'forecast'],
      ...(isEmpty(low90) ? [] : [[rangeText(low90, high90), '90 % interval']]),
    ...(limit ? [[limit, 'limits it']] : [])];
  byId('counts').innerHTML = facts.map(([fact, what]) => `<li><b>${escapeHtml(fact)}</b>${what}</li>`).join('');
  fillKnobs();
  drawAll();
  const findings = ['elasticity', 'improved', 'freed'].map((name) => byId(`${name}-finding`).textContent).filter(Boolean);
  byId('answer').innerHTML = `<p>${escapeHtml(`${label} is ${facts[0][0]}${isEmpty(low90) ? '' : ` (${rangeText(low90, high90)})`}${limit
    ? `, limited by ${limit}` : ''}.`)}</p><p>${escapeHtml(findings.join(' '))}</p>`;
}

function fillPage() {
  fillHead();
  byId('notes').innerHTML = model.notes.map((note) => `<p>${escapeHtml(note)}</p>`).join('');
  byId('notes').hidden = model.notes.length === 0;
  byId('of-metric').hidden = model.metrics.length === 0;
  if (model.metrics.length === 0) { return; }
  byId('metric-select').innerHTML = model.metrics.map(({ label }, index) =>
      `<option value="${index}">${escapeHtml(label)}</option>`).join('');
  byId('metric-select').onchange = (event) => {
    state.metric = Number(event.target.value);
    fillMetric();
  };
  byId('improved-legend').innerHTML = keyHtml([{ label: 'better', colour: 2, shape: 'rect' },
      { label: 'worse', colour: 1, shape: 'rect' }]);
  byId('freed-legend').innerHTML = keyHtml([{ label: 'left with it alone free', colour: kOther, shape: 'diamond' }]);
  byId('variance-legend').innerHTML = keyHtml([{ label: 'first order', colour: 0, shape: 'rect' },
      { label: 'total', colour: 1, shape: 'rect' }]);
  setUpDownloads('elasticity', 'improved', 'freed', 'errors', 'known', 'variance');
  fillMetric();
}

setUpPage(drawAll);
fillPage();
