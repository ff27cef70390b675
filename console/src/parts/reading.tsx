// Whether all of something was shown: nothing is folded any more, and the end of each block has been on the screen. An approval waits
// for it.
import { computed, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

const folded = signal(0);
const unseen = signal(0);
export const allShown = computed(() => folded.value === 0 && unseen.value === 0);
export const someFolded = computed(() => folded.value > 0);

// To be used by what shows only a part of itself.
export function useFolded(isFolded: boolean): void {
  useEffect(() => {
    if (!isFolded) return undefined;
    folded.value += 1;
    return () => { folded.value -= 1; };
  }, [isFolded]);
}

// What is inside counts as seen once its end was on the screen.
export function Block({ children }: { children: ComponentChildren }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (end.current === null) return undefined;
    let isUnseen = true;
    unseen.value += 1;
    const see = (): void => {
      observer.disconnect();
      if (isUnseen) unseen.value -= 1;
      isUnseen = false;
    };
    const observer = new IntersectionObserver(entries => { if (entries.some(entry => entry.isIntersecting)) see(); });
    observer.observe(end.current);
    return see;
  }, []);
  return <div class="block">{children}<div class="block-end" ref={end} /></div>;
}
