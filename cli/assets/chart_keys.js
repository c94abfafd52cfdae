// SPDX-License-Identifier: Apache-2.0
//
// Charts by the keyboard. An arrow goes from a point to the next one along its direction, Page Up and Page Down a tenth of
// the points further, Home and End to the ends. Enter does what a click does. The tooltip of the point is shown and said.
// On parallel coordinates left and right choose the axis along which up and down go. report_page.js has setUpKeys called
// for each chart that it makes.
'use strict';

const kArrows = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [1, 1], ArrowDown: [1, -1] };
const kLeaps = { PageDown: 0.1, PageUp: -0.1, End: 1, Home: -1 };  // shares of the points
const kKeysHint = 'Arrow keys go from point to point, Home and End to the ends. Enter selects.';
const keyStarts = {};  // of a chart by name: gives the place of the point from which the first key goes on, or null

const optionOf = (chart, key) => chart.getModel().getComponent('tooltip').get(key);
const isParallel = (series) => series.subType === 'parallel';

// The points that a tooltip speaks of: {series, index, at: [x, y, …]}. Where it speaks of all series at once, those of the
// longest one.
function stopsOf(chart) {
  const all = chart.getModel().getSeries().filter((series) => !series.get('silent')).map((series) => {
    const data = series.getData();
    return Array.from({ length: data.count() }, (_, index) => {
      const item = data.getRawDataItem(index);
      return { series, index, at: [].concat(item.value || item) };
    }).filter(({ at }) => at.length > 1 && at.every(Number.isFinite));
  });
  return optionOf(chart, 'trigger') !== 'axis' ? all.flat()
    : all.reduce((longest, stops) => (stops.length > longest.length ? stops : longest), []);
}

// Stops in the order of one coordinate, then of the others.
function ordered(stops, dimension) {
  const from = (a, b) => a.at.findIndex((value, i) => value !== b.at[i]);
  return stops.slice().sort((a, b) => a.at[dimension] - b.at[dimension] || (from(a, b) < 0 ? 0
    : a.at[from(a, b)] - b.at[from(a, b)]));
}

// What the tooltip of a stop has: its HTML.
function tipOf(chart, { series, index }) {
  const params = series.getDataParams(index);
  if (optionOf(chart, 'trigger') !== 'axis') { return optionOf(chart, 'formatter')(params); }
  const beside = chart.getModel().getSeries().filter((other) => !other.get('silent') && other.getData().count() > index);
  return optionOf(chart, 'formatter')(beside.map((other) => {
    const own = other.getDataParams(index);
    return { ...own, axisValue: [].concat(own.value)[0] };
  }));
}

function tipText(html) {
  const box = document.createElement('div');
  box.innerHTML = html;
  const rows = [...box.querySelectorAll('tr')].map((row) => [...row.cells].map((cell) => cell.textContent).join(' ').trim());
  return `${box.querySelector('b').textContent}: ${rows.join(', ')}.`;
}

function showStop(chart, { series, index, at }, axis, html) {
  chart.dispatchAction({ type: 'downplay' });
  chart.dispatchAction({ type: 'highlight', seriesIndex: series.seriesIndex, dataIndex: series.getData().getRawIndex(index) });
  if (optionOf(chart, 'trigger') === 'axis') {
    chart.dispatchAction({ type: 'showTip', seriesIndex: series.seriesIndex, dataIndex: series.getData().getRawIndex(index) });
    return;
  }
  const [x, y] = isParallel(series) ? series.coordinateSystem.dataToPoint(at[axis], `dim${axis}`)
    : chart.convertToPixel({ seriesIndex: series.seriesIndex }, at);
  chart.dispatchAction({ type: 'showTip', x, y, tooltip: { formatter: () => html } });
}

function setUpKeys(name) {
  const element = byId(`${name}-chart`);
  const said = document.createElement('p');
  said.id = `${name}-reached`;
  said.className = 'reached hint no-print';
  said.setAttribute('role', 'status');
  element.before(said);
  element.setAttribute('role', 'application');
  element.setAttribute('aria-roledescription', 'chart');
  element.tabIndex = 0;
  let reached = null;  // the place of the stop
  let axis = 0;        // of parallel coordinates
  element.addEventListener('focus', () => {
    said.classList.toggle('shown', element.matches(':focus-visible'));
    said.textContent = kKeysHint;
  });
  element.addEventListener('blur', () => {
    said.classList.remove('shown');
    charts[name].dispatchAction({ type: 'hideTip' });
    charts[name].dispatchAction({ type: 'downplay' });
  });
  element.addEventListener('keydown', (event) => {
    const chart = charts[name];
    const drawn = chart.getModel() !== undefined;  // it is once it was in sight
    const stops = !drawn || event.ctrlKey || event.altKey || event.metaKey ? [] : stopsOf(chart);
    const place = reached || (keyStarts[name] ? keyStarts[name]() : null);
    const isHere = ({ at }) => place !== null && at.every((value, i) => value === place[i]);
    if (event.key === 'Enter') {
      const here = stops.find(isHere);
      if (here) { chart.trigger('click', here.series.getDataParams(here.index)); }
      return;
    }
    if (stops.length === 0 || !(event.key in kArrows || event.key in kLeaps)) { return; }
    event.preventDefault();
    const lines = isParallel(stops[0].series);
    const rows = optionOf(chart, 'trigger') === 'axis';
    let [dimension, step] = kArrows[event.key] || [0, Math.sign(kLeaps[event.key])
      * Math.max(1, Math.round(Math.abs(kLeaps[event.key]) * stops.length))];
    if (lines) {
      if (event.key in kArrows && dimension === 0) {
        axis = Math.min(Math.max(axis + step, 0), stops[0].at.length - 1);
        step = 0;
      }
      dimension = axis;
      if (chart.getOption().parallelAxis[axis].inverse) { step = -step; }
    } else if (rows) {
      if (dimension === 1) { step = -step; }
      dimension = stops[0].series.getDataParams(0).seriesType === 'custom' ? 1 : 0;
    }
    const sorted = ordered(stops, dimension);
    const from = sorted.findIndex(isHere);
    const last = sorted.length - 1;
    const stop = sorted[from >= 0 ? Math.min(Math.max(from + step, 0), last) : step > last ? last : 0];
    reached = stop.at;
    const html = tipOf(chart, stop);
    showStop(chart, stop, axis, html);
    said.textContent = (lines ? `${chart.getOption().parallelAxis[axis].name.replaceAll('\n', ' ')}: ` : '') + tipText(html);
  });
}
