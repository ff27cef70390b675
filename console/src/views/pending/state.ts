// What is pending, read every two seconds wherever one is in the console; and the one question that is open. Views read, this writes.
import { batch, computed, effect, signal } from '@preact/signals';
import { type Answer, ask, send } from '../../api/client';
import { type Tree, scan } from '../../api/tree';
import type { FaultView, PageOfQuestionView, QuestionView, SettledView } from '../../api/types';
import { type Filter, type ListedRow, type Row, filtered, isApproval, joined, merged, named, timeLeft } from '../../model/questions';
import type { Typed } from '../../model/schema';
import { place } from '../../router';
import { check, hubNow, isWatched, session, state } from '../../session';

const EVERY = 2_000;
// More than that is not listed at once.
const MOST = 200;

export type Opened =
  | { kind: 'none' }
  | { kind: 'loading'; id: string }
  | { kind: 'open'; id: string; question: QuestionView; tree: Tree | undefined }
  | { kind: 'settled'; id: string; question: QuestionView | undefined; settled: SettledView }
  | { kind: 'gone'; id: string; question: QuestionView | undefined }
  // Not for this caller to answer; the fault says who can.
  | { kind: 'hidden'; id: string; fault: FaultView }
  | { kind: 'failed'; id: string; fault: FaultView };

export const latest = signal<Row[] | undefined>(undefined);
export const isCut = signal(false);
// A list under a pointer, with the focus or with chosen rows does not move.
export const hasPointer = signal(false);
export const hasFocus = signal(false);
export const shown = signal<ListedRow[]>([]);
export const fresh = signal(0);
export const chosen = signal<ReadonlySet<string>>(new Set());
export const isHeld = computed(() => hasPointer.value || hasFocus.value || chosen.value.size > 0);
export const opened = signal<Opened>({ kind: 'none' });
export const lastDecided = signal<number | undefined>(undefined);
// The hub's clock, once a second.
export const now = signal(hubNow());
// Changes once: what shows a call is not drawn again every second.
export const isLate = computed(() => opened.value.kind === 'open' && timeLeft(opened.value.question, now.value) === 0);
export const typed = signal<Typed>(new Map());

export const filter = computed((): Filter => (place.value.query.get('of') === 'mine' ? 'mine' : 'all'));
export const approvals = computed(() => (latest.value ?? []).filter(row => isApproval(row.question)).length);
export const questions = computed(() => (latest.value ?? []).length - approvals.value);
const mine = computed(() => filtered(latest.value ?? [], filter.value, session.value?.subject));

export type Sending = { kind: 'none' } | { kind: 'sending' } | { kind: 'refused'; fault: FaultView } | { kind: 'unknown' };
export const sending = signal<Sending>({ kind: 'none' });

let timer: ReturnType<typeof setTimeout> | undefined;
let reads = 0;

export function startPending(): void {
  effect(() => { if (state.value === 'signed-in') void poll(); });
  effect(() => void open(place.value.view === 'pending' ? place.value.item : undefined));
  let subject: string | undefined;
  effect(() => {
    const now = session.value?.subject ?? subject;
    if (subject !== undefined && now !== subject) forget();
    subject = now;
  });
  let filteredBy = filter.peek();
  effect(() => {
    // Another filter is another list.
    const isSame = filter.value === filteredBy;
    filteredBy = filter.value;
    const listed = merged(shown.peek(), mine.value, isHeld.value && isSame);
    batch(() => {
      if (!isSame) chosen.value = new Set();
      shown.value = listed.rows;
      fresh.value = listed.fresh;
    });
  });
  setInterval(() => { now.value = hubNow(); }, 1_000);
  document.addEventListener('visibilitychange', () => void poll());
  for (const input of ['pointerdown', 'keydown']) addEventListener(input, () => { if (timer === undefined) void poll(); });
}

// Somebody else is signed in: nothing that was shown before is theirs.
function forget(): void {
  const is = opened.peek();
  batch(() => {
    latest.value = undefined;
    shown.value = [];
    chosen.value = new Set();
    typed.value = new Map();
    if (is.kind !== 'none') opened.value = { kind: 'loading', id: is.id };
  });
}

export async function poll(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  if (state.peek() !== 'signed-in' || !isWatched()) return;
  reads += 1;
  const read = reads;
  const answer = await ask<PageOfQuestionView>('GET', `questions?limit=${MOST}`);
  if (read !== reads) return;
  switch (answer.kind) {
    case 'ok':
      batch(() => {
        // What had the focus may be gone, and says nothing when it goes.
        hasFocus.value = document.activeElement?.closest('[data-holds]') != null;
        latest.value = joined(answer.value.items);
        isCut.value = answer.value.next != null;
        now.value = hubNow();
      });
      await follow();
      break;
    case 'refused': case 'away':
      // Why it does not answer is the session's to say.
      await check();
  }
  if (read === reads) timer = setTimeout(() => void poll(), EVERY);
}

