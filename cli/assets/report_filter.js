// SPDX-License-Identifier: Apache-2.0
//
// The filter of a report: one line of text that decides which rows the table lists and the charts draw in
// colour. An area of the trade-off and intervals of the parallel axes are written into it, so that what is
// typed and what is drawn are the same. report.js owns the model and the state.
//
// Words are separated by spaces, all of them must hold. A word is a comparison of a column (by its name, or a
// part that only one name has) with a number, a text, or several texts, `system=hgx_h100|hgx_h200`; any other
// word must occur in the row. "…" keeps spaces in a word.
'use strict';

const kFilterWords = /(?:[^\s"]|"[^"]*"?)+/g;

// [{text, column, op, wanted}]; column is null for a word that is no comparison.
function filterTerms(text) {
  return (text.match(kFilterWords) || []).map((word) => {
    const match = /^([\w.[\]-]+?)(<=|>=|!=|=|<|>)(.+)$/.exec(word.replaceAll('"', ''));
    const found = match ? model.columns.filter((c) => c.name.includes(match[1])) : [];
    const column = match ? model.named.get(match[1]) || (found.length === 1 ? found[0] : null) : null;
    return column === null ? { text: word, column }
      : { text: word, column, op: match[2],
        wanted: match[3].split('|').map((v) => (column.numeric ? Number(v) : v.toLowerCase())) };
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

// Names in words that look like comparisons, of no column or of several.
const unknownColumns = (text) => filterTerms(text).filter(({ column }) => column === null)
  .map((term) => /^([\w.[\]-]+?)(<|>|=|!=)/.exec(term.text)).filter(Boolean).map((match) => match[1]);

// What the filter says of a column: [low, high], ends that it leaves open infinite, or null for nothing.
function filterRange(column) {
  const terms = filterTerms(byId('filter').value).filter((t) => t.column === column);
  const ends = (ops) => terms.filter((t) => ops.includes(t.op)).map((t) => t.wanted[0]);
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
    + (example ? `, or comparisons in SI units such as ${example}<0.05` : '')
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
