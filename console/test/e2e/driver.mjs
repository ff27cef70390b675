// What every script needs: a browser, a page whose problems are noted, axe, pictures, and the hub's interface as another program sees it.
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
  const problems = [];
  const page = await opened(context, problems);
  return { browser, context, page, problems };
}

// A page whose errors, violations, dialogs and foreign requests are noted. `allowed`: addresses beside the hub's.
export async function opened(context, problems, allowed = []) {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', error => problems.push(`error: ${error.message}`));
  page.on('console', message => {
    // A refused request for the session is how a page learns that nobody is signed in; a question that is over is refused, too; and
    // a script may take the network away.
    const expected = ['401', '403', '404', '409', 'ERR_INTERNET_DISCONNECTED', 'ERR_CONNECTION_REFUSED', 'ERR_CONNECTION_RESET', 'ERR_EMPTY_RESPONSE'];
    if (message.type() === 'error' && !expected.some(text => message.text().includes(text))) problems.push(`console: ${message.text()}`);
  });
  page.on('request', request => {
    if (![hub, ...allowed].some(known => request.url().startsWith(`${known}/`))) problems.push(`foreign request: ${request.url()}`);
  });
  page.on('dialog', dialog => { problems.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  return page;
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
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) problems.push(`${where} is ${wide} px too wide`);
}

export async function picture(page, name, whole = false) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: whole });
}

export async function finish(browser, seen) {
  await browser.close();
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}

// Another program that uses the hub: a caller, another approver.
export async function api(token, method, path, body) {
  const headers = { authorization: `Bearer ${token}` };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(`${hub}/api/${path}`, { method, headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, value: text === '' ? null : JSON.parse(text) };
}

// Scrolls through the whole page, as somebody who reads it.
export async function readThrough(page) {
  await page.evaluate(async () => {
    const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (let y = 0; y < document.body.scrollHeight; y += innerHeight / 2) {
      scrollTo(0, y);
      await frame();
    }
    scrollTo(0, document.body.scrollHeight);
    await frame();
  });
}

// Waits for something that can be seen, never for a time.
export async function until(what, seen) {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = await seen();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not seen: ${what}`);
    await new Promise(done => setTimeout(done, 50));
  }
}

// Starts a call and waits for its first question: its id.
export async function pending(token, body) {
  const started = await api(token, 'POST', 'tasks', body);
  if (started.status !== 202) throw new Error(JSON.stringify(started));
  const { id } = started.value;
  const task = await until(`a question of ${id}`, async () => {
    const { value } = await api(token, 'GET', `tasks/${id}`);
    return (value.questions ?? []).length > 0 ? value : undefined;
  });
  return { task: id, question: task.questions[0].id };
}

export async function ended(token, task) {
  return until(`the end of ${task}`, async () => {
    const { value } = await api(token, 'GET', `tasks/${task}`);
    return ['completed', 'failed', 'cancelled'].includes(value.state) ? value : undefined;
  });
}
