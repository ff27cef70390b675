// What every script needs: a browser, a page whose problems are noted, axe, pictures.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [, , hubAddress, shownCredential, pictures] = process.argv;
export const hub = hubAddress;
export const credential = shownCredential;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const root = process.getuid?.() === 0;

export async function begin(options = {}) {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', chromiumSandbox: !root });
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on('pageerror', error => problems.push(`error: ${error.message}`));
  page.on('console', message => {
    // A refused request for the session is how a page learns that nobody is signed in.
    if (message.type() === 'error' && !message.text().includes('401')) problems.push(`console: ${message.text()}`);
  });
  page.on('request', request => {
    if (!request.url().startsWith(`${hub}/`)) problems.push(`foreign request: ${request.url()}`);
  });
  page.on('dialog', dialog => { problems.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  return { browser, context, page, problems };
}

export async function stateOf(page, state) {
  await page.waitForSelector(`.app[data-state="${state}"]`, { timeout: 60_000 });
}

export async function check(page, problems, where) {
  // The page's policy lets no script of ours in; the driver's own world is not bound by it.
  const session = await page.context().newCDPSession(page);
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: (await session.send('Page.getFrameTree')).frameTree.frame.id, worldName: 'axe' })
    .then(answer => ({ executionContextId: answer.executionContextId }));
  await session.send('Runtime.evaluate', { contextId: executionContextId, expression: axe });
  const { result } = await session.send('Runtime.evaluate', {
    contextId: executionContextId, awaitPromise: true, returnByValue: true,
    expression: `axe.run().then(found => found.violations.filter(it => ['serious', 'critical'].includes(it.impact)).map(it => it.id + ': ' + it.nodes.map(node => node.html).join(' | ')))`,
  });
  for (const finding of result.value ?? [`axe did not run: ${JSON.stringify(result)}`]) problems.push(`axe at ${where}: ${finding}`);
  await session.detach();
}

export async function picture(page, name) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}

export async function finish(browser, seen) {
  await browser.close();
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}
