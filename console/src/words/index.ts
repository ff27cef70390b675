// The catalogue: all text of the console, by key, in every language.
import { type Language, language, times } from '../preferences';
import { en } from './en';
import { es } from './es';

interface Counted { one: string; other: string }
export type Words = { [K in keyof typeof en]: (typeof en)[K] extends string ? string : Counted };
type Plain = { [K in keyof Words]: Words[K] extends string ? K : never }[keyof Words];
type Plural = { [K in keyof Words]: Words[K] extends string ? never : K }[keyof Words];

const catalogues: Record<Language, Words> = { en, es };

export function word(key: Plain, values: Record<string, string> = {}): string {
  return filled(catalogues[language.value][key], values);
}

export function counted(key: Plural, n: number): string {
  const form = new Intl.PluralRules(language.value).select(n) === 'one' ? 'one' : 'other';
  return filled(catalogues[language.value][key][form], { n: new Intl.NumberFormat(language.value).format(n) });
}

export function number(value: number): string {
  return new Intl.NumberFormat(language.value).format(value);
}

// A word of one of the hub's closed lists; what a newer hub says beyond them is shown as it is.
export function listed(list: string, said: string): string {
  const key = `${list}_${said}`;
  const found = Object.entries(catalogues[language.value]).find(([name]) => name === key)?.[1];
  return typeof found === 'string' ? found : said;
}

export function moment(time: number): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeStyle: 'medium', ...zone() }).format(time) + suffix();
}

export function clock(time: number): string {
  return new Intl.DateTimeFormat(language.value, { timeStyle: 'medium', ...zone() }).format(time) + suffix();
}

function zone(): Intl.DateTimeFormatOptions {
  return times.value === 'utc' ? { timeZone: 'UTC' } : {};
}

function suffix(): string {
  return times.value === 'utc' ? ' UTC' : '';
}

export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return counted('second', seconds);
  if (seconds < 3600) return counted('minute', Math.floor(seconds / 60));
  const hours = Math.floor(seconds / 3600);
  return hours < 48 ? counted('hour', hours) : counted('day', Math.floor(hours / 24));
}

function filled(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
