// SPDX-License-Identifier: Apache-2.0
//
// Every kind of page by the rules of axe-core: contrast, names of controls, what a keyboard reaches. Charts by their
// texts: every axis has ticks, and no label leaves its chart or lies on another. And the answer at the top of a report.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { closeBrowser, example, file, openPage, readCsv, roofcast } = require('./pages.cjs');

const kAxe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const kPages = ['sweep', 'served', 'roadmap', 'sensitivity', 'brief', 'roadmap_brief', 'comparison', 'scaling', 'validated'];

before(() => {
  roofcast('sweep', example('token_prices'), '--csv', 'sweep.csv', '--report', 'sweep.html', '--quiet');
  roofcast('simulate', example('llama-70b'), '--set', 'traffic.requests=200', '--report', 'served.html');
  roofcast('compare', example('roadmap_features'), '--report', 'roadmap.html');
  roofcast('sensitivity', example('nemotron-3-super_h200'), '--report', 'sensitivity.html');
  roofcast('brief', example('token_prices'), '--no-replay', '-o', 'brief.html');
  roofcast('brief', example('roadmap_features'), '-o', 'roadmap_brief.html');
  const changed = (name, from, to) => fs.readFileSync(example(name), 'utf8').replace(from, to);
  fs.writeFileSync(file('trtllm.yaml'), changed('llama-70b', 'stack: vllm', 'stack: trtllm'));
  fs.writeFileSync(file('new.yaml'), changed('llama70b_h200_hbm', /base: .*/, 'base: trtllm.yaml'));
  roofcast('sweep', example('llama70b_h200_hbm'), '--csv', 'old.csv', '--quiet');
  roofcast('sweep', 'new.yaml', '--csv', 'new.csv', '--quiet');
  roofcast('compare', 'old.csv', 'new.csv', '--report', 'comparison.html');
  roofcast('scale', example('llama-405b_run'), '--report', 'scaling.html');
  roofcast('calibrate', 'validate', 'requests', 
    path.join(process.env.ROOFCAST_DATA || path.join(process.env.ROOFCAST_SOURCE_DIR, 'calibrate', 'measurements'), 'requests'), '--report', 'validated.html');
});
after(closeBrowser);

