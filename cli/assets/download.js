// SPDX-License-Identifier: Apache-2.0
//
// Files to save from a page: what a chart shows as CSV, the chart as PNG. A page calls addDownloads for each
// chart, once it has been made. report_page.js is loaded before this file.
'use strict';

const kPictureScale = 2;  // pixels of a PNG to one of the page
const kPictureMargin = 12;

// Text that a spreadsheet would compute gets an apostrophe, as in roofcast's own CSV (base/csv/formula.hpp).
function csvText(names, rows) {
  const isFormula = (text) => /^[=+\-@\t\r]./.test(text) && Number.isNaN(Number(text));
  const quote = (value) => {
    const plain = isEmpty(value) ? '' : String(value);
    const text = isFormula(plain.replace(/^'+/, '')) ? `'${plain}` : plain;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [names, ...rows].map((line) => line.map(quote).join(',')).join('\n') + '\n';
}

// A name that every file system takes, without its ending.
const fileStem = (...parts) => parts.filter(Boolean)
  .map((part) => part.replace(/[^\w.-]+/g, '_').slice(0, 60).toLowerCase()).join('.');

function saveBlob(name, blob) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const saveText = (name, text) => saveBlob(name, new Blob([text], { type: 'text/csv' }));

// ---- Pictures -----------------------------------------------------------------------------

// Paints what HTML below `element` has of fills, SVG paths and text, as it stands in the window.
function paintHtml(canvas, element) {
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  if (box.width === 0 || style.visibility === 'hidden'
      || element.matches('.downloads, button[aria-pressed="false"]:not(.bar-row)')) { return; }
  canvas.save();
  if (style.overflowX === 'hidden') {
    canvas.beginPath();
    canvas.rect(box.left, box.top, box.width, box.height);
    canvas.clip();
  }
  if (element.tagName === 'svg') {
    const view = element.viewBox.baseVal;
    canvas.translate(box.left, box.top);
    canvas.scale(box.width / view.width, box.height / view.height);
    element.querySelectorAll('path').forEach((path) => {
      canvas.fillStyle = getComputedStyle(path).fill;
      canvas.fill(new Path2D(path.getAttribute('d')));
    });
  } else {
    canvas.fillStyle = style.backgroundColor;
    canvas.fillRect(box.left, box.top, box.width, box.height);
    for (const child of element.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE) {
        paintHtml(canvas, child);
      } else if (child.nodeType === Node.TEXT_NODE && child.data.trim() !== '') {
        const range = document.createRange();
        range.selectNodeContents(child);
        const place = range.getBoundingClientRect();
        canvas.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        canvas.fillStyle = style.color;
        canvas.textBaseline = 'middle';
        canvas.fillText(child.data.trim(), place.left, place.top + place.height / 2);
      }
    }
  }
  canvas.restore();
}

async function imageOf(chart, background) {
  const image = new Image();
  image.src = chart.getDataURL({ type: chart.getZr().painter.getType() === 'svg' ? 'svg' : 'png',
    pixelRatio: kPictureScale, backgroundColor: background, excludeComponents: ['toolbox'] });
  await image.decode();
  return image;
}

// The chart with its legend, in the colours of the page, as a canvas.
async function pictureOf(element, chart) {
  const figure = element.closest('figure') || element;
  const legend = figure.querySelector('.legend')
      || (element.closest('section') || figure).querySelector('[data-legend]');
  const background = getComputedStyle(document.documentElement).getPropertyValue('--bg').trim();
  const drawing = chart ? await imageOf(chart, background) : null;
  const area = element.getBoundingClientRect();
  const head = legend && !element.contains(legend) ? legend.getBoundingClientRect() : { height: 0 };
  const above = head.height > 0 ? head.height + kPictureMargin : 0;
  const picture = document.createElement('canvas');
  picture.width = kPictureScale * (area.width + 2 * kPictureMargin);
  picture.height = kPictureScale * (area.height + above + 2 * kPictureMargin);
  const canvas = picture.getContext('2d');
  canvas.scale(kPictureScale, kPictureScale);
  canvas.fillStyle = background;
  canvas.fillRect(0, 0, picture.width, picture.height);
  canvas.translate(kPictureMargin, kPictureMargin);
  if (above > 0) {
    canvas.save();
    canvas.translate(-head.left, -head.top);
    paintHtml(canvas, legend);
    canvas.restore();
  }
  canvas.translate(0, above);
  if (drawing) {
    canvas.drawImage(drawing, 0, 0, area.width, area.height);
  } else {
    canvas.translate(-area.left, -area.top);
    paintHtml(canvas, element);
  }
  return picture;
}

// ---- Buttons ------------------------------------------------------------------------------

// Puts the buttons "CSV" and "PNG" below `element`, which holds a chart.
//   chart   gives the ECharts instance when asked, or null where the element is drawn in HTML
//   stem    gives the name of the files without their ending
//   table   gives {columns: [name], rows: [[value]]}: what is drawn now, in SI base units; null is an empty cell
// All three are asked when a button is pressed. A second call for an element replaces its buttons.
function addDownloads(element, chart, stem, table) {
  if (element.nextElementSibling && element.nextElementSibling.matches('.downloads')) {
    element.nextElementSibling.remove();
  }
  const what = element.getAttribute('aria-label') || 'chart';
  const bar = document.createElement('div');
  bar.className = 'downloads no-print';
  const button = (text, title, act) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = text;
    made.title = title;
    made.setAttribute('aria-label', `${title}: ${what}`);
    made.onclick = act;
    bar.append(made);
  };
  bar.append('Save ');
  button('CSV', 'Save the data as CSV', () => {
    const { columns, rows } = table();
    saveText(`${stem()}.csv`, csvText(columns, rows));
  });
  button('PNG', 'Save the picture as PNG', async () => {
    const picture = await pictureOf(element, chart());
    picture.toBlob((blob) => saveBlob(`${stem()}.png`, blob), 'image/png');
  });
  element.after(bar);
}
