// The only place that fetches. Every answer is one of these, so a view has no error that it did not think of.
import { read } from './json';
import type { ErrorBody, FaultView } from './types';

export type Answer<T> =
  // `text` is what the hub wrote: what is shown is read from there.
  | { kind: 'ok'; value: T; text: string }
  | { kind: 'refused'; status: number; fault: FaultView; trace: string | undefined }
  | { kind: 'away' };

const KEY = `interlingua-console ${new URL('..', location.href).pathname}`;
// A request that is not answered by then counts as not answered: the hub may be stopped behind a proxy that holds the connection.
const LONGEST = 20_000;

export const key = {
  get: (): string | null => localStorage.getItem(KEY),
  set: (value: string): void => localStorage.setItem(KEY, value),
  remove: (): void => localStorage.removeItem(KEY),
  // Whether a change of storage in another tab was about the key.
  is: (name: string | null): boolean => name === KEY || name === null,
};

// The address of a path of the hub's interface, under whatever prefix a proxy serves the hub.
export function at(path: string): string {
  return new URL(`../api/${path}`, location.href.split('#')[0]).href;
}

export async function ask<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer<T>> {
  return send<T>(method, path, body === undefined ? undefined : JSON.stringify(body));
}

// The same with a body that is JSON already.
export async function send<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body: string | undefined): Promise<Answer<T>> {
  const headers = new Headers({ accept: 'application/json' });
  const held = key.get();
  if (held !== null) headers.set('interlingua-console', held);
  if (body !== undefined) headers.set('content-type', 'application/json');
  const sent: RequestInit = { method, headers, credentials: 'same-origin', cache: 'no-store', redirect: 'error', signal: AbortSignal.timeout(LONGEST) };
  if (body !== undefined) sent.body = body;
  try {
    const response = await fetch(at(path), sent);
    const text = await response.text();
    if (response.ok) return { kind: 'ok', value: read<T>(text === '' ? 'null' : text), text };
    const trace = response.headers.get('traceparent')?.split('-')[1];
    return { kind: 'refused', status: response.status, fault: read<ErrorBody>(text).error, trace };
  } catch {
    return { kind: 'away' };
  }
}
