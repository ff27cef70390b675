// The fragment is the state of the view: it works under every path prefix and reaches no server log.
import { computed, signal } from '@preact/signals';

export const views = ['hub', 'settings'] as const;
export type View = (typeof views)[number];
export interface Place { view: View | undefined; query: URLSearchParams }

const fragment = signal(location.hash);
addEventListener('hashchange', () => { fragment.value = location.hash; });

export const place = computed((): Place => {
  const [path = '', query = ''] = fragment.value.replace(/^#\/?/, '').split('?');
  const view = path === '' ? 'hub' : views.find(name => name === path);
  return { view, query: new URLSearchParams(query) };
});

export function address(view: View, query?: URLSearchParams): string {
  const text = query?.toString() ?? '';
  return `#/${view === 'hub' ? '' : view}${text === '' ? '' : `?${text}`}`;
}

export function go(view: View): void {
  location.hash = address(view);
}

// Changes what the address says of the view without a new entry in the history.
export function setQuery(name: string, value: string | undefined): void {
  const { view, query } = place.value;
  const changed = new URLSearchParams(query);
  if (value === undefined) changed.delete(name); else changed.set(name, value);
  history.replaceState(null, '', address(view ?? 'hub', changed));
  fragment.value = location.hash;
}
