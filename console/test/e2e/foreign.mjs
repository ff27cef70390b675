// A page on another port of the same host tries what a page can: fetches, forms, frames. The browser is signed in.
import { createServer } from 'node:http';
import { begin, credential, finish, hub, stateOf } from './driver.mjs';

let cookies = '';
const server = createServer((request, response) => {
  cookies += request.headers.cookie ?? '';
  response.setHeader('content-type', 'text/html');
  response.end(`<!doctype html><title>other</title><iframe id="frame" src="${hub}/console/"></iframe>`);
});
await new Promise(done => server.listen(0, '127.0.0.1', done));
const { browser, context, page } = await begin();
await page.goto(`${hub}/console/#ticket=${credential}`);
await stateOf(page, 'signed-in');
const other = await context.newPage();
await other.goto(`http://127.0.0.1:${server.address().port}/`, { waitUntil: 'load' });
const read = await other.evaluate(async hub => {
  const got = [];
  for (const [path, sent] of [
    ['/api/session', {}], ['/api/tasks', { credentials: 'include' }],
    ['/api/session', { credentials: 'include', headers: { 'interlingua-console': 'x' } }],
    ['/api/session', { method: 'DELETE', credentials: 'include' }],
    ['/api/session/tickets', { method: 'POST', credentials: 'include', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: '{}' }],
  ]) {
    try {
      const response = await fetch(hub + path, sent);
      const text = await response.text();
      if (text !== '') got.push(`${path}: ${text}`);
    } catch { /* refused by the browser or by the hub */ }
  }
  return got;
}, hub);
const frames = other.frames().filter(frame => frame !== other.mainFrame());
const framed = (await Promise.all(frames.map(frame => frame.$('.app').catch(() => null)))).some(found => found !== null);
await page.reload();
await page.waitForSelector('.app[data-state="signed-in"], .app[data-state="signed-out"]');
server.close();
await finish(browser, { cookie_was_sent: cookies.includes('interlingua-'), read, framed, still_signed_in: await page.getAttribute('.app', 'data-state') });
