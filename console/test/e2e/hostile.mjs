// Text of others in every place that shows some: nothing comes of it, and what is shown is what is approved.
import { api, begin, check, credential, ended, finish, hub, pending, picture, readThrough, stateOf, until } from './driver.mjs';

const { ticket, owner, ann } = JSON.parse(credential);
const { browser, page, problems } = await begin();
const seen = {};
let navigations = 0;
page.on('framenavigated', () => { navigations += 1; });
const corpus = [
  '<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '</script><svg onload=alert(1)>', 'javascript:alert(1)', '{{constructor.constructor("alert(1)")()}}', '${alert(1)}',
  'photo\u202egpj.exe', '\u2066left\u2069\u200bzero\u200dwidth\ufeff', 'a\u{e0041}\u{e0042}tag', 'p\u0430ypal.com', '\u03bf\u0443lookalike', 'z' + '\u0301'.repeat(900) + 'algo', '\u001b[31mred\u001b[0m\u0007', 'one\r\ntwo\u2028three',
  '=HYPERLINK("http://evil.example","x")', '⟨U+202E⟩', 'https://evil.example/', '\u3164\u115f\u2800', '\ufe0f\ufe01', 'ok\u0000nul',
];
const long = 'x'.repeat(120_000);
const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, place) => [`key ${place}`, place]));
let deep = 'bottom';
for (let depth = 0; depth < 60; depth += 1) deep = [deep];
const keyOf = (text, place) => `${place} ${[...text].slice(0, 40).join('')}`;
const named = Object.fromEntries(corpus.map((text, place) => [keyOf(text, place), text]));

await page.goto(`${hub}/console/#ticket=${ticket}`);
await stateOf(page, 'signed-in');
const call = await pending(ann, { skill: 'local/odd', arguments: { ...named, long, many, deep } });
await page.click('a[href="#/pending"]');
await page.waitForSelector(`[data-row="${call.question}"]`);
await check(page, problems, 'hostile list');
navigations = 0;
await page.click(`[data-row="${call.question}"] a`);
await page.waitForSelector('[data-question="open"]');
seen.off_while_folded = [];
for (;;) {
  const fold = page.locator('[data-fold]').first();
  if (await fold.count() === 0) break;
  seen.off_while_folded.push(await page.getAttribute('[data-act="approve"]', 'aria-disabled'));
  await fold.click();
}
// What is at the end has not been read by whoever jumps there.
await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
await until('the buttons are quiet', async () => (await page.getAttribute('[data-act="deny"]', 'aria-disabled')) === 'false');
seen.off_while_unread = await page.getAttribute('[data-act="approve"]', 'aria-disabled');
await readThrough(page);
await page.waitForSelector('[data-act="approve"][aria-disabled="false"]');
// Every value as it is read back from the screen.
const read = await page.evaluate(() => {
  const plain = element => {
    let all = '';
    for (const node of element.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) all += node.textContent;
      else if (node.classList.contains('esc')) {
        const [, code, times] = /^⟨U\+([0-9A-F]+)(?:×(\d+))?⟩$/.exec(node.textContent);
        all += String.fromCodePoint(parseInt(code, 16)).repeat(Number(times ?? 1));
      } else if (node.localName !== 'button') all += plain(node);
    }
    return all;
  };
  return [...document.querySelectorAll('[aria-labelledby="arguments"] .line')].map(line => {
    const value = line.querySelector('.string');
    return { key: line.querySelector('.key') === null ? undefined : plain(line.querySelector('.key')), value: value === null ? undefined : plain(value).slice(1, -1) };
  });
});
const shown = new Map(read.map(line => [line.key, line.value]));
seen.differs = corpus.filter((text, place) => shown.get(keyOf(text, place)) !== text);
seen.long = shown.get('long') === long;
seen.lines = read.length;
seen.escapes = await page.locator('.question .esc').count() > 20;
seen.marked = await page.locator('.question mark').allInnerTexts();
seen.description = await page.locator('.question').innerText().then(text => text.includes('Odd ⟨U+202E⟩<b>bold</b>'));
seen.made = await page.evaluate(() => [...document.querySelectorAll('main img, main script, main iframe, main object, main embed, main b, main style, main a[href^="http"]')].map(one => one.outerHTML));
await picture(page, 'pending-hostile-light-1440');
const held = (await api(owner, 'GET', `questions/${call.question}`)).value.call;
seen.same_digest = (await page.locator('[data-digest]').innerText()) === held;
await page.setViewportSize({ width: 390, height: 844 });
await check(page, problems, 'hostile 390');
await page.setViewportSize({ width: 1440, height: 900 });
await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
await page.waitForSelector('[data-act="approve"][aria-disabled="false"]');
await page.click('[data-act="approve"]');
await page.waitForSelector('[data-ended="approved"]');
seen.state = (await ended(ann, call.task)).state;

// A question with a schema that refers to itself, a pattern that never ends, and names that are none.
const asked = await pending(owner, { peer: 'asker', text: 'hostile' });
await page.goto(`${hub}/console/#/pending/${asked.question}`);
await page.waitForSelector('[data-question="open"] form');
await check(page, problems, 'hostile form');
seen.form_made = await page.evaluate(() => document.querySelectorAll('main img, main script, main iframe').length);
seen.options = await page.locator('.question option').allInnerTexts();
await picture(page, 'pending-hostile-form-light-1440', true);
await page.click('[data-act="decline"]');
await page.waitForSelector('[data-ended="declined"]');

// A page to visit that is none.
const visit = await pending(owner, { peer: 'asker', text: 'odd visit' });
await page.goto(`${hub}/console/#/pending/${visit.question}`);
await page.waitForSelector('[data-question="open"]');
seen.visit = await page.locator('.question').innerText();
seen.hosts = await page.locator('.address b').allInnerTexts();
await finish(browser, { ...seen, problems });
