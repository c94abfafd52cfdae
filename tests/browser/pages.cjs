// SPDX-License-Identifier: Apache-2.0
//
// What the browser tests share: pages written by the roofcast binary, a browser, files saved from a page.
'use strict';

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { chromium } = require('playwright-core');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'roofcast-browser-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));

const example = (name) => path.join(process.env.ROOFCAST_SOURCE_DIR, 'examples', `${name}.yaml`);
const file = (name) => path.join(folder, name);
const roofcast = (...words) => execFileSync(process.env.ROOFCAST_BINARY, words, { cwd: folder, stdio: 'pipe' });

// [{column: text}]
function readCsv(name) {
  const [head, ...lines] = fs.readFileSync(file(name), 'utf8').trimEnd().split('\n').map((line) =>
    [...`${line},`.matchAll(/("(?:[^"]|"")*"|[^,]*),/g)]
      .map(([, cell]) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)));
  return lines.map((cells) => Object.fromEntries(head.map((column, i) => [column, cells[i]])));
}

let browser = null;
async function closeBrowser() {
  if (browser) { await browser.close(); }
}

// A page as a reader opens it; `errors` fills with what goes wrong in it.
async function openPage(name, { width = 1280, theme = 'light' } = {}) {
  browser = browser || await chromium.launch({ executablePath: process.env.ROOFCAST_CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'] });
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  page.setDefaultTimeout(60000);  // a busy machine is no failure
  const errors = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) { errors.push(message.text()); }
  });
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) { errors.push(`asks for ${request.url()}`); }
  });
  await page.goto(`file://${file(name)}#theme=${theme}`);
  return { page, errors };
}

// Presses what saves a file; gives the name under which it can be read. A browser that is kept waiting may take
// a press for none of the reader's, and saves nothing: pressed again.
async function save(page, locator) {
  for (let attempt = 1; ; ++attempt) {
    try {
      const [download] = await Promise.all([page.waitForEvent('download', { timeout: 15000 }), locator.click()]);
      const name = `saved-${download.suggestedFilename()}`;
      await download.saveAs(file(name));
      return name;
    } catch (error) {
      if (attempt === 3) { throw error; }
    }
  }
}

module.exports = { closeBrowser, example, file, openPage, readCsv, roofcast, save };
