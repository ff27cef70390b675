// A ticket of a caller who is not the Owner: the page asks first.
import { begin, check, credential, finish, hub, picture, stateOf } from './driver.mjs';

const { browser, page, problems } = await begin();
await page.goto(`${hub}/console/#ticket=${credential}`);
await page.waitForSelector('[data-sheet="confirm"]');
const asked = await page.textContent('#sheet-title');
const before = await page.getAttribute('.app', 'data-state');
await check(page, problems, 'confirm');
await picture(page, 'confirm');
await page.click('[data-sheet="confirm"] .pri');
await stateOf(page, 'signed-in');
await finish(browser, { asked, before, after: await page.textContent('[aria-labelledby="you"] dd'), problems });
