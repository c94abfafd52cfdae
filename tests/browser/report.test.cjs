// SPDX-License-Identifier: Apache-2.0
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const { after, before, test } = require('node:test');
const { closeBrowser, example, file, openPage, readCsv, roofcast, save } = require('./pages.cjs');

const kX = 'interactivity_tok_per_s_per_user';  // of the example's trade-off
const kY = 'throughput_tok_per_s_per_gpu';

before(() => {
  roofcast('sweep', example('llama70b_what_if'), '--csv', 'sweep.csv', '--report', 'sweep.html', '--quiet');
  roofcast('simulate', example('llama-70b'), '--set', 'traffic.requests=200', '--set',
    'traffic.objectives={ttft: 2 s, tpot: 30 ms}', '--report', 'served.html');
});
after(closeBrowser);

const rowsShown = async (page) => Number((await page.textContent('#table-count')).split(' ')[0]);
const points = (rows) => rows.map((row) => row.point).sort();
async function filterBy(page, text) {
  await page.fill('#filter', text);
  await page.press('#filter', 'Enter');
}
// The place of an element in the window, scrolled to where the pointer reaches all of it.
async function inView(page, selector) {
  const element = page.locator(selector);
  await element.evaluate((e) => e.scrollIntoView({ block: 'center', behavior: 'instant' }));
  return element.boundingBox();
}
// Waits until what `act` does has changed the filter.
async function changeFilter(page, act) {
  const before = await page.inputValue('#filter');
  await act();
  await page.waitForFunction((text) => byId('filter').value !== text, before);
}
// Where an element is once it no longer moves: a filter that has changed moves all that stands below.
async function restingBox(page, selector) {
  const element = page.locator(selector);
  await element.scrollIntoViewIfNeeded();
  let box = await element.boundingBox();
  for (let before = null; JSON.stringify(before) !== JSON.stringify(box);) {
    before = box;
    await page.evaluate(() => new Promise((done) => setTimeout(done, 150)));
    box = await element.boundingBox();
  }
  return box;
}
async function drag(page, from, to) {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move(...to, { steps: 6 });
  await page.mouse.up();
}

for (const name of ['sweep.html', 'served.html']) {
  test(`${name} opens without an error and is no wider than the window`, async () => {
    for (const width of [1280, 390]) {
      for (const theme of ['light', 'dark']) {
        const { page, errors } = await openPage(name, { width, theme });
        assert.deepStrictEqual(errors, []);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wider <= 0, `${wider} px too wide at ${width}`);
        for (const chart of await page.locator('.chart:visible').all()) {
          await chart.scrollIntoViewIfNeeded();  // it is drawn when it comes into sight
          await chart.locator('svg, canvas').first().waitFor();
        }
        await page.close();
      }
    }
  });

  test(`${name} on paper has pages, and none of its charts and tables goes beyond them`, async () => {
    const { page, errors } = await openPage(name);
    const paper = (await page.pdf({ format: 'A4' })).toString('latin1');
    const pages = paper.match(/\/Type\s*\/Page\b/g) || [];
    assert.ok(pages.length >= 2, `${pages.length} pages`);
    await page.setViewportSize({ width: 703, height: 900 });  // A4 less the margins
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    const beyond = await page.evaluate(() => [...document.querySelectorAll('svg, canvas, table, pre, p, li')]
      .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
      .map((e) => `${e.tagName} of ${e.closest('[id]').id}`));
    assert.deepStrictEqual([...new Set(beyond)], []);
    assert.deepStrictEqual(errors, []);
    await page.close();
  });

  test(`Every chart of ${name} is saved as CSV with rows and as PNG`, async () => {
    const { page, errors } = await openPage(name);
    const charts = await page.locator('.downloads:visible').all();
    assert.strictEqual(charts.length, await page.locator('.chart:visible, #bars, #timeline').count());
    for (const chart of charts) {
      const rows = readCsv(await save(page, chart.locator('button').nth(0)));
      assert.ok(rows.length > 0);
      const picture = fs.readFileSync(file(await save(page, chart.locator('button').nth(1))));
      assert.strictEqual(picture.toString('latin1', 1, 4), 'PNG');
      assert.ok(picture.readUInt32BE(16) > 500 && picture.readUInt32BE(20) > 200);
    }
    assert.deepStrictEqual(errors, []);
    await page.close();
  });
}

