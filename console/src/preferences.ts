// Theme, language and zone: the only state that the console keeps of its own.
import { signal } from '@preact/signals';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];
export const languages = ['en', 'es'] as const;
export type Language = (typeof languages)[number];
export const zones = ['local', 'utc'] as const;
export type Zone = (typeof zones)[number];

const stored = <T extends string>(name: string, known: readonly T[]): T | undefined =>
  known.find(value => value === localStorage.getItem(name));

export const theme = signal<Theme>(stored('theme', themes) ?? 'system');
export const language = signal<Language>(
  stored('language', languages) ?? (navigator.language.startsWith('es') ? 'es' : 'en'),
);

export const times = signal<Zone>(stored('times', zones) ?? 'local');

const dark = matchMedia('(prefers-color-scheme: dark)');

export function applyPreferences(): void {
  theme.subscribe(paint);
  dark.addEventListener('change', paint);
  language.subscribe(value => { document.documentElement.lang = value; });
}

function paint(): void {
  const chosen = theme.value === 'system' ? (dark.matches ? 'dark' : 'light') : theme.value;
  document.documentElement.dataset['theme'] = chosen;
}

export function setTheme(value: Theme): void {
  localStorage.setItem('theme', value);
  theme.value = value;
}

export function setLanguage(value: Language): void {
  localStorage.setItem('language', value);
  language.value = value;
}

export function setTimes(value: Zone): void {
  localStorage.setItem('times', value);
  times.value = value;
}
