// A call waits and is decided: by pointer, by keyboard, elsewhere, in another tab; alone and several; in both themes and languages.
import { api, begin, check, credential, ended, finish, hub, opened, pending, picture, readThrough, stateOf, until } from './driver.mjs';

const { ticket, owner, ann, boss } = JSON.parse(credential);
const { browser, context, page, problems } = await begin({ timezoneId: 'Asia/Tokyo' });
const seen = {};
const posted = [];
page.on('request', request => { if (request.method() !== 'GET') posted.push(new URL(request.url()).pathname); });
const erase = what => ({ skill: 'local/erase', arguments: { what } });
const row = id => `[data-row="${id}"]`;
const armed = '[data-act="approve"][aria-disabled="false"]';
const text = selector => page.locator(selector).innerText();
const ready = async (where = page) => {
  await where.waitForSelector('[data-question="open"]');
  await readThrough(where);
  await where.waitForSelector(armed);
};
// Takes pointer and focus away from the list.
const free = async () => {
  await page.mouse.move(5, 5);
  await page.evaluate(() => document.activeElement?.blur());
};
// Presses Approve in the moment in which it appears for the first time.
await page.addInitScript(() => {
  const observer = new MutationObserver(() => {
    const button = document.querySelector('[data-act="approve"]');
    if (button === null) return;
    observer.disconnect();
    window.offAtFirst = button.getAttribute('aria-disabled');
    button.click();
  });
  observer.observe(document, { childList: true, subtree: true });
});

// Empty, and how one gets there by keys.
await page.goto(`${hub}/console/#ticket=${ticket}`);
await stateOf(page, 'signed-in');
await page.keyboard.press('g');
await page.keyboard.press('p');
await page.waitForSelector('[data-view="pending"] [data-face="empty"]');
seen.address = new URL(page.url()).hash;
await check(page, problems, 'empty');
await picture(page, 'pending-empty-light-1440');

// A call appears wherever one is; its digits and keys are as they were written.
await page.keyboard.press('g');
await page.keyboard.press('h');
await page.waitForSelector('[data-view="hub"]');
const written = '{"price":1.10,"long":12345678901234567890123,"2":"two","1":"one","__proto__":{"x":1},"what":"a note","deep":[[],{},[null,true]]}';
const first = await pending(ann, `{"skill":"local/erase","arguments":${written}}`);
await page.waitForSelector('[data-badge="1"]');
seen.document_title = await page.title();
await until('it is spoken', async () => (await text('[data-spoken]')).includes('1 approval pending'));
await page.click('a[href="#/pending"]');
await page.click(`${row(first.question)} a`);
await page.waitForSelector('[data-question="open"]');
seen.off_at_first = await page.evaluate(() => window.offAtFirst);
await ready();
seen.sent_too_early = posted.filter(path => path.includes('confirmations'));
seen.asked = await page.locator('.question time').first().getAttribute('datetime');
seen.local = await page.locator('.question time').first().innerText();
await page.keyboard.press('g');
await page.keyboard.press('s');
await page.click('input[value="utc"]');
await page.goBack();
await ready();
seen.utc = await page.locator('.question time').first().innerText();
seen.lines = await page.locator('[aria-labelledby="arguments"] .line').allInnerTexts();
seen.shown = await text('.question');
seen.digest = await text('[data-digest]');
seen.hub_digest = (await api(boss, 'GET', `questions/${first.question}`)).value.call;
seen.copies = await page.locator('[data-copy]').evaluateAll(all => all.map(one => one.dataset.copy));
await check(page, problems, 'open');
await picture(page, 'pending-open-light-1440', true);
// Moved on the screen: off again for a second, and the press that was meant for what stood there does nothing.
seen.off_after_move = await page.evaluate(async () => {
  const moved = Object.assign(document.createElement('div'), { textContent: 'moved', className: 'card' });
  document.querySelector('.question').before(moved);
  const button = document.querySelector('[data-act="approve"]');
  button.click();
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const off = button.getAttribute('aria-disabled');
  moved.remove();
  return off;
});
seen.sent_after_move = posted.filter(path => path.includes('confirmations'));
await ready();
await page.click(armed);
await page.waitForSelector('[data-ended="approved"]');
seen.approved = await text('[data-ended]');
seen.first = (await ended(ann, first.task)).state;
await picture(page, 'pending-approved-light-1440');

