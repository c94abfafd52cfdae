// SPDX-License-Identifier: Apache-2.0
//
// What the pages of roofcast share: text of numbers, escaping, theme, printing. A page has
// `model` (its data, with `scenario`), `state` (with `printing`), `charts` by name, an element
// `<name>-chart` for each, `theme-toggle`, where it shows a scenario `scenario`, `scenario-details` and `copy-scenario`, and calls
// setUpPage with what draws its charts again.
'use strict';

const byId = (id) => document.getElementById(id);
const escapeHtml = (text) => String(text ?? '').replace(/[&<>"']/g,
  (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }[c]));
const isEmpty = (value) => value === null || value === undefined || value === '';

// ---- Numbers for people -------------------------------------------------------------------

const kPrefixes = [[1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'],
  [1, ''],
  [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];
const kPlain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

function plainNumber(value, digits) {
  const size = Math.abs(value);
  if (value === 0) { return '0'; }
  if (size >= 1e9 || size < 1e-4) { return value.toExponential(digits - 1); }
  if (size >= 10 ** (digits - 1)) { return kPlain.format(value); }
  if (digits < 4 && Number.isInteger(value)) { return String(value); }
  return value.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size))));
}

// The question is the heading; without one, the file's name.
function fillTitle({ title, question }) {
  document.title = question || title || 'roofcast report';
  byId('title').textContent = document.title;
  byId('title').title = title || '';
}

// How values of about this size are written: {factor, unit, lead} with value / factor unit.
function scaleOf(unit, size) {
  const base = unit.split('/')[0];
  const prefixed = (lowest, highest, threshold) => {
    const fit = kPrefixes.find(([factor]) => factor <= highest && factor >= lowest
        && size >= factor)
      || kPrefixes.find(([factor]) => factor === Math.max(lowest, 1e-9));
    return size === 0 || (size < threshold && size >= 1) ? { factor: 1, unit, lead: '' }
      : { factor: fit[0], unit: fit[1] + unit, lead: '' };
  };
  if (unit === 's' && size >= 7200) {
    return size >= 172800 ? { factor: 86400, unit: 'd', lead: '' }
        : { factor: 3600, unit: 'h', lead: '' };
  }
  if (base === 's') { return prefixed(1e-9, 1, 1); }
  if (['B', 'FLOP', 'W', 'J', 'Hz', 'bit'].includes(base)) { return prefixed(1e-9, 1e18, 1); }
  if (base === 'tok') { return prefixed(1, 1e12, 1e6); }
  if (unit === 'USD' && size >= 1e7) { return { factor: 1e6, unit: 'M', lead: '$' }; }
  if (base === 'USD') { return { factor: 1, unit: unit.slice(3), lead: '$' }; }
  if (unit === 'fraction') { return { factor: 0.01, unit: '%', lead: '' }; }
  return { factor: 1, unit: unit === '1' ? '' : unit, lead: '' };
}

function format(value, unit, digits = 3) {
  if (isEmpty(value)) { return '–'; }
  if (typeof value === 'boolean') { return value ? 'yes' : 'no'; }
  if (typeof value !== 'number') { return String(value); }
  const scale = scaleOf(unit || '', Math.abs(value));
  const tail = scale.unit.startsWith('/') || scale.unit === '' ? scale.unit : ` ${scale.unit}`;
  return `${scale.lead}${plainNumber(value / scale.factor, digits)}${tail}`;
}

function formatCell(value, column) {
  if (typeof value !== 'number' || !column.numeric) { return format(value, ''); }
  const { lead, factor } = column.scale;
  return lead + (column.integers ? kPlain.format(value) : plainNumber(value / factor, 4));
}

const formatFor = (value, column) => (column.numeric && column.integers && !isEmpty(value)
  ? `${kPlain.format(value)}${column.scale.unit ? ` ${column.scale.unit}` : ''}`
  : format(value, column.numeric ? column.unit : '', 4));
const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

// ---- Charts, theme, print, scenario -------------------------------------------------------

const kPrintSize = { width: 720, height: 400 };
const paperHeight = (element) => Number(element.dataset.paperHeight) || kPrintSize.height;

function chartOf(name, svg) {
  if (!charts[name]) {
    charts[name] = echarts.init(byId(`${name}-chart`), null, { renderer: svg ? 'svg' : 'canvas' });
    setUpKeys(name);
  }
  return charts[name];
}

// Draws anew. A tooltip that is kept over two new options would be shown in one that is gone.
function showOption(chart, option) {
  chart.dispatchAction({ type: 'hideTip' });
  chart.setOption(option, { notMerge: true });
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId('theme-toggle').textContent = theme === 'dark' ? 'Light' : 'Dark';
}

function setUpTheme(redrawCharts) {
  const current = () => document.documentElement.dataset.theme;
  setTheme(current());
  byId('theme-toggle').onclick = () => {
    setTheme(current() === 'dark' ? 'light' : 'dark');
    try { localStorage.setItem('roofcast-theme', current()); } catch (error) { /* no storage */ }
    redrawCharts();
  };
}

// Paper is light and narrower than most windows: the charts are drawn again for it.
function setUpPrint(redrawCharts) {
  let before = null;
  const drawings = () => document.querySelectorAll('.chart svg');
  const resize = (sizeOf) => Object.values(charts).filter(Boolean).forEach((chart) => {
    chart.resize(sizeOf(chart.getDom()));
  });
  addEventListener('beforeprint', () => {
    if (before) { return; }
    before = document.documentElement.dataset.theme;
    state.printing = true;
    setTheme('light');
    resize((element) => ({ width: kPrintSize.width, height: paperHeight(element) }));
    redrawCharts();
    Object.values(charts).filter(Boolean).forEach((chart) => chart.getZr().flush());
    drawings().forEach((svg) => svg.setAttribute('viewBox',
        `0 0 ${kPrintSize.width} ${paperHeight(svg.closest('.chart'))}`));
    if (byId('scenario-details')) { byId('scenario-details').open = true; }
  });
  addEventListener('afterprint', () => {
    if (!before) { return; }
    setTheme(before);
    before = null;
    state.printing = false;
    drawings().forEach((svg) => svg.removeAttribute('viewBox'));
    resize(() => ({ width: 'auto', height: 'auto' }));
    redrawCharts();
  });
}

async function copyScenario() {
  let copied = true;
  try {
    await navigator.clipboard.writeText(model.scenario);
  } catch (error) {
    getSelection().selectAllChildren(byId('scenario'));
    copied = document.execCommand('copy');
  }
  byId('copy-scenario').textContent = copied ? 'Copied' : 'Press Ctrl+C';
  setTimeout(() => { byId('copy-scenario').textContent = 'Copy'; }, 1500);
}

function setUpPage(redrawCharts) {
  setUpTheme(redrawCharts);
  setUpPrint(redrawCharts);
  if (byId('copy-scenario')) { byId('copy-scenario').onclick = copyScenario; }
  let resizeTimer = 0;
  addEventListener('resize', () => {
    clearTimeout(resizeTimer);
    resizeTimer = setTimeout(() => {
      Object.values(charts).filter(Boolean).forEach((chart) => chart.resize());
      redrawCharts();
    }, 120);
  });
}
