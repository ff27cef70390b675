// The hub is replaced by one of another build under an open form: a line says so, and nothing is reloaded by itself.
import { writeFileSync } from 'node:fs';
import { begin, check, credential, finish, hub, pending, picture, stateOf } from './driver.mjs';

const { ticket, owner, typed } = JSON.parse(credential);
const { browser, page, problems } = await begin();
let loads = 0;
page.on('load', () => { loads += 1; });
await page.goto(`${hub}/console/#ticket=${ticket}`);
await stateOf(page, 'signed-in');
const asked = await pending(owner, { words: 'erase something' });
await page.goto(`${hub}/console/#/pending/${asked.question}`);
await page.waitForSelector('[data-question="open"]');
await page.fill('[data-field="/what"] input', 'half a sentence');
const before = loads;
const was = await page.locator('[data-updated]').count();
writeFileSync(typed, '');
await page.waitForSelector('[data-updated]', { timeout: 120_000 });
await stateOf(page, 'signed-in');
await check(page, problems, 'updated');
await picture(page, 'updated-light-1440');
const kept = await page.inputValue('[data-field="/what"] input');
const reloads = loads - before;
await page.click('[data-updated] button');
await page.waitForSelector('[data-question="open"]');
await finish(browser, { was, kept, reloads, after: await page.locator('[data-updated]').count(), problems });