// The same skill again: what differs from the last approval. Denied by keyboard alone.
const again = await pending(ann, `{"skill":"local/erase","arguments":${written.replace('a note', 'everything').replace('1.10', '1.1')}}`);
await free();
await page.waitForSelector(row(again.question));
await page.keyboard.press('j');
await page.keyboard.press('Enter');
await page.waitForSelector('[data-question="open"]');
seen.difference = await page.locator('[data-last="again"] .line').allInnerTexts();
await page.waitForSelector('[data-act="deny"][aria-disabled="false"]');
await page.keyboard.press('n');
[seen.focused, seen.off_after_focus] = await page.evaluate(async () => {
  const focused = document.activeElement.dataset.act;
  document.activeElement.blur();
  document.querySelector(`[data-act="${focused}"]`).focus();
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return [focused, document.activeElement.getAttribute('aria-disabled')];
});
await page.waitForSelector('[data-act="deny"][aria-disabled="false"]');
await picture(page, 'pending-difference-light-1440', true);
await page.keyboard.press('Enter');
await page.waitForSelector('[data-ended="declined"]');
seen.second = (await ended(ann, again.task)).state;
await page.keyboard.press('Escape');
await page.waitForSelector('[data-view="pending"]:not(:has(.question))');

// Decided elsewhere while it is open here: nothing is sent, and the page says who it was.
await free();
const elsewhere = await pending(ann, erase('elsewhere'));
await page.click(`${row(elsewhere.question)} a`);
await ready();
const before = posted.length;
await api(boss, 'POST', `confirmations/${elsewhere.question}`, { approve: false });
await page.waitForSelector('[data-ended="declined"]');
seen.elsewhere = await text('[data-ended]');
seen.sent_elsewhere = posted.length - before;

// Decided in another tab of the same browser.
const tabbed = await pending(ann, erase('in another tab'));
await page.goto(`${hub}/console/#/pending/${tabbed.question}`);
await page.waitForSelector('[data-question="open"]');
const other = await opened(context, problems);
await other.goto(`${hub}/console/#/pending/${tabbed.question}`);
await ready(other);
await other.click(armed);
await other.waitForSelector('[data-ended="approved"]');
await page.bringToFront();
await page.waitForSelector('[data-ended="approved"]');
await other.close();

// A list under a hand does not move; what is new waits.
const [one, two] = [await pending(ann, erase('one')), await pending(ann, erase('two'))];
await page.goto(`${hub}/console/#/pending`);
await free();
await page.waitForSelector(row(two.question));
await page.hover(`${row(one.question)} a`);
const rows = () => page.locator('[data-row]').evaluateAll(all => all.map(it => it.dataset.row));
const held = await rows();
const three = await pending(ann, erase('three'));
await api(boss, 'POST', `confirmations/${one.question}`, { approve: false });
await page.waitForSelector('[data-fresh="1"]');
await page.waitForSelector(`${row(one.question)}[data-gone="true"]`);
seen.held = JSON.stringify(await rows()) === JSON.stringify(held);
await picture(page, 'pending-held-light-1440');
await page.click('[data-fresh]');
await page.waitForSelector(row(three.question));
seen.released = (await rows()).sort().join() === [two.question, three.question].sort().join();

// Several are only declined, each for itself; there is no approval of several.
await free();
await page.focus(`${row(two.question)} a`);
await page.keyboard.press('x');
await page.keyboard.press('j');
await page.keyboard.press('x');
await until('both are chosen', async () => (await page.locator('[data-row] input:checked').count()) === 2);
seen.acts_for_several = await page.locator('[data-act]').evaluateAll(all => all.map(it => it.dataset.act));
await check(page, problems, 'chosen');
await page.click('[data-act="decline-chosen"]');
seen.declined = [(await ended(ann, two.task)).state, (await ended(ann, three.task)).state];
await free();
await page.waitForSelector('[data-face="empty"]');

