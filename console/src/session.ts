// Who is signed in, and whether the hub answers. An empty list says nothing of either: only `/api/session` counts.
import { batch, computed, signal } from '@preact/signals';
import { ask, key } from './api/client';
import type { FaultView, SessionView, SignInView } from './api/types';

export type SignIn =
  | { kind: 'none' }
  | { kind: 'asked' }
  | { kind: 'confirm'; subject: string; credential: Credential }
  | { kind: 'refused'; fault: FaultView };
export interface Credential { ticket?: string; token?: string }
export interface Failure { fault: FaultView; trace: string | undefined }

export const session = signal<SessionView | undefined>(undefined);
export const signIn = signal<SignIn>({ kind: 'none' });
export const awaySince = signal<number | undefined>(undefined);
export const failure = signal<Failure | undefined>(undefined);
export const updated = signal(false);
// The hub's clock less this machine's, in milliseconds.
export const offset = signal(0);
export const readAt = signal<number | undefined>(undefined);

export type State = 'loading' | 'signed-out' | 'signed-in' | 'away' | 'failed';
export const state = computed((): State => {
  if (awaySince.value !== undefined) return 'away';
  if (signIn.value.kind !== 'none') return 'signed-out';
  if (failure.value !== undefined) return 'failed';
  return session.value === undefined ? 'loading' : 'signed-in';
});

const EVERY = 5_000;
// A page that nobody uses stops asking, so that its session ends by itself.
const IDLE = 10 * 60_000;
let build: string | undefined;
let lastInput = Date.now();
let timer: ReturnType<typeof setTimeout> | undefined;

export async function check(): Promise<void> {
  const answer = await ask<SessionView>('GET', 'session');
  batch(() => {
    switch (answer.kind) {
      case 'away':
        awaySince.value ??= Date.now();
        return;
      case 'refused':
        awaySince.value = undefined;
        if (answer.status === 401) {
          if (signIn.value.kind === 'none') signIn.value = { kind: 'asked' };
        } else {
          failure.value = answer;
        }
        return;
      case 'ok':
        awaySince.value = undefined;
        failure.value = undefined;
        signIn.value = { kind: 'none' };
        session.value = answer.value;
        readAt.value = Date.now();
        offset.value = Date.parse(answer.value.hub.now) - Date.now();
        build ??= answer.value.hub.build;
        if (build !== answer.value.hub.build) updated.value = true;
    }
  });
  again();
}

// Whether somebody looks at this page.
export function isWatched(): boolean {
  return document.visibilityState === 'visible' && Date.now() - lastInput < IDLE;
}

export function hubNow(): number {
  return Date.now() + offset.value;
}

function again(): void {
  clearTimeout(timer);
  if (isWatched()) timer = setTimeout(() => void check(), awaySince.value === undefined ? EVERY : 1_000);
}

export async function begin(credential: Credential, as?: string): Promise<void> {
  const answer = await ask<SignInView>('POST', 'session', as === undefined ? credential : { ...credential, as });
  switch (answer.kind) {
    case 'away':
      awaySince.value ??= Date.now();
      return;
    case 'refused':
      signIn.value = { kind: 'refused', fault: answer.fault };
      return;
    case 'ok':
      if (answer.value.confirm != null) {
        signIn.value = { kind: 'confirm', subject: answer.value.confirm, credential };
      } else if (answer.value.key != null) {
        key.set(answer.value.key);
        await check();
      }
  }
}

export async function end(): Promise<void> {
  await ask<null>('DELETE', 'session');
  key.remove();
  leave();
}

function leave(): void {
  batch(() => {
    session.value = undefined;
    signIn.value = { kind: 'asked' };
  });
}

export function start(ticket: string | undefined): void {
  const woken = (): void => {
    const slept = Date.now() - lastInput >= IDLE;
    lastInput = Date.now();
    if (slept) void check();
  };
  addEventListener('keydown', woken);
  addEventListener('pointerdown', woken);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void check();
  });
  // A page that comes back from the cache of the browser shows nobody until the hub has said who it is.
  addEventListener('pageshow', event => {
    if (!event.persisted) return;
    session.value = undefined;
    void check();
  });
  addEventListener('storage', event => {
    if (!key.is(event.key)) return;
    if (key.get() === null) leave(); else void check();
  });
  if (ticket === undefined) void check(); else void begin({ ticket });
}
