// Sign in with a ticket, every view in every theme, language and width, and sign out.
import { begin, check, credential, finish, hub, picture, stateOf } from './driver.mjs';

const { browser, page, problems } = await begin();
await page.goto(`${hub}/console/#ticket=${credential}`);
await stateOf(page, 'signed-in');
const seen = {
  ticket_in_address: page.url().includes('ticket'),
  ticket_in_history: await page.evaluate(() => navigation.entries().some(entry => entry.url.includes('ticket'))),
  subject: await page.textContent('[aria-labelledby="you"] dd'),
  hub: await page.textContent('[aria-labelledby="hub"] dd'),
};
for (const language of ['en', 'es']) {
  for (const theme of ['light', 'dark']) {
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.waitForSelector('[data-view="settings"] [data-face="ready"]');
    await page.click(`input[value="${theme}"]`);
    await page.click(`input[value="${language}"]`);
    await page.waitForSelector(`html[lang="${language}"][data-theme="${theme}"]`);
    for (const width of [360, 768, 1440]) {
      await page.setViewportSize({ width, height: width === 360 ? 780 : 900 });
      for (const view of ['settings', 'hub']) {
        await page.click('main h1');
        await page.keyboard.press('g');
        await page.keyboard.press(view === 'hub' ? 'h' : 's');
        await page.waitForSelector(`[data-view="${view}"] [data-face="ready"]`);
        await check(page, problems, `${view} ${language} ${theme} ${width}`);
        if (language === 'en' || width === 360) await picture(page, `${view}-${language}-${theme}-${width}`);
      }
    }
  }
}
// As the system: what the system says now.
await page.keyboard.press('g');
await page.keyboard.press('s');
await page.click('input[value="system"]');
for (const colorScheme of ['light', 'dark']) {
  await page.emulateMedia({ colorScheme });
  await page.waitForSelector(`html[data-theme="${colorScheme}"]`);
}
await page.keyboard.press('g');
await page.keyboard.press('h');
await page.waitForSelector('[data-view="hub"]');
await page.keyboard.press('?');
await page.waitForSelector('[data-sheet="help"]');
await check(page, problems, 'help');
await picture(page, 'help');
await page.keyboard.press('Escape');
await page.waitForSelector('[data-sheet="help"]', { state: 'detached' });
await page.reload();
await stateOf(page, 'signed-in');
await page.goto(`${hub}/console/#/none`);
await page.waitForSelector('[data-view="none"] [data-face="empty"]');
await page.goBack();
await page.waitForSelector('[data-view="hub"] [data-face="ready"]');
await page.click('header .btn');
await stateOf(page, 'signed-out');
await page.waitForSelector('[data-sheet="sign-in"]');
await check(page, problems, 'sign-in');
await picture(page, 'sign-in-dark-1440');
await page.setViewportSize({ width: 360, height: 780 });
await picture(page, 'sign-in-dark-360');
await page.reload();
await stateOf(page, 'signed-out');
await finish(browser, { ...seen, problems, signed_out: await page.getAttribute('.app', 'data-state') });
