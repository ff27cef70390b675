// Buttons that decide are off for a second after anything changed that a hand might not have noticed: the call, the place of the
// buttons on the screen, the focus. What was about to be pressed is then not what is pressed.
import { signal } from '@preact/signals';

export const isArmed = signal(false);
const QUIET = 1_000;
const LOOK = 100;

export function arm(buttons: HTMLElement): () => void {
  let changed = performance.now();
  let at = position(buttons);
  const disturb = (): void => {
    changed = performance.now();
    isArmed.value = false;
  };
  const look = (): void => {
    const now = position(buttons);
    if (now !== at) {
      at = now;
      disturb();
    } else if (performance.now() - changed >= QUIET) {
      isArmed.value = document.hasFocus();
    }
  };
  // A button that the keyboard came to. One that is pressed gets the focus by that itself, on a touch screen after the finger has left.
  let pressedAt = -QUIET;
  const down = (): void => { pressedAt = performance.now(); };
  const focused = (): void => { if (performance.now() - pressedAt >= QUIET) disturb(); };
  isArmed.value = false;
  const timer = setInterval(look, LOOK);
  // The last look is the one at the press itself.
  const pressed = (event: Event): void => {
    look();
    if (!isArmed.value) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  buttons.addEventListener('click', pressed, { capture: true });
  buttons.addEventListener('focusin', focused);
  addEventListener('pointerdown', down, { capture: true });
  addEventListener('focus', disturb);
  addEventListener('blur', disturb);
  document.addEventListener('visibilitychange', disturb);
  return () => {
    clearInterval(timer);
    isArmed.value = false;
    buttons.removeEventListener('click', pressed, { capture: true });
    buttons.removeEventListener('focusin', focused);
    removeEventListener('pointerdown', down, { capture: true });
    removeEventListener('focus', disturb);
    removeEventListener('blur', disturb);
    document.removeEventListener('visibilitychange', disturb);
  };
}

function position(element: HTMLElement): string {
  const { left, top, width, height } = element.getBoundingClientRect();
  return [left, top, width, height].map(Math.round).join(' ');
}
