// Nobody decides in time, on a machine whose clock is an hour behind: the countdown is the hub's.
import { begin, credential, finish, hub, pending, picture, stateOf } from './driver.mjs';

const { ticket, ann } = JSON.parse(credential);
const { browser, page, problems } = await begin();
const posted = [];
page.on('request', request => { if (request.method() === 'POST') posted.push(new URL(request.url()).pathname); });
await page.clock.install({ time: new Date(Date.now() - 3_600_000) });
await page.goto(`${hub}/console/#ticket=${ticket}`);
await stateOf(page, 'signed-in');
const late = await pending(ann, { skill: 'local/erase', arguments: { what: 'late' } });
await page.goto(`${hub}/console/#/pending/${late.question}`);
await page.waitForSelector('[data-question="open"]');
const left = Number(await page.getAttribute('[data-left]', 'data-left'));
await page.waitForSelector('[data-question="expired"]');
const ended = await page.locator('.question').innerText();
await picture(page, 'pending-expired-light-1440');
await finish(browser, { left, ended, decided: posted.filter(path => path.includes('confirmations')), off: await page.locator('[data-act][aria-disabled="false"]').count(), problems });
