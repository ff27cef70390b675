// Text of others as pieces that can be shown: what cannot be seen, or changes how the rest is read, becomes a visible escape, and a
// word of letters that look alike in several scripts is marked. Two different texts never look the same.

export type PieceKind = 'plain' | 'escape' | 'mixed';
export interface Piece { kind: PieceKind; text: string }

const PLAIN = /^[\x20-\x7e\n]*$/;
// Controls, formats (bidi, zero-width, tags), surrogates, private use, unassigned, separators of lines; fillers that are drawn as
// nothing; variation selectors; and the bracket of the escapes themselves.
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}\u27e8]/u;
const MARK = /\p{M}/u;
const MARKS = 4;
const WORD = /[\p{L}\p{M}]+/gu;
// Alphabets whose letters are mistaken for one another. A word has one of them.
const ALPHABETS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u, /\p{Script=Cherokee}/u, /\p{Script=Coptic}/u];

// In a text of several lines they stay; in a name, an id or a key a line break is hidden, too.
export type LineBreaks = 'kept' | 'escaped';

export function pieces(text: string, breaks: LineBreaks): Piece[] {
  if (PLAIN.test(text) && (breaks === 'kept' || !text.includes('\n'))) return text === '' ? [] : [{ kind: 'plain', text }];
  const all: Piece[] = [];
  let plain = '';
  let marks = 0;
  let run = { sign: '', times: 0 };
  const flush = (): void => {
    if (plain !== '') all.push(...words(plain));
    plain = '';
  };
  for (const sign of text) {
    marks = MARK.test(sign) ? marks + 1 : 0;
    const shown = sign === '\n' ? breaks === 'kept' : !HIDDEN.test(sign) && marks <= MARKS;
    if (shown) {
      plain += sign;
      run = { sign: '', times: 0 };
      continue;
    }
    const last = all.at(-1);
    // A thousand times the same is said once.
    if (sign === run.sign && last !== undefined) {
      run.times += 1;
      last.text = `⟨${name(sign)}×${run.times}⟩`;
    } else {
      flush();
      run = { sign, times: 1 };
      all.push({ kind: 'escape', text: `⟨${name(sign)}⟩` });
    }
  }
  flush();
  return all;
}

function name(sign: string): string {
  return `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function words(text: string): Piece[] {
  const all: Piece[] = [];
  let from = 0;
  for (const found of text.matchAll(WORD)) {
    if (!isMixed(found[0])) continue;
    if (found.index > from) all.push({ kind: 'plain', text: text.slice(from, found.index) });
    all.push({ kind: 'mixed', text: found[0] });
    from = found.index + found[0].length;
  }
  if (from < text.length) all.push({ kind: 'plain', text: text.slice(from) });
  return all;
}

function isMixed(word: string): boolean {
  return ALPHABETS.filter(alphabet => alphabet.test(word)).length > 1;
}

// All of it on one line, for a title.
export function escaped(text: string): string {
  return pieces(text, 'escaped').map(piece => piece.text).join('');
}

const NAME = 120;

// A name: the middle is left out of a long one, because both ends say what it is.
export function shortened(text: string): string {
  const signs = [...(text.length > 4 * NAME ? text.slice(0, 2 * NAME) + text.slice(-2 * NAME) : text)];
  const half = NAME / 2;
  return signs.length <= NAME ? signs.join('') : `${signs.slice(0, half - 1).join('')}…${signs.slice(-half).join('')}`;
}

// As much of a text as is shown at first; never half of a character.
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

export interface Address { url: string; before: string; host: string; after: string }

// An address that may be opened: `https`, or this machine. The host is in ASCII, as the browser will look it up.
export function opened(text: string): Address | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && local)) return undefined;
  // `https://bank.example@evil.example/` is at evil.example: a name before the host only misleads.
  if (url.username !== '' || url.password !== '') return undefined;
  const start = url.href.indexOf('//') + 2;
  return { url: url.href, before: url.href.slice(0, start), host: url.host, after: url.href.slice(start + url.host.length) };
}
