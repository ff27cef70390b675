// The console behind a proxy that ends TLS and serves the hub under a prefix; and at a hub that speaks TLS itself.
import { request as forward } from 'node:http';
import { createServer } from 'node:https';
import { begin, check, credential, finish, hub, opened, picture, stateOf, until } from './driver.mjs';

const { ticket, target, cert, key, prefix, direct } = JSON.parse(credential);
const port = Number(new URL(hub).port);
const paths = [];
// What the proxy does: pass requests on, hold those for the session, or pass them on under a name that the hub does not have.
let mode = 'hold';
const held = [];
const server = createServer({ cert, key }, (incoming, outgoing) => {
  paths.push(incoming.url);
  if (!incoming.url.startsWith(`${prefix}/`)) {
    outgoing.writeHead(404).end();
    return;
  }
  const [host, targetPort] = target.split(':');
  const pass = () => {
    const headers = mode === 'wrong' ? { ...incoming.headers, host: 'elsewhere.example' } : incoming.headers;
    const sent = forward({ host, port: Number(targetPort), method: incoming.method, path: incoming.url.slice(prefix.length), headers }, answer => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  };
  if (mode === 'hold' && incoming.url.endsWith('/api/session')) held.push(pass); else pass();
});
await new Promise(done => server.listen(port, '127.0.0.1', done));
const { browser, context, page, problems } = await begin({ ignoreHTTPSErrors: true });
const faces = {};
await page.goto(`${hub}/console/#ticket=${ticket}`);
await page.waitForSelector('[data-face="loading"][aria-busy="true"] .grey');
faces.loading = await page.locator('[data-face="loading"] .grey').count();
await until('the session is asked for', () => held.length > 0);
mode = 'pass';
held.splice(0).forEach(pass => pass());
await stateOf(page, 'signed-in');
await page.click('a[href="#/pending"]');
await page.waitForSelector('[data-view="pending"] [data-face="empty"]');
faces.empty = await page.locator('[data-face="empty"]').innerText();
// The hub refuses: what it says, and what was there before with its time.
mode = 'wrong';
await page.waitForSelector('[data-face="failed"]');
faces.failed = await page.locator('[data-face="failed"] .notice').innerText();
faces.older = await page.locator('[data-face="failed"] [data-face="empty"]').count();
await check(page, problems, 'failed');
await picture(page, 'failed-light-1440');
mode = 'pass';
// It may have tried again by itself.
await page.evaluate(() => document.querySelector('[data-face="failed"] .notice button')?.click());
await page.waitForSelector('[data-face="ready"] [data-face="empty"]');
// It does not answer: since when, and all actions are off.
mode = 'hold';
server.closeAllConnections();
await new Promise(done => server.close(done));
await page.waitForSelector('[data-face="away"]');
faces.away = await page.locator('[data-face="away"] .notice').innerText();
mode = 'pass';
await new Promise(done => server.listen(port, '127.0.0.1', done));
await page.waitForSelector('[data-face="ready"]');
await check(page, problems, 'behind a proxy');
await page.reload();
await stateOf(page, 'signed-in');
const cookie = (await context.cookies()).map(({ name, path, secure, httpOnly, sameSite }) => ({ name: name.replace(/-[^-]*$/, '-ID'), path, secure, httpOnly, sameSite }));
await page.keyboard.press('g');
await page.keyboard.press('h');
await page.click('header .btn');
await stateOf(page, 'signed-out');
faces.hidden = await page.locator('[data-face="hidden"]').innerText();
const left = (await context.cookies()).length;
const second = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-US' });
const other = await opened(second, problems, [new URL(direct).origin]);
await other.goto(direct);
await stateOf(other, 'signed-in');
const host = (await second.cookies()).map(({ name, path, secure }) => ({ name: name.replace(/-[^-]*$/, '-ID'), path, secure }));
server.close();
await finish(browser, { cookie, faces, left, host, outside: paths.filter(path => !path.startsWith(`${prefix}/`) && path !== '/favicon.ico'), problems });
