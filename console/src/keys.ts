// Keyboard: two keys lead to a view, `?` shows all of them. No single key changes anything at the hub.
import { signal } from '@preact/signals';
import { go } from './router';

export const helpOpen = signal(false);
export const leads = { h: 'hub', s: 'settings' } as const;
const PAUSE = 1_500;
let led = 0;

export function listenForKeys(): void {
  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === 'Escape') helpOpen.value = false;
    else if (event.key === '?') helpOpen.value = !helpOpen.value;
    else if (event.key === 'g') led = event.timeStamp;
    else if (event.timeStamp - led < PAUSE && (event.key === 'h' || event.key === 's')) {
      led = 0;
      go(leads[event.key]);
    } else return;
    event.preventDefault();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
