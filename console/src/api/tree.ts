// JSON as it was written: numbers keep their digits, keys their order, and no key is special. `JSON.parse` changes all three, so
// nothing that is shown goes through it.
import { read } from './json';

export interface Member { key: string; value: Tree }
export type Tree =
  | { kind: 'object'; members: readonly Member[] }
  | { kind: 'array'; items: readonly Tree[] }
  | { kind: 'string'; value: string }
  | { kind: 'number'; text: string }
  | { kind: 'word'; text: string };

// The hub itself reads no JSON that is nested deeper.
const DEEPEST = 256;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\n\r]*/y;

// `undefined`: it is not JSON.
export function scan(text: string): Tree | undefined {
  const scanner = new Scanner(text);
  const tree = scanner.value(0);
  scanner.space();
  return scanner.at === text.length ? tree : undefined;
}

class Scanner {
  at = 0;
  constructor(private readonly text: string) {}

  space(): void {
    SPACE.lastIndex = this.at;
    SPACE.test(this.text);
    this.at = SPACE.lastIndex;
  }

  value(depth: number): Tree | undefined {
    this.space();
    if (depth > DEEPEST) return undefined;
    switch (this.text[this.at]) {
      case '{': return this.object(depth);
      case '[': return this.array(depth);
      case '"': {
        const value = this.string();
        return value === undefined ? undefined : { kind: 'string', value };
      }
    }
    const word = this.match(WORD);
    if (word !== undefined) return { kind: 'word', text: word };
    const number = this.match(NUMBER);
    return number === undefined ? undefined : { kind: 'number', text: number };
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  private is(sign: string): boolean {
    this.space();
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    return true;
  }

  private object(depth: number): Tree | undefined {
    this.at += 1;
    const members: Member[] = [];
    if (this.is('}')) return { kind: 'object', members };
    for (;;) {
      this.space();
      const key = this.text[this.at] === '"' ? this.string() : undefined;
      if (key === undefined || !this.is(':')) return undefined;
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      members.push({ key, value });
      if (this.is('}')) return { kind: 'object', members };
      if (!this.is(',')) return undefined;
    }
  }

  private array(depth: number): Tree | undefined {
    this.at += 1;
    const items: Tree[] = [];
    if (this.is(']')) return { kind: 'array', items };
    for (;;) {
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      items.push(value);
      if (this.is(']')) return { kind: 'array', items };
      if (!this.is(',')) return undefined;
    }
  }

  // The end is looked for first: a string of megabytes is no matter for a pattern.
  private string(): string | undefined {
    let end = this.text.indexOf('"', this.at + 1);
    while (end !== -1 && this.isEscaped(end)) end = this.text.indexOf('"', end + 1);
    if (end === -1) return undefined;
    const written = this.text.slice(this.at, end + 1);
    this.at = end + 1;
    try {
      return read<string>(written);
    } catch {
      return undefined;
    }
  }

  private isEscaped(at: number): boolean {
    let before = at - 1;
    while (this.text[before] === '\\') before -= 1;
    return (at - before) % 2 === 0;
  }
}

// The last one counts, as for every reader of JSON that keeps one of several.
export function member(tree: Tree | undefined, key: string): Tree | undefined {
  return tree?.kind === 'object' ? tree.members.findLast(one => one.key === key)?.value : undefined;
}

export function text(tree: Tree | undefined): string | undefined {
  return tree?.kind === 'string' ? tree.value : undefined;
}

export function isTrue(tree: Tree | undefined): boolean {
  return tree?.kind === 'word' && tree.text === 'true';
}

// As JSON again: the same numbers, the same order.
export function written(tree: Tree): string {
  switch (tree.kind) {
    case 'object': return `{${tree.members.map(({ key, value }) => `${JSON.stringify(key)}:${written(value)}`).join(',')}}`;
    case 'array': return `[${tree.items.map(written).join(',')}]`;
    case 'string': return JSON.stringify(tree.value);
    case 'number': case 'word': return tree.text;
  }
}
