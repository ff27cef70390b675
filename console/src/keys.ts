// Keyboard: two keys lead to a view, some move the focus, `?` shows all of them. No single key changes anything at the hub.
import { signal } from '@preact/signals';
import { type View, go, place } from './router';

export const helpOpen = signal(false);
const leads: ReadonlyMap<string, View> = new Map([['w', 'pending'], ['p', 'pending'], ['h', 'hub'], ['s', 'settings']]);
const PAUSE = 1_500;
let led = 0;

export function listenForKeys(): void {
  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      // Out of a field first: what was typed there is not lost by one key.
      if (isTyping(event.target) && event.target instanceof HTMLElement) event.target.blur(); else leave();
      return;
    }
    if (isTyping(event.target)) return;
    const view = event.timeStamp - led < PAUSE ? leads.get(event.key) : undefined;
    led = 0;
    if (view !== undefined) go(view);
    else if (event.key === '?') helpOpen.value = !helpOpen.value;
    else if (event.key === 'g') led = event.timeStamp;
    else if (!move(event.key)) return;
    event.preventDefault();
  });
}

// A sheet closes first; then the selected item.
function leave(): void {
  const { view, item } = place.value;
  if (helpOpen.value) helpOpen.value = false;
  else if (document.querySelector('[inert]') === null && view !== undefined && item !== undefined) go(view);
}

// `j` and `k` walk the rows, `x` chooses one, and a letter that a button carries puts the focus on it.
function move(key: string): boolean {
  if (document.querySelector('[inert]') !== null) return false;
  if (key === 'j' || key === 'k') return step(key === 'j' ? 1 : -1);
  if (key === 'x') return toggle();
  const button = [...document.querySelectorAll<HTMLElement>('[data-key]')].find(one => one.dataset['key'] === key);
  button?.focus();
  return button !== undefined;
}

function step(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row] a')];
  const at = rows.findIndex(row => row.closest('[data-row]')?.contains(document.activeElement) === true);
  const next = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
  next?.focus();
  return next !== undefined;
}

function toggle(): boolean {
  const box = document.activeElement?.closest('[data-row]')?.querySelector<HTMLElement>('input[type="checkbox"]');
  box?.click();
  return box != null;
}

function isTyping(target: EventTarget | null): boolean {
  return (target instanceof HTMLInputElement && target.type !== 'checkbox' && target.type !== 'radio') || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