// An agent's call asks twice, of its caller and of the approvers: one row, and one answer settles both.
const run = await api(owner, 'POST', 'tasks', { skill: 'helper/chat', text: 'tidy up' });
await until('both are open', async () => (await api(owner, 'GET', 'questions')).value.items.length === 2);
await page.waitForSelector('[data-row]');
seen.twin_rows = (await rows()).length;
await page.click('[data-row] a');
await ready();
seen.twin_shown = await text('.question');
await picture(page, 'pending-agent-light-1440', true);
await page.click(armed);
await page.waitForSelector('[data-ended="approved"]');
seen.twin_ended = (await ended(owner, run.value.id)).state;
const twice = await api(owner, 'POST', 'tasks', { skill: 'helper/chat', text: 'tidy up' });
const both = await until('both are open', async () => { const { items } = (await api(owner, 'GET', 'questions')).value; return items.length === 2 ? items : undefined; });
const ofRun = both.find(item => item.asked_by !== 'hub');
await page.goto(`${hub}/console/#/pending/${ofRun.id}`);
await page.waitForSelector('[data-question="open"]');
await api(boss, 'POST', `confirmations/${ofRun.twin}`, { approve: true });
await page.waitForSelector('.question:not([data-question="open"])');
seen.twin_elsewhere = await text('[data-ended]');
await ended(owner, twice.value.id);

// The hub does not answer: said with its time, and every action is off.
const away = await pending(ann, erase('while away'));
await page.goto(`${hub}/console/#/pending/${away.question}`);
await ready();
await context.setOffline(true);
await page.waitForSelector('[data-face="away"]');
seen.off_while_away = await page.getAttribute('[data-act="approve"]', 'aria-disabled');
await picture(page, 'pending-away-light-1440');
await context.setOffline(false);
await stateOf(page, 'signed-in');
await ready();

// The same view in every theme and language, on a telephone and beside a list.
await page.evaluate(() => { localStorage.setItem('language', 'es'); localStorage.setItem('theme', 'dark'); });
await page.reload();
for (const [width, height] of [[390, 844], [768, 900], [1440, 900]]) {
  await page.setViewportSize({ width, height });
  await page.waitForSelector('[data-question="open"]');
  await check(page, problems, `es dark ${width}`);
  await picture(page, `pending-open-es-dark-${width}`, true);
  await page.goto(`${hub}/console/#/pending`);
  await page.waitForSelector(row(away.question));
  await check(page, problems, `list es dark ${width}`);
  await picture(page, `pending-list-es-dark-${width}`);
  await page.goto(`${hub}/console/#/pending/${away.question}`);
}
await page.setViewportSize({ width: 390, height: 844 });
await page.waitForSelector('[data-question="open"]');
seen.list_hidden_on_telephone = !(await page.locator('.rows').isVisible());
await ready();
await page.click(armed);
await page.waitForSelector('[data-ended="approved"]');
seen.spanish = await text('[data-ended]');

// Filter and selection are in the address: another browser that opens it shows the same.
await page.setViewportSize({ width: 1440, height: 900 });
const mine = await pending(ann, erase('not mine'));
await page.goto(`${hub}/console/#/pending/${mine.question}?of=mine`);
await page.waitForSelector('[data-question="open"]');
seen.mine = [await rows(), await page.getAttribute('[data-filter="mine"]', 'aria-pressed')];
await page.reload();
await page.waitForSelector('[data-question="open"]');
seen.reloaded = [await rows(), await page.getAttribute('[data-filter="mine"]', 'aria-pressed')];
await page.click('[data-filter="all"]');
await page.waitForSelector(row(mine.question));
seen.all_address = new URL(page.url()).hash === `#/pending/${mine.question}`;
await page.goto(`${hub}/console/#/settings`);
await page.waitForSelector('[data-view="settings"]');
await page.goBack();
await page.waitForSelector('[data-question="open"]');

// Not hers to decide: she is told who can. An address without a session leads on once she is signed in.
const stranger = await browser.newContext({ locale: 'en-US' });
const hers = await opened(stranger, problems);
await hers.goto(`${hub}/console/#/pending/${mine.question}`);
await hers.waitForSelector('[data-sheet="sign-in"]');
await hers.fill('#token', ann);
await hers.click('[data-sheet="sign-in"] button[type="submit"]');
await hers.click('[data-sheet="confirm"] .pri');
await hers.waitForSelector('[data-question="hidden"]');
seen.hidden = await hers.locator('[data-question="hidden"]').innerText();
seen.her_list = await hers.locator('[data-face="empty"]').innerText();
await check(hers, problems, 'hidden');
await finish(browser, { ...seen, problems });
