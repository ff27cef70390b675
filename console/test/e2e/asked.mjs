// Questions that want an answer: a form made from its schema, choices, a credential, a page to visit. Then a session that ends under it.
import { api, begin, check, credential, ended, finish, hub, pending, picture, stateOf, until } from './driver.mjs';

const { ticket, owner } = JSON.parse(credential);
const { browser, context, page, problems } = await begin();
const seen = {};
const sent = [];
page.on('request', request => { if (request.url().endsWith('/signals')) sent.push(request.postData() ?? ''); });
const text = selector => page.locator(selector).innerText();
const show = async asked => {
  await page.goto(`${hub}/console/#/pending/${asked.question}`);
  await page.waitForSelector('[data-question="open"]');
};
const ask = words => pending(owner, { peer: 'asker', text: words });

await page.goto(`${hub}/console/#ticket=${ticket}`);
await stateOf(page, 'signed-in');

const form = await ask('form');
await show(form);
await check(page, problems, 'form');
const field = path => `[data-field="${path}"]`;
await page.fill(`${field('/city')} input`, 'Vienna "the old"');
await page.fill(`${field('/nights')} input`, '12345678901234567890123');
await page.selectOption(`${field('/breakfast')} select`, 'true');
await page.selectOption(`${field('/class')} select`, { label: 'First' });
await page.click(`${field('/guests')} button`);
await page.fill(`${field('/guests')} input`, 'ann');
await page.fill(`${field('/pay/amount')} input`, 'twelve');
seen.fields = await page.locator('[data-field]').evaluateAll(all => all.map(one => one.dataset.field));
seen.preset = await page.inputValue(`${field('/currency')} input`);
await page.click('[data-act="answer"]');
await page.waitForSelector(`${field('/pay/amount')} [role="alert"]`);
seen.sent_wrong = (await api(owner, 'GET', `tasks/${form.task}`)).value.state;
await page.fill(`${field('/pay/amount')} input`, '1.10');
await picture(page, 'pending-form-light-1440', true);
await page.setViewportSize({ width: 390, height: 844 });
await check(page, problems, 'form 390');
await picture(page, 'pending-form-light-390', true);
await page.setViewportSize({ width: 1440, height: 900 });

// The session ends under the open page: a sheet over it; what was typed is still there, and goes on.
await context.clearCookies();
await page.waitForSelector('[data-sheet="sign-in"]');
await check(page, problems, 'session ended');
await picture(page, 'pending-session-ended-light-1440');
seen.kept_under_sheet = await page.inputValue(`${field('/city')} input`);
await page.fill('#token', owner);
await page.click('[data-sheet="sign-in"] button[type="submit"]');
await stateOf(page, 'signed-in');
seen.kept_after_sheet = [await page.inputValue(`${field('/city')} input`), await page.inputValue(`${field('/nights')} input`)];
await page.click('[data-act="answer"]');
await page.waitForSelector('[data-ended="answered"]');
seen.form = (await ended(owner, form.task)).state;
seen.sent = sent.find(body => body.includes('Vienna'));

const choices = await ask('choices');
await show(choices);
await check(page, problems, 'choices');
await page.click('input[value="b"]');
await page.click('[data-act="answer"]');
await page.waitForSelector('[data-ended="answered"]');
seen.choices = (await ended(owner, choices.task)).state;

const words = await ask('words');
await show(words);
await page.fill('.question textarea', '{"when":');
await page.click('[data-act="answer"]');
await page.waitForSelector('.question form [role="alert"]');
await page.fill('.question textarea', '{"when":"In June"}');
await page.click('[data-act="answer"]');
await page.waitForSelector('[data-ended="answered"]');

const credentials = await ask('credential');
await show(credentials);
await check(page, problems, 'credential');
await page.fill('.question input[type="password"]', 's3cret-of-mine');
await picture(page, 'pending-credential-light-1440');
await page.click('[data-act="answer"]');
await page.waitForSelector('[data-ended="answered"]');
seen.secret_left = await page.evaluate(() => document.documentElement.outerHTML.includes('s3cret-of-mine') || JSON.stringify({ ...localStorage, ...sessionStorage }).includes('s3cret-of-mine') || location.href.includes('s3cret'));

const visit = await ask('visit');
await show(visit);
await check(page, problems, 'visit');
seen.address = await text('.address');
seen.host = await text('.address b');
seen.links_at_first = await page.locator('.question a[target]').count();
await page.click('.visit button');
const link = page.locator('.visit a');
seen.link = [await link.getAttribute('href'), await link.getAttribute('rel'), await link.getAttribute('target')];
await picture(page, 'pending-visit-light-1440');
await page.click('[data-act="answer"]');
await page.waitForSelector('[data-ended="answered"]');

const declines = await ask('words');
await show(declines);
await page.click('[data-act="decline"]');
await page.waitForSelector('[data-ended="declined"]');
await until('it is over', async () => (await ended(owner, declines.task)).state !== 'waiting');
await finish(browser, { ...seen, problems });
