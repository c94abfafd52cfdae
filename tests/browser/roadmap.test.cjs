// SPDX-License-Identifier: Apache-2.0
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const { after, before, test } = require('node:test');
const { closeBrowser, example, file, openPage, readCsv, roofcast, save } = require('./pages.cjs');

const kHostile = '</script><script>throw 1</script> "quotes" & <b>bold</b> ' + 'long '.repeat(40);
const kBase = '{model: llama-3.1-8b, precision: fp8, deployment: {tensor_parallel: 1}, serving: {stack: vllm}, '
  + 'traffic: {input_tokens: 1024, output_tokens: 128, concurrency: 8}}';

before(() => {
  roofcast('compare', example('roadmap_features'), '--csv', 'roadmap.csv', '--report', 'roadmap.html');
  const name = JSON.stringify(kHostile);
  fs.writeFileSync(file('hostile.yaml'), `question: ${name}\nset: {system: hgx_h200}\nworkloads:\n  ${name}: {base: ${kBase}}\n`
    + `options:\n  ${name}: {system.chip.hbm.bandwidth: x1.2}\n`
    + Array.from({ length: 39 }, (none, i) => `  option ${i}: {system.chip.hbm.capacity: x${i < 2 ? 0.02 : 1}}\n`).join('')
    + `features:\n  ${name}: {system.chip.hbm.bandwidth: x1.2}\n  tensor: {'system.chip.tensor.*': x1.3}\n`);
  roofcast('compare', 'hostile.yaml', '--report', 'hostile.html');
  fs.writeFileSync(file('misfit.yaml'), `set: {system: hgx_h200}\nworkloads:\n  w: {base: ${kBase}}\n`
    + 'options:\n  small: {system.chip.hbm.capacity: x0.01}\n');
  roofcast('compare', 'misfit.yaml', '--report', 'misfit.html');
  roofcast('sensitivity', example('llama-70b'), '--vary', 'system.chip.hbm.bandwidth=x0.8..x2', '--vary',
    'traffic.input_tokens=500..8000', '--rows', '64', '--report', 'sensitivity.html');
});
after(closeBrowser);

for (const name of ['roadmap.html', 'hostile.html', 'misfit.html', 'sensitivity.html']) {
  test(`${name} opens without an error, is no wider than the window, and its charts say what they show`, async () => {
    for (const [width, theme] of [[1280, 'light'], [390, 'dark']]) {
      const { page, errors } = await openPage(name, { width, theme });
      assert.deepStrictEqual(errors, []);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wider <= 0, `${wider} px too wide at ${width}`);
      for (const chart of await page.locator('.chart:visible').all()) {
        assert.ok((await chart.locator('svg').count()) > 0);
        assert.match(await chart.getAttribute('aria-label'), /\.$/);
      }
      await page.close();
    }
  });

  test(`${name} on paper goes nowhere beyond it`, async () => {
    const { page, errors } = await openPage(name, { width: 703 });  // A4 less the margins
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    const beyond = await page.evaluate(() => [...document.querySelectorAll('svg, table, pre, p, li')]
      .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
      .map((e) => `${e.tagName} of ${e.closest('[id]').id}`));
    assert.deepStrictEqual([...new Set(beyond)], []);
    assert.deepStrictEqual(errors, []);
    await page.close();
  });
}

for (const [name, count] of [['roadmap.html', 5], ['sensitivity.html', 6]]) {
  test(`Every chart of ${name} is saved as CSV with rows and as PNG`, async () => {
    const { page, errors } = await openPage(name);
    const charts = await page.locator('.downloads:visible').all();
    assert.strictEqual(charts.length, count);
    for (const chart of charts) {
      assert.ok(readCsv(await save(page, chart.locator('button').nth(0))).length > 0);
      const picture = fs.readFileSync(file(await save(page, chart.locator('button').nth(1))));
      assert.strictEqual(picture.toString('latin1', 1, 4), 'PNG');
      assert.ok(picture.readUInt32BE(16) > 500 && picture.readUInt32BE(20) > 150);
    }
    assert.deepStrictEqual(errors, []);
    await page.close();
  });
}

test('Gains saved from a chart are those of the CSV', async () => {
  const { page } = await openPage('roadmap.html');
  const all = readCsv('roadmap.csv').filter((row) => row.part === 'option' && row.workload === 'portfolio');
  const saved = readCsv(await save(page, page.locator('#gains-chart + .downloads button').first()));
  assert.deepStrictEqual(saved.map((row) => row.option), all.map((row) => row.name));
  saved.forEach((row, i) => ['gain', 'low90_gain', 'high90_gain', 'tok_per_j_gain', 'tok_per_usd_gain'].forEach((column) =>
    assert.strictEqual(Number(row[column]), Number(all[i][column]))));
  await page.close();
});

test('What the page computes from the gains of workloads is what was forecast, at the weights of the roadmap', async () => {
  const { page } = await openPage('roadmap.html');
  const { worst, order } = await page.evaluate(() => {
    const weights = counted();
    const sum = weights.reduce((all, weight) => all + weight, 0);
    const again = combined(Array.from({ length: 2 ** model.features.length }, (none, s) =>
      weights.reduce((value, weight, w) => value + weight / sum * model.subsets[w][s], 0)));
    const gaps = model.options.flatMap((option) => kFigures.map((key) =>
      Math.abs(meanGain(option.workloads.map((cell) => cell[key])) - option.portfolio[key])));
    again.features.forEach((f, i) => ['alone', 'last', 'share'].forEach((key) => gaps.push(Math.abs(f[key] - model.features[i][key]))));
    again.together.forEach((gain, i) => gaps.push(Math.abs(gain - model.together[i])));
    again.pairs.forEach(([, , gain], i) => gaps.push(Math.abs(gain - model.pairs[i][2])));
    return { worst: Math.max(...gaps), order: [again.order, model.order] };
  });
  assert.ok(worst < 1e-9, `${worst}`);
  assert.deepStrictEqual(order[0], order[1]);
  await page.close();
});

test('A weight that is moved ranks anew at once, and a button takes it back', async () => {
  const { page } = await openPage('roadmap.html');
  const portfolio = () => page.textContent('#options tbody tr:first-child td:nth-child(3) b');
  const before = await portfolio();
  const said = await page.textContent('#weights-said');
  for (const slider of (await page.locator('#weights input').all()).slice(1)) { await slider.fill('0'); }
  assert.strictEqual(await portfolio(), await page.textContent('#options tbody tr:first-child td:nth-child(8) b'));
  assert.match(await page.textContent('#weights-said'), /recomputed from the gains/);
  await page.locator('#weights input').first().fill('0');
  assert.match(await page.textContent('#options-answer'), /No workload counts/);
  await page.click('#weights-reset');
  assert.strictEqual(await portfolio(), before);
  assert.strictEqual(await page.textContent('#weights-said'), said);
  await page.close();
});

test('The charts of a sensitivity follow the metric that is chosen', async () => {
  const { page } = await openPage('sensitivity.html');
  const finding = () => page.getAttribute('#elasticity-chart', 'aria-label');
  assert.match(await finding(), /changes TPOT by/);
  await page.selectOption('#metric-select', { label: 'Throughput per GPU' });
  assert.match(await finding(), /changes Throughput per GPU by/);
  assert.ok(await page.locator('#freed-section').isHidden());  // not a time
  const rows = readCsv(await save(page, page.locator('#elasticity-chart + .downloads button').first()));
  const sizes = rows.map((row) => Math.abs(Number(row.elasticity)));
  assert.deepStrictEqual(sizes, sizes.slice().sort((a, b) => b - a));
  await page.close();
});
