// SPDX-License-Identifier: Apache-2.0
//
// Every kind of page by the rules of axe-core: contrast, names of controls, what a keyboard reaches. Charts by their
// texts: every axis has ticks, and no label leaves its chart or lies on another. And the answer at the top of a report.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const { after, before, test } = require('node:test');
const { closeBrowser, example, openPage, readCsv, roofcast } = require('./pages.cjs');

const kAxe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const kPages = ['sweep', 'served', 'roadmap', 'sensitivity', 'brief', 'roadmap_brief'];

before(() => {
  roofcast('sweep', example('token_prices'), '--csv', 'sweep.csv', '--report', 'sweep.html', '--quiet');
  roofcast('simulate', example('llama-70b'), '--set', 'traffic.requests=200', '--report', 'served.html');
  roofcast('compare', example('roadmap_features'), '--report', 'roadmap.html');
  roofcast('sensitivity', example('nemotron-3-super_h200'), '--report', 'sensitivity.html');
  roofcast('brief', example('token_prices'), '--no-replay', '-o', 'brief.html');
  roofcast('brief', example('roadmap_features'), '-o', 'roadmap_brief.html');
});
after(closeBrowser);

for (const name of kPages) {
  test(`${name}.html breaks no serious rule of axe-core`, async () => {
    for (const width of [1280, 390]) {
      for (const theme of ['light', 'dark']) {
        const { page } = await openPage(`${name}.html`, { width, theme });
        await page.evaluate(kAxe);
        const { violations } = await page.evaluate(() => window.axe.run());
        const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
          .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`);
        assert.deepStrictEqual(serious, [], `${width} px, ${theme}`);
        await page.close();
      }
    }
  });
}

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

for (const name of kPages.filter((page) => !page.includes('brief'))) {
  test(`${name}.html has ticks on every axis, and its labels in their charts`, async () => {
    for (const width of [1280, 390]) {
      for (const theme of ['light', 'dark']) {
        const { page } = await openPage(`${name}.html`, { width, theme });
        for (const chart of await page.locator('.chart:visible').all()) {
          await chart.scrollIntoViewIfNeeded();  // it is drawn when it comes into sight
          await chart.locator('svg, canvas').first().waitFor();
        }
        assert.deepStrictEqual(await faults(page), [], `${width} px, ${theme}`);
        await page.close();
      }
    }
  });
}

test('A report begins with the answer, whose citations select their rows', async () => {
  const { page, errors } = await openPage('sweep.html');
  const answer = await page.textContent('#answer');
  const rows = readCsv('sweep.csv').filter((row) => row.meets === 'true' && row.cost_usd_per_mtok !== '');
  const best = rows.reduce((a, b) => (Number(a.cost_usd_per_mtok) <= Number(b.cost_usd_per_mtok) ? a : b));
  assert.ok(answer.startsWith(`${best.system}, ${best.paid} has the lowest Cost with prompts`), answer);
  for (const part of ['limited by', 'The best of each:']) { assert.ok(answer.includes(part), part); }
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