// Texts of a page's charts as they are drawn: those beyond their chart, those on another, and axes without two ticks.
const faults = (page) => page.evaluate(() => Object.entries(charts).filter(([, chart]) => chart).flatMap(([name, chart]) => {
  const [width, height] = [chart.getWidth(), chart.getHeight()];
  const texts = chart.getZr().storage.getDisplayList(true)
    .filter((shape) => shape.type === 'tspan' && shape.style.text && !shape.invisible && !shape.ignore)
    .map((shape) => {
      const box = shape.getBoundingRect().clone();
      if (shape.transform) { box.applyTransform(shape.transform); }
      return { text: shape.style.text, left: box.x, top: box.y, right: box.x + box.width, bottom: box.y + box.height };
    });
  const beyond = texts.filter(({ left, top, right, bottom }) => left < -1 || top < -1 || right > width + 1 || bottom > height + 1);
  const onOthers = texts.filter((a, i) => texts.slice(i + 1).some((b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4));
  const parallel = chart.getModel().queryComponents({ mainType: 'parallelAxis' })
    .filter(({ axis }) => axis.getViewLabels().length < 2).map(({ name: axis }) => `an axis of ${axis} without ticks`);
  const cartesian = ['xAxis', 'yAxis'].flatMap((mainType) => chart.getModel().queryComponents({ mainType }))
    .filter(({ axis }) => axis.getViewLabels().length < 1).map(({ mainType }) => `${mainType} without ticks`);
  return [...beyond.map(({ text }) => `beyond: ${text}`), ...onOthers.map(({ text }) => `on another: ${text}`),
    ...parallel, ...cartesian].map((fault) => `${name}: ${fault}`);
}));

// Each width and each theme once with the other in turn is enough for the pages that share all of their parts.
const kAlike = ['scaling', 'validated', 'roadmap_brief'];

for (const name of kPages) {
  test(`${name}.html breaks no serious rule of axe-core, has ticks on every axis, and its labels in their charts`, async () => {
    for (const [width, theme] of [[1280, 'light'], [390, 'dark'], [1280, 'dark'], [390, 'light']].slice(0, kAlike.includes(name) ? 2 : 4)) {
      const { page, errors } = await openPage(`${name}.html`, { width, theme });
      await page.evaluate(kAxe);
      const { violations } = await page.evaluate(() => window.axe.run());
      const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
        .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`);
      assert.deepStrictEqual(serious, [], `${width} px, ${theme}`);
      for (const chart of await page.locator('.chart:visible').all()) {
        await chart.scrollIntoViewIfNeeded();  // it is drawn when it comes into sight
        await chart.locator('svg, canvas').first().waitFor();
      }
      if (!name.includes('brief')) { assert.deepStrictEqual(await faults(page), [], `${width} px, ${theme}`); }
      assert.deepStrictEqual(errors, []);
      await page.close();
    }
  });
}

for (const name of kPages.filter((page) => !page.includes('brief'))) {
  test(`The arrow keys reach the points of every chart of ${name}.html, and say and show them`, async () => {
    const { page, errors } = await openPage(`${name}.html`);
    for (const chart of await page.locator('.chart:visible').all()) {
      await chart.scrollIntoViewIfNeeded();
      await chart.locator('svg, canvas').first().waitFor();
      const id = await chart.getAttribute('id');
      await chart.focus();
      const said = page.locator(`#${id.replace(/-chart$/, '-reached')}`);
      const hint = await said.textContent();
      await page.keyboard.press('End');
      const last = await said.textContent();
      await page.keyboard.press('Home');
      const first = await said.textContent();
      assert.ok(first !== hint && /^.+: .+\.$/s.test(first), `${id}: ${first}`);
      const several = await chart.evaluate((element) => stopsOf(charts[element.id.replace(/-chart$/, '')]).length > 1);
      assert.ok(!several || last !== first, `${id}: ${first}`);
      const tip = await chart.locator('.tip').evaluate((element) => getComputedStyle(element).visibility !== 'hidden' && element.textContent);
      assert.ok(tip && first.includes(tip.slice(0, 3)), `${id}: ${tip}`);
    }
    assert.deepStrictEqual(errors, []);
    await page.close();
  });
}

test('A report begins with the answer, whose citations select their rows', async () => {
  const { page, errors } = await openPage('sweep.html');
  const answer = await page.textContent('#answer');
  const rows = readCsv('sweep.csv').filter((row) => row.meets === 'true' && row.cost_usd_per_mtok !== '');
  const best = rows.reduce((a, b) => (Number(a.cost_usd_per_mtok) <= Number(b.cost_usd_per_mtok) ? a : b));
  assert.ok(answer.startsWith(`${best.system}, ${best.paid} has the lowest Cost with prompts`), answer);
  for (const part of ['limited by', 'The best of each']) { assert.ok(answer.includes(part), part); }
  const cites = page.locator('#answer .cite');
  assert.strictEqual(await cites.first().textContent(), `[${Number(best.point) + 1}]`);
  for (const cite of await cites.all()) {
    await cite.click();
    const row = readCsv('sweep.csv')[Number((await cite.textContent()).slice(1, -1)) - 1];
    const selected = await page.textContent('#selection-body');
    assert.ok(selected.includes(row.system) && selected.includes(row.paid), selected.slice(0, 200));
  }
  assert.deepStrictEqual(errors, []);
  await page.close();
});

test('Citations of a brief, points of its chart and rows of its table are of the same rows', async () => {
  const { page } = await openPage('brief.html');
  const rows = readCsv('brief.csv');
  const links = await page.$$eval('main a[href^="#row-"]', (found) => found.map((link) => ({ to: link.getAttribute('href').slice(1),
    text: link.getAttribute('aria-label') || link.textContent, in: link.closest('tr') ? link.closest('tr').cells[0].textContent : '' })));
  assert.ok(links.length > 10);
  for (const link of links) {
    const row = rows[Number(link.to.slice(4)) - 1];
    assert.strictEqual(Number(/\d+/.exec(link.text)[0]), Number(link.to.slice(4)));
    const cells = await page.$$eval(`#${link.to} td`, (found) => found.map((cell) => cell.textContent));
    assert.ok(cells.includes(row.system) && cells.includes(row.paid), String(cells));
    if (link.in) { assert.strictEqual(link.in, `${row.system}, ${row.paid}`); }
    if (link.text.startsWith('row ')) { assert.ok(link.text.endsWith(`, ${row.system}, ${row.paid}`), link.text); }
  }
  await page.close();
});

test('A comparison says the best of each group before and after, and lists what moved most', async () => {
  const { page } = await openPage('comparison.html');
  const kMetric = 'throughput_tok_per_s_per_gpu';
  const best = (name) => readCsv(name).filter((row) => row.meets === 'true' && row['system.chip.hbm.bandwidth'] === 'x1')
    .reduce((most, row) => Math.max(most, Number(row[kMetric])), 0);
  const text = (value) => value.toLocaleString('en-US', { maximumFractionDigits: 0 });
  const answer = await page.textContent('#answer');
  assert.ok(answer.includes(`x1 ${text(best('old.csv'))} tok/s/GPU → ${text(best('new.csv'))} tok/s/GPU`), answer);
  const moved = await page.$$eval('#moved tbody tr', (rows) => rows.map((row) => Math.abs(parseFloat(row.lastChild.textContent.replace('−', '-')))));
  assert.ok(moved.length > 5);
  assert.deepStrictEqual(moved, moved.slice().sort((a, b) => b - a));
  await page.close();
});
