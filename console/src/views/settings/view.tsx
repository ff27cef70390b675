// Theme and language of this browser.
import { type Language, type Theme, language, languages, setLanguage, setTheme, theme, themes } from '../../preferences';
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
      </div>
      <p class="small q">{word('stored_here')}</p>
    </>
  );
}
