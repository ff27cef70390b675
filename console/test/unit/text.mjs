import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginning, escaped, opened, pieces, shortened } from '../../src/model/text.ts';

const shown = (text, breaks = 'kept') => pieces(text, breaks).map(piece => (piece.kind === 'plain' ? piece.text : `${piece.kind}(${piece.text})`)).join('');

test('what cannot be seen is spelled out', () => {
  assert.equal(shown('photo\u202egpj.exe'), 'photoescape(⟨U+202E⟩)gpj.exe');
  assert.equal(shown('a\u200b\u200b\u200bb'), 'aescape(⟨U+200B×3⟩)b');
  assert.equal(shown('\u{e0041}x'), 'escape(⟨U+E0041⟩)x');
  assert.equal(shown('\u001b[31m'), 'escape(⟨U+001B⟩)[31m');
  assert.equal(shown('\ud800'), 'escape(⟨U+D800⟩)');
  assert.equal(shown('⟨U+202E⟩'), 'escape(⟨U+27E8⟩)U+202E⟩', 'what looks like an escape is told from one');
  assert.equal(shown('a\r\nb'), 'aescape(⟨U+000D⟩)\nb');
  assert.equal(shown('a\nb', 'escaped'), 'aescape(⟨U+000A⟩)b');
  // A code that begins with the digits of the one before is another one.
  assert.equal(shown('\ue002\u{e0020}'), 'escape(⟨U+E002⟩)escape(⟨U+E0020⟩)');
});

test('words of several alphabets are marked, other languages are not', () => {
  assert.equal(shown('go to p\u0430ypal.com'), 'go to mixed(p\u0430ypal).com');
  assert.equal(shown('привет, world и T\u30b7\u30e3\u30c4'), 'привет, world и T\u30b7\u30e3\u30c4');
  assert.equal(shown('Größe, señor, Ελλάδα'), 'Größe, señor, Ελλάδα');
});

test('at most four marks stand on a letter', () => {
  assert.equal(shown(`z${'\u0301'.repeat(4)}`), `z${'\u0301'.repeat(4)}`);
  assert.equal(shown(`z${'\u0301'.repeat(6)}a`), `z${'\u0301'.repeat(4)}escape(⟨U+0301×2⟩)a`);
});

test('two texts never look the same', () => {
  const all = ['a', 'a\u200b', '\u200ba', 'a\u200b\u200b', '⟨U+200B⟩a', 'a⟨U+200B⟩', 'a\u200c', '\ufeffa', 'a\n', 'a\u2028'];
  assert.equal(new Set(all.map(text => JSON.stringify(pieces(text, 'kept')))).size, all.length);
  assert.equal(new Set(all.map(escaped)).size, all.length);
});

test('names are cut in the middle, texts never inside a character', () => {
  assert.equal(shortened('x'.repeat(120)).length, 120);
  const long = shortened(`begin${'x'.repeat(1_000_000)}end`);
  assert.ok(long.startsWith('begin') && long.endsWith('end') && long.includes('…') && [...long].length === 120);
  assert.equal([...shortened('😀'.repeat(200))].length, 120);
  assert.equal(beginning('a😀', 2), 'a');
  assert.equal(beginning('abc', 5), 'abc');
});

test('only https and this machine are opened, and the host is in ASCII', () => {
  assert.equal(opened('https://b\u00fccher.example/x').host, 'xn--bcher-kva.example');
  assert.equal(opened('http://127.0.0.1:8080/x').host, '127.0.0.1:8080');
  for (const no of ['http://shop.example/', 'javascript:alert(1)', 'data:text/html,x', 'ftp://x/', '//x', 'https://bank.example@evil.example/', 'file:///etc/passwd', '']) assert.equal(opened(no), undefined, no);
  const { before, host, after, url } = opened('https://pay.example:8443/a?b#c');
  assert.equal(before + host + after, url);
});
