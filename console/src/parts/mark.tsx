// A sign beside a word: what colour says, shape and word say too.

export function Mark({ on }: { on: boolean }) {
  return (
    <svg class={on ? 'mark on' : 'mark'} width="13" height="13" viewBox="-7 -7 14 14" aria-hidden="true">
      <circle r="5.6" /><path d={on ? 'M-2.6 .2 -.8 2.2 2.8 -2.2' : 'M-2.6 0H2.6'} />
    </svg>
  );
}