test('What is filtered is the same in the table, the charts and the files', async () => {
  const { page } = await openPage('sweep.html');
  await filterBy(page, `system=hgx_b200|hgx_h100 ${kX}>20 ttft_p50_s<0.2`);
  const wanted = readCsv('sweep.csv').filter((row) => ['hgx_b200', 'hgx_h100'].includes(row.system)
    && Number(row[kX]) > 20 && Number(row.ttft_p50_s) < 0.2);
  assert.ok(wanted.length > 10 && wanted.length < 200);
  assert.strictEqual(await rowsShown(page), wanted.length);
  assert.deepStrictEqual(points(readCsv(await save(page, page.locator('#download')))), points(wanted));
  const meeting = wanted.filter((row) => row.meets === 'true');
  for (const chart of ['pareto', 'parallel']) {
    const button = page.locator(`#${chart}-chart + .downloads button`).first();
    assert.deepStrictEqual(points(readCsv(await save(page, button))), points(meeting));
  }
  await filterBy(page, 'nothing>1');
  assert.match(await page.textContent('#table-count'), /^0 of 240 rows; no single column is called nothing/);
  await filterBy(page, 'tpot_p95<20ms');
  const fast = readCsv('sweep.csv').filter((row) => row.tpot_p95_s && Number(row.tpot_p95_s) < 0.02).length;
  assert.ok(fast > 0 && fast < 240);
  assert.strictEqual(await rowsShown(page), fast);
  await filterBy(page, 'tpot_p95<20parsec tpott_p95_s>1');
  assert.match(await page.textContent('#table-count'), /20parsec is no number of tpot_p95_s, which is in s; .*tpott_p95_s: tpot_p95_s is nearest/);
  await page.click('#filter-clear');
  assert.strictEqual(await rowsShown(page), 240);
  await page.close();
});

test('Values saved from a chart are those of the CSV', async () => {
  const { page } = await openPage('sweep.html');
  const all = new Map(readCsv('sweep.csv').map((row) => [row.point, row]));
  const saved = readCsv(await save(page, page.locator('#pareto-chart + .downloads button').first()));
  assert.ok(saved.length > 100);
  for (const row of saved) {
    for (const [column, value] of Object.entries(row)) {
      const original = all.get(row.point)[column];
      assert.ok(value === original || Number(value) === Number(original), `${column}: ${value}, ${original}`);
    }
  }
  await page.close();
});

test('An area drawn in the trade-off becomes the filter, and one of an axis joins it', async () => {
  const { page, errors } = await openPage('sweep.html');
  await page.click('#pareto-brush');
  const at = async (x, y) => {
    const box = await inView(page, '#pareto-chart');
    const [left, top] = await page.evaluate((point) => charts.pareto.convertToPixel({ gridIndex: 0 }, point),
      [x, y]);
    return [box.x + left, box.y + top];
  };
  const [from, to] = [await at(40, 1000), await at(110, 100)];
  await changeFilter(page, () => drag(page, from, to));
  const all = readCsv('sweep.csv');
  const inside = (row, low, high, column) => Number(row[column]) >= low && Number(row[column]) <= high;
  const limits = async (column) => page.evaluate((name) => filterRange(model.named.get(name)), column);
  const [x, y] = [await limits(kX), await limits(kY)];
  assert.ok(Math.abs(x[0] - 40) < 2 && Math.abs(x[1] - 110) < 2, String(x));
  assert.ok(Math.abs(y[0] - 100) < 5 && Math.abs(y[1] - 1000) < 50, String(y));
  const expected = all.filter((row) => row[kX] && inside(row, ...x, kX) && inside(row, ...y, kY));
  assert.strictEqual(await rowsShown(page), expected.length);
  await page.click('#pareto-brush');

  // The axis `system`: its upper third is hgx_b200.
  const box = await restingBox(page, '#parallel-chart');
  const kFirstAxis = 84;
  const top = 62;
  const length = box.height - top - 22;
  await changeFilter(page, () => drag(page, [box.x + kFirstAxis, box.y + top + 2],
    [box.x + kFirstAxis, box.y + top + 0.33 * length]));
  assert.match(await page.inputValue('#filter'), /system=hgx_b200$/);
  assert.strictEqual(await rowsShown(page), expected.filter((row) => row.system === 'hgx_b200').length);
  await changeFilter(page, () => page.mouse.click(box.x + kFirstAxis, box.y + top + 0.17 * length));
  assert.strictEqual(await rowsShown(page), expected.length);
  assert.deepStrictEqual(errors, []);
  await page.close();
});

test('Attainment saves, for each limit, the most throughput of the rows that keep it', async () => {
  const { page } = await openPage('sweep.html');
  const saved = readCsv(await save(page, page.locator('#attainment-chart + .downloads button').first()));
  const rows = readCsv('sweep.csv').filter((row) => row.meets === 'true');
  for (const column of ['tpot_mean_s', 'high90_tpot_mean_s']) {
    const steps = saved.filter((step) => step.limit_on === column);
    assert.ok(steps.length > 10);
    for (const step of steps) {
      const within = rows.filter((row) => row.system === step.series
        && Number(row[column]) <= Number(step.tpot_mean_s_limit)).map((row) => Number(row[kY]));
      assert.strictEqual(Number(step[kY]), Math.max(...within));
    }
  }
  await page.close();
});

