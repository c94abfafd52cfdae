// SPDX-License-Identifier: Apache-2.0
//
// The filter of a report: one line of text that decides which rows the table lists and the charts draw in
// colour. An area of the trade-off and intervals of the parallel axes are written into it, so that what is
// typed and what is drawn are the same. report.js owns the model and the state.
//
// Words are separated by spaces, all of them must hold. A word is a comparison of a column (by its name, or a
// part that only one name has) with a number, a text, or several texts, `system=hgx_h100|hgx_h200`; any other
// word must occur in the row. "…" keeps spaces in a word. A number may have a unit: 20ms, 40%, 2k, 80GB.
'use strict';

const kFilterWords = /(?:[^\s"]|"[^"]*"?)+/g;

const kUnitNumber = /^([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([a-zA-Zµ%/]*)$/i;

// A number as it is typed, in the column's unit; NaN where it is none.
function typedNumber(column, text) {
  const match = kUnitNumber.exec(text.trim());
  if (!match) { return NaN; }
  const [, digits, unit] = match;
  const value = Number(digits);
  const [own] = column.unit.split('/');
  if (unit === '' || unit === column.unit || unit === own) { return value; }
  if (unit === '%') { return column.unit === 'fraction' ? value / 100 : NaN; }
  const spelled = unit.replace(/^u/, 'µ');
  const prefix = kPrefixes.find(([, letter]) => letter !== '' && ((own && spelled === letter + own) || spelled === letter + column.unit
    || ('kMGT'.includes(letter) && spelled === letter)));
  return prefix ? value * prefix[0] : NaN;
}

// The column that a word names: by its name, else the only one that begins with it, else the only one that has it.
function columnNamed(word) {
  const among = [(c) => c.name.startsWith(word), (c) => c.name.includes(word)].map((has) => model.columns.filter(has));
  return model.named.get(word) || (among.find((found) => found.length === 1) || [null])[0];
}

// [{text, column, op, wanted}]; column is null for a word that is no comparison.
function filterTerms(text) {
  return (text.match(kFilterWords) || []).map((word) => {
    const match = /^([\w.[\]-]+?)(<=|>=|!=|=|<|>)(.+)$/.exec(word.replaceAll('"', ''));
    const column = match ? columnNamed(match[1]) : null;
    return column === null ? { text: word, column }
      : { text: word, column, op: match[2],
        wanted: match[3].split('|').map((v) => (column.numeric ? typedNumber(column, v) : v.toLowerCase())) };
  });
}

function rowFilter(text) {
  const tests = filterTerms(text).map(({ text: word, column, op, wanted }) => {
    if (column === null) {
      const lower = word.replaceAll('"', '').toLowerCase();
      return (row) => state.texts[row].includes(lower);
    }
    const [first] = wanted;
    const compare = { '<': (v) => v < first, '<=': (v) => v <= first, '>': (v) => v > first,
      '>=': (v) => v >= first, '=': (v) => wanted.includes(v), '!=': (v) => !wanted.includes(v) }[op];
    return (row) => {
      const value = model.rows[row][column.index];
      return !isEmpty(value) && compare(column.numeric ? value : String(value).toLowerCase());
    };
  });
  return (row) => tests.every((test) => test(row));
}

// How many letters must be added, left out or changed to make one word of another.
function distance(a, b) {
  let above = [...Array(b.length + 1).keys()];
  for (let i = 0; i < a.length; ++i) {
    const row = [i + 1];
    for (let j = 0; j < b.length; ++j) {
      row.push(Math.min(row[j] + 1, above[j + 1] + 1, above[j] + (a[i] === b[j] ? 0 : 1)));
    }
    above = row;
  }
  return above[b.length];
}

function saidOfName(name) {
  const found = model.columns.filter((c) => c.name.includes(name)).map((c) => c.name);
  const nearest = model.columns.map((c) => [distance(name, c.name), c.name]).sort(([a], [b]) => a - b)[0][1];
  return `no single column is called ${name}: ${found.length > 0
    ? `${found.slice(0, 3).join(', ')}${found.length > 3 ? ', …' : ''} have it` : `${nearest} is nearest`}`;
}

// Why words of a filter hold in no row: names of no column or of several, and what is no number of its column.
function filterProblems(text) {
  return filterTerms(text).flatMap(({ text: word, column, wanted }) => {
    const match = /^([\w.[\]-]+?)(<|>|=|!=)/.exec(word);
    if (column === null) { return match ? [saidOfName(match[1])] : []; }
    const typed = word.replaceAll('"', '').replace(/^.*?(<=|>=|!=|=|<|>)/, '').split('|');
    return column.numeric ? typed.filter((v, i) => Number.isNaN(wanted[i])).map((v) =>
      `${v} is no number of ${column.name}${column.unit ? `, which is in ${column.unit}` : ''}`) : [];
  });
}

// What the filter says of a column: [low, high], ends that it leaves open infinite, or null for nothing.
function filterRange(column) {
  const terms = filterTerms(byId('filter').value).filter((t) => t.column === column);
  const ends = (ops) => terms.filter((t) => ops.includes(t.op)).map((t) => t.wanted[0])
    .filter((end) => !Number.isNaN(end));
  const low = Math.max(...ends(['>', '>=']), -Infinity);
  const high = Math.min(...ends(['<', '<=']), Infinity);
  return low === -Infinity && high === Infinity ? null : [low, high];
}

// The values that the filter leaves of a column, as it writes them; null for all.
function filterValues(column) {
  const term = filterTerms(byId('filter').value).find((t) => t.column === column && t.op === '=');
  return term ? term.wanted : null;
}

const filterWord = (word) => (/\s/.test(word) ? `"${word}"` : word);
const rangeWords = (column, [low, high]) => [[low, '>='], [high, '<=']]
  .filter(([end]) => Number.isFinite(end))
  .map(([end, op]) => `${column.name}${op}${Number(end.toPrecision(3))}`);
const valueWords = (column, values) => [filterWord(`${column.name}=${values.join('|')}`)];

// Replaces what the filter says of each column: `changes` are [column, words].
function setFilter(changes) {
  const columns = changes.map(([column]) => column);
  const kept = filterTerms(byId('filter').value).filter((t) => !columns.includes(t.column)
      || t.op === '!=').map((t) => t.text);
  byId('filter').value = [...kept, ...changes.flatMap(([, words]) => words)].join(' ');
  applyFilter();
}

function applyFilter() {
  byId('table-scroll').scrollTop = 0;
  refreshOrder();
  drawRows();
  drawPareto();
  drawParallel();
  drawAttainment();
}

function setUpFilter() {
  const example = (model.columns.find((c) => c.kind === 'metric' && c.better === 'lower' && c.unit === 's')
    || model.columns.find((c) => c.kind === 'metric' && c.numeric) || {}).name;
  byId('filter-help').textContent = 'Words that must all occur in a row'
    + (example ? `, or comparisons such as ${example}<${example.endsWith('_s') ? '50ms or <0.05' : '0.05'}` : '')
    + '; an area or interval drawn in a chart is written here. It holds for the charts and the table.';
  let timer = 0;
  byId('filter').oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(applyFilter, 120);
  };
  byId('filter').onchange = () => {  // Enter does not wait
    clearTimeout(timer);
    applyFilter();
  };
  byId('filter-clear').onclick = () => {
    byId('filter').value = '';
    byId('front-only').checked = false;
    applyFilter();
  };
  byId('front-only').onchange = applyFilter;
  byId('front-only').disabled = !model.front.includes(true);
}
