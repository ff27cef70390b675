// A JSON tree as lines, and what differs between two of them.
import type { Tree } from '../api/tree';

export interface Line {
  depth: number;
  // The key in an object, the place in an array; neither at the top.
  key: string | number | undefined;
  kind: Tree['kind'];
  // Of a string its value, of a number and a word how it was written.
  text: string;
  // How many members or items.
  size: number;
}

export function lines(tree: Tree): Line[] {
  const all: Line[] = [];
  // What comes last is taken first.
  const left: { tree: Tree; key: string | number | undefined; depth: number }[] = [{ tree, key: undefined, depth: 0 }];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const { tree: node, key, depth } = one;
    const line = { depth, key, kind: node.kind };
    switch (node.kind) {
      case 'object':
        all.push({ ...line, text: '', size: node.members.length });
        for (const member of node.members.toReversed()) left.push({ tree: member.value, key: member.key, depth: depth + 1 });
        break;
      case 'array':
        all.push({ ...line, text: '', size: node.items.length });
        for (let place = node.items.length - 1; place >= 0; place -= 1) {
          const item = node.items[place];
          if (item !== undefined) left.push({ tree: item, key: place, depth: depth + 1 });
        }
        break;
      case 'string':
        all.push({ ...line, text: node.value, size: 0 });
        break;
      case 'number': case 'word':
        all.push({ ...line, text: node.text, size: 0 });
    }
  }
  return all;
}

export type Change = 'same' | 'added' | 'removed';
export interface Changed { change: Change; line: Line }

// Two calls with more lines that differ than this are not compared line by line.
const MOST = 1_000;

// The longest common subsequence. `undefined`: too much differs.
export function compared(before: readonly Line[], after: readonly Line[]): Changed[] | undefined {
  const same = (a: Line | undefined, b: Line | undefined): boolean =>
    a !== undefined && b !== undefined && a.depth === b.depth && a.key === b.key && a.kind === b.kind && a.text === b.text;
  let start = 0;
  while (start < before.length && start < after.length && same(before[start], after[start])) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && same(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const [old, now] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  if (old.length > MOST || now.length > MOST) return undefined;
  const width = now.length + 1;
  const longest = new Uint16Array((old.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = same(old[i], now[j]) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const all: Changed[] = after.slice(0, start).map(line => ({ change: 'same', line }));
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [was, is] = [old[i], now[j]];
    if (is !== undefined && same(was, is)) {
      all.push({ change: 'same', line: is });
      i += 1;
      j += 1;
    } else if (was !== undefined && (is === undefined || at(i + 1, j) >= at(i, j + 1))) {
      all.push({ change: 'removed', line: was });
      i += 1;
    } else if (is !== undefined) {
      all.push({ change: 'added', line: is });
      j += 1;
    }
  }
  return [...all, ...after.slice(after.length - end).map((line): Changed => ({ change: 'same', line }))];
}