// Whether the open question is still open.
async function follow(): Promise<void> {
  const is = opened.peek();
  // It was asked for before somebody was signed in, or while the hub was away.
  if (is.kind === 'loading') await reread(is.id, undefined);
  if (is.kind !== 'open') return;
  if (!(latest.peek() ?? []).some(row => named(row, is.id))) await reread(is.id, is.question);
  // It was not taken: it may be sent again.
  else if (sending.peek().kind === 'unknown') sending.value = { kind: 'none' };
}

async function open(id: string | undefined): Promise<void> {
  const before = opened.peek();
  if (id === undefined) {
    opened.value = { kind: 'none' };
    return;
  }
  if (before.kind !== 'none' && before.id === id) return;
  batch(() => {
    opened.value = { kind: 'loading', id };
    sending.value = { kind: 'none' };
    typed.value = new Map();
  });
  await reread(id, undefined);
}

export async function reread(id: string, before: QuestionView | undefined): Promise<void> {
  // Without a session the hub answers for nobody: that says nothing of the question.
  if (state.peek() !== 'signed-in') return;
  const answer = await ask<QuestionView>('GET', `questions/${encodeURIComponent(id)}`);
  if (!isOpen(id)) return;
  switch (answer.kind) {
    case 'away':
      await check();
      return;
    case 'ok': {
      const is = opened.peek();
      // What a question asks never changes: the page stays as it is.
      if (is.kind !== 'open') opened.value = { kind: 'open', id, question: answer.value, tree: scan(answer.text) };
      return;
    }
    case 'refused':
      if (answer.status === 401) await check();
      else if (answer.status === 404 || answer.status === 409) await settle(id, before);
      else opened.value = { kind: answer.status === 403 ? 'hidden' : 'failed', id, fault: answer.fault };
  }
}

function isOpen(id: string): boolean {
  const is = opened.peek();
  return is.kind !== 'none' && is.id === id;
}

async function settle(id: string, question: QuestionView | undefined): Promise<void> {
  let settled = await ended(id);
  // Where one answer settles two questions the other one is withdrawn: that is no refusal, and who decided stands there.
  if (settled?.how === 'withdrawn' && question?.twin != null) {
    const other = await ended(question.twin);
    if (other?.decided_by != null) settled = { ...other, question: id };
  }
  if (!isOpen(id)) return;
  opened.value = settled === undefined ? { kind: 'gone', id, question } : { kind: 'settled', id, question, settled };
}

async function ended(id: string): Promise<SettledView | undefined> {
  const answer = await ask<SettledView>('GET', `questions/${encodeURIComponent(id)}/settled`);
  return answer.kind === 'ok' ? answer.value : undefined;
}

// For exactly the call that is shown. Nothing is sent twice, and nothing for what is over.
export async function decide(question: QuestionView, approve: boolean): Promise<void> {
  await reply(question, () => ask('POST', `confirmations/${encodeURIComponent(question.id)}`, { approve, call: question.call }));
}

export async function answer(question: QuestionView, said: string): Promise<void> {
  const body = `{"answer":{"question":${JSON.stringify(question.id)},${said}}}`;
  await reply(question, () => send('POST', `tasks/${encodeURIComponent(question.task)}/signals`, body));
}

async function reply(question: QuestionView, post: () => Promise<Answer<unknown>>): Promise<void> {
  if (sending.peek().kind === 'sending') return;
  sending.value = { kind: 'sending' };
  const taken = await post();
  switch (taken.kind) {
    case 'ok':
      batch(() => {
        sending.value = { kind: 'none' };
        lastDecided.value = hubNow();
      });
      await settle(question.id, question);
      break;
    case 'away':
      // The hub may have taken it or not: it is asked, never sent again by itself.
      sending.value = { kind: 'unknown' };
      await check();
      break;
    case 'refused':
      sending.value = { kind: 'refused', fault: taken.fault };
      if (taken.status === 401) await check();
      else if (taken.status === 404 || taken.status === 409) await reread(question.id, question);
  }
  await poll();
}

export const declined = signal<ReadonlyMap<string, 'sending' | 'done' | string>>(new Map());

// Several are only ever declined, each for itself.
export async function declineChosen(): Promise<void> {
  const rows = shown.peek().filter(row => chosen.peek().has(row.question.id) && !row.gone);
  for (const { question } of rows) {
    const path = isApproval(question) ? `confirmations/${encodeURIComponent(question.id)}` : `tasks/${encodeURIComponent(question.task)}/signals`;
    const body = isApproval(question) ? { approve: false, call: question.call } : { answer: { question: question.id, decline: true } };
    const taken = await ask('POST', path, body);
    const outcome = taken.kind === 'ok' ? 'done' : taken.kind === 'refused' ? taken.fault.message : 'sending';
    declined.value = new Map(declined.value).set(question.id, outcome);
    if (taken.kind === 'away') break;
  }
  chosen.value = new Set();
  await poll();
}

export function choose(id: string): void {
  const all = new Set(chosen.value);
  if (!all.delete(id)) all.add(id);
  chosen.value = all;
}

export function showFresh(): void {
  batch(() => {
    chosen.value = new Set();
    shown.value = mine.value.map(row => ({ ...row, gone: false }));
    fresh.value = 0;
  });
}
