// The fragment is the state of the view: it works under every path prefix and reaches no server log.
import { computed, signal } from '@preact/signals';

export const views = ['pending', 'hub', 'settings'] as const;
export type View = (typeof views)[number];
// `item` is what is selected in the view.
export interface Place { view: View | undefined; item: string | undefined; query: URLSearchParams }

const fragment = signal(location.hash);
addEventListener('hashchange', () => { fragment.value = location.hash; });

export const place = computed((): Place => {
  const [path = '', query = ''] = fragment.value.replace(/^#\/?/, '').split('?');
  const [name = '', ...rest] = path.split('/');
  const item = rest.join('/');
  const view = path === '' ? 'hub' : views.find(one => one === name);
  return { view, item: item === '' ? undefined : readable(item), query: new URLSearchParams(query) };
});

// An address may be typed by hand.
function readable(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function address(view: View, query?: URLSearchParams, item?: string): string {
  const text = query?.toString() ?? '';
  return `#/${view === 'hub' ? '' : view}${item === undefined ? '' : `/${encodeURIComponent(item)}`}${text === '' ? '' : `?${text}`}`;
}

export function go(view: View, item?: string): void {
  const { view: from, query } = place.value;
  location.hash = address(view, from === view ? query : undefined, item);
}

// Changes what the address says of the view without a new entry in the history.
export function setQuery(name: string, value: string | undefined): void {
  const { view, item, query } = place.value;
  const changed = new URLSearchParams(query);
  if (value === undefined) changed.delete(name); else changed.set(name, value);
  history.replaceState(null, '', address(view ?? 'hub', changed, item));
  fragment.value = location.hash;
}
