// SPDX-License-Identifier: Apache-2.0
//
// The rows of a report as text: the selected one, and the table of all: sort, columns, the
// rows in sight, the printed table and the CSV. report.js owns the model and the state.
'use strict';

function fillSelection() {
  const row = state.selected;
  if (row === null) {
    byId('selection-body').innerHTML = '<p class="empty">Click a point of the chart or a row of '
      + 'the table.</p>';
    return;
  }
  const list = (kind) => model.columns.filter((c) => c.kind === kind
      && !isEmpty(model.rows[row][c.index]))
    .map((c) => `<dt title="${escapeHtml(c.description)}">${escapeHtml(c.label)}</dt>`
      + `<dd>${escapeHtml(formatFor(model.rows[row][c.index], c))}`
      + `<small>${escapeHtml(formatInterval(row, c))}</small></dd>`).join('');
  const lists = ['axis', 'metric', 'status'].map(list).filter(Boolean)
      .map((items) => `<dl>${items}</dl>`).join('');
  const note = model.points.length === 0 || model.pointOfRow.has(row) ? ''
    : `<p class="hint">Operators are stored for ${model.points.length} of the configurations, `
      + 'not for this one; the views below stay on the one named there.</p>';
  byId('selection-body').innerHTML = lists + note;
}

function refreshOrder() {
  const text = byId('filter').value;
  if (text.trim() && !state.texts) {
    state.texts = model.rows.map((row) => row.map((v) => (v === null ? ''
        : String(v))).join('\t').toLowerCase());
  }
  const passes = rowFilter(text);
  const frontOnly = byId('front-only').checked;
  state.order = model.rows.map((_, row) => row)
    .filter((row) => (!frontOnly || model.front[row]) && passes(row));
  if (state.sort) {
    const { index, numeric } = state.sort;
    const collator = new Intl.Collator('en', { numeric: true });
    const sign = state.descending ? -1 : 1;
    state.order.sort((a, b) => {
      const left = model.rows[a][index];
      const right = model.rows[b][index];
      if (isEmpty(left) || isEmpty(right)) { return isEmpty(left) - isEmpty(right) || a - b; }
      return sign * (numeric ? left - right : collator.compare(left, right)) || a - b;
    });
  }
  const total = model.rows.length;
  const [kept, swept] = [kPlain.format(total), kPlain.format(model.total_rows)];
  byId('table-count').textContent = `${kPlain.format(state.order.length)} of ${kept} rows`
    + (total < model.total_rows
      ? `; this file keeps ${kept} of the ${swept} of the sweep` : '')
    + filterProblems(text).map((problem) => `; ${problem}`).join('');
}

// The reason is long and mostly empty: it goes last.
const inTableOrder = (columns) => [...columns.filter((c) => c.name !== 'reason'),
  ...columns.filter((c) => c.name === 'reason')];

function columnWidth(column) {
  const step = Math.max(1, Math.floor(model.rows.length / 400));
  let longest = 3;
  model.rows.forEach((row, index) => {
    if (column.numeric && index % step !== 0) { return; }
    longest = Math.max(longest, formatCell(row[column.index], column).length);
  });
  const word = Math.max(...column.label.split(/(?<=[\s_.])/).map((part) => part.length),
      column.scale.unit.length);
  return Math.round(Math.min(Math.max(longest * (column.numeric ? 7.1
      : 7.8), word * 7.6), column.name === 'reason' ? 420 : 240) + 20);
}

// Names of knobs break after a dot or an underscore.
const breakable = (label) => escapeHtml(label).replace(/[._]/g, '$&<wbr>');

function drawTable() {
  const columns = state.shownColumns;
  byId('table').querySelector('colgroup').innerHTML = columns.map((c) => {
    c.width = c.width || columnWidth(c);
    return `<col style="width:${c.width}px">`;
  }).join('');
  byId('table').style.width = `${columns.reduce((sum, c) => sum + c.width, 0)}px`;
  byId('table').querySelector('thead').innerHTML = `<tr>${columns.map((c) => {
    const sorted = c === state.sort;
    const arrow = sorted ? (state.descending ? ' ▼' : ' ▲') : '';
    const unit = `${c.scale.lead}${c.scale.unit}${arrow}`;
    const direction = !sorted ? 'none' : state.descending ? 'descending' : 'ascending';
    const title = `${c.description || c.label} [${c.name}]`;
    return `<th class="${c.numeric ? 'number' : ''}" aria-sort="${direction}">`
      + `<button type="button" data-column="${c.index}" title="${escapeHtml(title)}">`
      + `${breakable(c.label)}<small>${escapeHtml(c.numeric ? unit : arrow)}</small>`
      + '</button></th>';
  }).join('')}</tr>`;
  drawRows();
}

