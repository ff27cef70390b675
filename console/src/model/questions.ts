// What is pending, as rows: one for each call, in an order that does not change under a hand.
import type { QuestionView } from '../api/types';

export interface Row {
  question: QuestionView;
  // Another question about the same call: the answer to one settles both.
  twin: string | undefined;
}
export interface ListedRow extends Row { gone: boolean }
export type Filter = 'all' | 'mine';

// The question of the call itself is shown, not that of the run which passes it on: it names the whole chain.
export function joined(questions: readonly QuestionView[]): Row[] {
  const left = new Map(questions.map(question => [question.id, question]));
  const rows: Row[] = [];
  for (const question of questions) {
    if (!left.delete(question.id)) continue;
    const other = question.twin == null ? undefined : left.get(question.twin);
    if (other === undefined) {
      rows.push({ question, twin: question.twin ?? undefined });
      continue;
    }
    left.delete(other.id);
    const own = question.asked_by === 'hub' ? question : other;
    rows.push({ question: own, twin: own === question ? other.id : question.id });
  }
  return rows;
}

export function filtered(rows: readonly Row[], filter: Filter, subject: string | undefined): Row[] {
  return filter === 'all' ? [...rows] : rows.filter(row => row.question.owner === subject);
}

export function named(row: Row, id: string): boolean {
  return row.question.id === id || row.twin === id;
}

export interface Listed { rows: ListedRow[]; fresh: number }

// While the list is held, rows stay where they are: one that is over is marked, and new ones are only counted. An empty list has nothing
// that could move.
export function merged(shown: readonly ListedRow[], latest: readonly Row[], isHeld: boolean): Listed {
  if (!isHeld || shown.length === 0) return { rows: latest.map(row => ({ ...row, gone: false })), fresh: 0 };
  const now = new Map(latest.map(row => [row.question.id, row]));
  const rows = shown.map(row => {
    const newer = now.get(row.question.id);
    return newer === undefined ? { ...row, gone: true } : { ...newer, gone: false };
  });
  const known = new Set(shown.map(row => row.question.id));
  return { rows, fresh: latest.filter(row => !known.has(row.question.id)).length };
}

export function isApproval(question: QuestionView): boolean {
  return question.kind === 'confirm';
}

// In milliseconds; nothing is left when the hub's clock says so.
export function timeLeft(question: QuestionView, hubNow: number): number {
  return Math.max(0, Date.parse(question.expires) - hubNow);
}

// `8:41`, `1:02:03`.
export function countdown(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
