// SPDX-License-Identifier: Apache-2.0
//
// Pictures of the pages, for docs/gallery.md: node gallery.cjs FOLDER (scripts/gallery).
'use strict';

const path = require('node:path');
const { closeBrowser, example, openPage, roofcast } = require('./pages.cjs');

const kWidth = 1280;
const kHeight = 880;
const kMade = {
  sweep: (page) => roofcast('sweep', example('token_prices'), '--csv', 'sweep.csv', '--report', page, '--quiet'),
  simulate: (page) => roofcast('simulate', example('llama-70b'), '--set',
    'traffic.output_tokens={uniform: [200, 800]}', '--report', page),
  roadmap: (page) => roofcast('compare', example('roadmap_features'), '--report', page),
  sensitivity: (page) => roofcast('sensitivity', example('nemotron-3-super_h200'), '--report', page),
  brief: (page) => roofcast('brief', example('token_prices'), '-o', page),
};

async function main(folder) {
  for (const [name, make] of Object.entries(kMade)) {
    make(`${name}.html`);
    const { page, errors } = await openPage(`${name}.html`, { width: kWidth });
    await page.waitForTimeout(500);  // charts fade in
    if (errors.length) { throw new Error(`${name}: ${errors.join('; ')}`); }
    await page.screenshot({ path: path.join(folder, `${name}.png`), clip: { x: 0, y: 0, width: kWidth, height: kHeight } });
    await page.close();
  }
  await closeBrowser();
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