// Only the rows in sight exist in the page.
function drawRows() {
  const scroll = byId('table-scroll');
  const first = Math.max(0, Math.floor(scroll.scrollTop / kRowHeight) - 10);
  const last = Math.min(state.order.length, first + Math.ceil((scroll.clientHeight
      || 600) / kRowHeight) + 24);
  const pad = (rows) => (rows > 0
    ? `<tr class="pad"><td colspan="${state.shownColumns.length}" `
      + `style="height:${rows * kRowHeight}px"></td></tr>` : '');
  byId('table').querySelector('tbody').innerHTML = pad(first)
      + state.order.slice(first, last).map((row) => {
    const kind = (model.unmet[row] ? ' unmet' : '') + (model.front[row] ? ' front' : '')
      + (row === state.selected ? ' selected' : '');
    return `<tr class="${kind.trim()}" data-row="${row}">`
      + `${tableCells(row, state.shownColumns)}</tr>`;
  }).join('') + pad(state.order.length - last);
}

function tableCells(row, columns) {
  return columns.map((c) => {
    const text = formatCell(model.rows[row][c.index], c);
    const title = text.length > 24 ? ` title="${escapeHtml(text)}"` : '';
    return `<td${c.numeric ? ' class="number"' : ''}${title}>${escapeHtml(text)}</td>`;
  }).join('');
}

// A page is narrower than a window: the axes, what the trade-off is of and what bounds it.
function fillPrintTable() {
  const chosen = new Set([...model.objectives.map((name) => model.named.get(name)), state.y, state.x]);
  const columns = model.columns.filter((c) => !c.constant && (c.kind === 'axis' || chosen.has(c)
    || /^limited_by_/.test(c.name)));
  const front = model.rows.map((_, row) => row).filter((row) => model.front[row]);
  const rows = front.slice(0, kPrintRows);
  byId('print-table').innerHTML = `<p>The ${kPlain.format(rows.length)} configurations on the front`
    + `${rows.length < front.length ? `, of ${kPlain.format(front.length)}` : ''}. The other columns are in the `
    + 'page and in its CSV.</p>'
    + '<table><thead><tr>'
    + columns.map((c) => `<th${c.numeric ? ' class="number"' : ''}>${breakable(c.label)} <small>${
      escapeHtml(c.numeric ? c.scale.lead + c.scale.unit : '')}</small></th>`).join('')
    + '</tr></thead><tbody>' + rows.map((row) => `<tr>${tableCells(row, columns)}</tr>`).join('')
      + '</tbody></table>';
}

function downloadCsv() {
  saveText(`${fileStem(model.title)}.csv`, csvText(model.columns.map((c) => c.name),
    state.order.map((row) => model.rows[row])));
}

// Arrow keys move the selection through the rows as they are sorted and filtered.
function moveSelection(step) {
  if (state.order.length === 0) { return; }
  const place = state.order.indexOf(state.selected);
  const next = place < 0 ? 0 : Math.min(Math.max(place + step, 0), state.order.length - 1);
  const scroll = byId('table-scroll');
  const head = byId('table').querySelector('thead').offsetHeight;
  const top = next * kRowHeight;
  const room = scroll.clientHeight - head - kRowHeight;
  if (top < scroll.scrollTop || top > scroll.scrollTop + room) {
    scroll.scrollTop = top < scroll.scrollTop ? top : top - room;
  }
  select(state.order[next]);
}

function fillColumnMenu() {
  byId('column-list').innerHTML = model.columns
      .map((c) => `<label class="check"><input type="checkbox" `
    + `data-column="${c.index}"${state.shownColumns.includes(c) ? ' checked' : ''}> `
      + `${escapeHtml(c.label)}</label>`).join('');
  byId('column-list').onchange = () => {
    const ticked = new Set([...byId('column-list').querySelectorAll(':checked')]
        .map((box) => Number(box.dataset.column)));
    state.shownColumns = inTableOrder(model.columns.filter((c) => ticked.has(c.index)));
    drawTable();
  };
}

function setUpTable() {
  state.shownColumns = inTableOrder(model.columns.filter((c) => c.name === 'fits'
    || (!c.constant && c.kind !== 'bound')));
  byId('table').querySelector('thead').onclick = (event) => {
    const button = event.target.closest('button');
    if (!button) { return; }
    const column = model.columns[Number(button.dataset.column)];
    state.descending = column === state.sort ? !state.descending : column.sign > 0;
    state.sort = column;
    refreshOrder();
    drawTable();
    byId('table').querySelector(`thead [data-column="${column.index}"]`).focus();
  };
  byId('table').querySelector('tbody').onclick = (event) => {
    const line = event.target.closest('tr[data-row]');
    if (line) { select(Number(line.dataset.row)); }
  };
  byId('table-scroll').onscroll = () => requestAnimationFrame(drawRows);
  byId('table-scroll').onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (step && event.target === byId('table-scroll')) {
      event.preventDefault();
      moveSelection(step);
    }
  };
  byId('download').onclick = downloadCsv;
  // Best first: by rank where there is one, else by the first objective.
  state.sort = model.named.get('pareto_rank') || model.named.get(model.objectives[0]) || null;
  state.descending = Boolean(state.sort && state.sort.sign > 0);
  fillColumnMenu();
}