test('A point tells its configuration when the pointer is over it, and is selected by a click', async () => {
  const { page } = await openPage('sweep.html');
  const row = await page.evaluate(() => model.front.lastIndexOf(true));
  const box = await inView(page, '#pareto-chart');
  const [left, top] = await page.evaluate((r) => charts.pareto.convertToPixel({ gridIndex: 0 },
    [model.rows[r][state.x.index], model.rows[r][state.y.index]]), row);
  await page.mouse.move(box.x + left, box.y + top);
  await page.waitForSelector('#pareto-chart .tip b');
  const { system, 'traffic.concurrency': clients } = readCsv('sweep.csv')[row];
  const tip = await page.textContent('#pareto-chart .tip b');
  assert.ok(tip.includes(system) && tip.includes(`concurrency ${clients}`), tip);
  await page.mouse.click(box.x + left, box.y + top);
  assert.ok((await page.textContent('#selection-body')).includes(system));
  assert.strictEqual(await page.evaluate(() => state.selected), row);
  await page.close();
});

test('Arrow keys go from point to point of the trade-off, and Enter selects', async () => {
  const { page } = await openPage('sweep.html');
  await page.focus('#pareto-chart');
  const start = await page.evaluate(() => state.selected);
  const select = async (...keys) => {
    for (const key of [...keys, 'Enter']) { await page.keyboard.press(key); }
    return page.evaluate(() => [state.x, state.y].map((c) => model.rows[state.selected][c.index]));
  };
  const [first, next] = [await select('Home'), await select('ArrowRight', 'ArrowRight')];
  assert.ok(next[0] > first[0], `${next} ${first}`);
  assert.ok((await select('ArrowUp', 'ArrowUp'))[1] > next[1]);
  assert.notStrictEqual(await page.evaluate(() => state.selected), start);
  assert.match(await page.textContent('#pareto-reached'), /: .* tok\/s/);
  await page.close();
});

test('Arrow keys choose an axis of the parallel coordinates and go from line to line along it', async () => {
  const { page, errors } = await openPage('sweep.html');
  await inView(page, '#parallel-chart');
  await page.waitForFunction(() => charts.parallel.getModel());
  await page.focus('#parallel-chart');
  const reached = () => page.textContent('#parallel-reached');
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'End']) { await page.keyboard.press(key); }
  const end = await reached();
  await page.keyboard.press('Home');
  assert.notStrictEqual(await reached(), end);
  const axis = end.slice(0, end.indexOf(': '));
  assert.ok((await reached()).startsWith(axis), await reached());
  await page.keyboard.press('ArrowLeft');
  assert.ok(!(await reached()).startsWith(axis), await reached());
  await page.keyboard.press('Enter');
  const { system } = readCsv('sweep.csv')[await page.evaluate(() => state.selected)];
  assert.ok((await reached()).includes(system));
  assert.deepStrictEqual(errors, []);
  await page.close();
});

test('The chart of a report begins in the upper half of the first screen and ends on it', async () => {
  const { page } = await openPage('sweep.html');
  const { y, height } = await page.locator('#pareto-chart').boundingBox();
  assert.ok(y < 450 && y + height <= 900, `${y} to ${y + height}`);
  await page.close();
});

test('The timeline draws the first layer by itself and says how many are folded', async () => {
  const { page } = await openPage('sweep.html');
  const saved = readCsv(await save(page, page.locator('#timeline + .downloads button').first()));
  const step = saved.filter((row) => row.configuration === saved[0].configuration && row.step === saved[0].step);
  const time = (rows) => rows.reduce((sum, row) => sum + Number(row.time_s), 0);
  const layer = time(step.filter((row) => row.part === 'layer 1'));
  const others = time(step.filter((row) => row.part === '× 79 more layers'));
  assert.ok(layer > 0 && Math.abs(others / layer - 79) < 1e-6, `${others} ${layer}`);
  assert.ok((await page.textContent('#timeline')).includes('× 79'));
  await page.close();
});

test('A column sorts the table and the saved rows both ways, and arrow keys walk through it', async () => {
  const { page } = await openPage('sweep.html');
  const head = page.locator('#table thead button[title$="[ttft_p50_s]"]');
  const saved = async () => readCsv(await save(page, page.locator('#download')))
    .map((row) => row.ttft_p50_s).filter(Boolean).map(Number);
  await head.click();
  const rising = await saved();
  assert.deepStrictEqual(rising, rising.slice().sort((a, b) => a - b));
  await head.click();
  assert.deepStrictEqual(await saved(), rising.slice().sort((a, b) => b - a));
  await page.focus('#table-scroll');
  await page.keyboard.press('ArrowDown');
  const first = await page.evaluate(() => state.order.indexOf(state.selected));
  await page.keyboard.press('ArrowDown');
  assert.strictEqual(await page.evaluate(() => state.order.indexOf(state.selected)), first + 1);
  await page.close();
});

test('The other theme is one press away', async () => {
  const { page } = await openPage('sweep.html');
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.click('#theme-toggle');
  assert.notStrictEqual(await background(), light);
  await page.close();
});
