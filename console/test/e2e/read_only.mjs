// A read-only console: the command stands where the action would be.
import { begin, check, credential, finish, hub, pending, picture, stateOf } from './driver.mjs';

const { ticket, ann } = JSON.parse(credential);
const { browser, page, problems } = await begin();
await page.goto(`${hub}/console/#ticket=${ticket}`);
await stateOf(page, 'signed-in');
const call = await pending(ann, { skill: 'local/erase', arguments: { what: 'x' } });
await page.goto(`${hub}/console/#/pending/${call.question}`);
await page.waitForSelector('[data-read-only]');
await check(page, problems, 'read-only');
await picture(page, 'pending-read-only-light-1440');
const commands = await page.locator('[data-read-only] code').allInnerTexts();
const copies = await page.locator('[data-copy]').evaluateAll(all => all.map(one => one.dataset.copy));
await finish(browser, { commands, copies, question: call.question, acts: await page.locator('[data-act]').count(), problems });
