// Theme, language and time zone of this browser.
import { type Language, type Theme, type Zone, language, languages, setLanguage, setTheme, setTimes, theme, themes, times, zones } from '../../preferences';
import { word } from '../../words';

function themeName(value: Theme): string {
  switch (value) {
    case 'system': return word('theme_system');
    case 'light': return word('theme_light');
    case 'dark': return word('theme_dark');
  }
}

function languageName(value: Language): string {
  switch (value) {
    case 'en': return word('language_en');
    case 'es': return word('language_es');
  }
}

function zoneName(value: Zone): string {
  switch (value) {
    case 'local': return word('times_local');
    case 'utc': return word('times_utc');
  }
}

export function SettingsPage() {
  return (
    <>
      <header><h1>{word('title_settings')}</h1></header>
      <div class="cols">
        <fieldset class="card">
          <legend>{word('theme')}</legend>
          {themes.map(value => (
            <label class="choice" key={value}><input type="radio" name="theme" value={value} checked={theme.value === value} onChange={() => setTheme(value)} />{themeName(value)}</label>
          ))}
        </fieldset>
        <fieldset class="card">
          <legend>{word('language')}</legend>
          {languages.map(value => (
            <label class="choice" key={value} lang={value}><input type="radio" name="language" value={value} checked={language.value === value} onChange={() => setLanguage(value)} />{languageName(value)}</label>
          ))}
        </fieldset>
        <fieldset class="card">
          <legend>{word('times')}</legend>
          {zones.map(value => (
            <label class="choice" key={value}><input type="radio" name="times" value={value} checked={times.value === value} onChange={() => setTimes(value)} />{zoneName(value)}</label>
          ))}
        </fieldset>
      </div>
      <p class="small q">{word('stored_here')}</p>
    </>
  );
}
