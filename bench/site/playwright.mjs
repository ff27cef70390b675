// The airline sequence by Playwright, as somebody who knows it would write it: locators that wait by themselves, and one
// evaluation for all rows.
//
//     node playwright.mjs CHROMIUM URL MODE CALLS
//
// MODE is `warm` (one page for all calls), `fresh` (a context for each), or `parallel` (the same, eight at once). One line of
// JSON at the end: the milliseconds of each call, and of all.
import { chromium } from 'playwright-core';

const [, , program, url, mode, calls] = process.argv;
const root = process.getuid?.() === 0;
const begun = performance.now();
const browser = await chromium.launch({ executablePath: program, chromiumSandbox: !root });

async function play(page) {
  await page.goto(url);
  await page.fill('#from', 'NYC');
  await page.fill('#to', 'Paris');
  await page.fill('#date', '2027-05-01');
  await page.click("button[type='submit']");
  await page.waitForSelector('.results');
  const rows = await page.$$eval('.flight-card', cards => cards.map(card => ({
    airline: card.querySelector('.airline-name')?.innerText, price: card.querySelector('.price')?.innerText, time: card.querySelector('.departure-time')?.innerText,
  })));
  if (rows[0]?.airline !== 'Air France') throw new Error(`not what was asked for: ${JSON.stringify(rows)}`);
}

async function fresh() {
  const context = await browser.newContext();
  try { await play(await context.newPage()); } finally { await context.close(); }
}

const times = [];
async function timed(work) {
  const at = performance.now();
  await work();
  times.push(performance.now() - at);
}

const count = Number(calls);
if (mode === 'warm') {
  const page = await browser.newPage();
  for (let i = 0; i < count; i++) await timed(() => play(page));
} else if (mode === 'fresh') {
  for (let i = 0; i < count; i++) await timed(fresh);
} else {
  let left = count;
  await Promise.all(Array.from({ length: 8 }, async () => { while (left-- > 0) await timed(fresh); }));
}
const all = performance.now() - begun;
await browser.close();
console.log(JSON.stringify({ times, all }));
