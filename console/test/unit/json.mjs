import assert from 'node:assert/strict';
import { test } from 'node:test';
import { member, scan, written } from '../../src/api/tree.ts';
import { compared, lines } from '../../src/model/lines.ts';

// The same numbers at every run.
function random(seed) {
  return () => {
    seed = (seed * 1664525 + 1013904223) % 4294967296;
    return seed / 4294967296;
  };
}

const SIGNS = ['a', '"', '\\', '\n', '\u0000', 'é', '😀', '\u202e', '/', '}', ']'];
const NUMBERS = ['0', '-0', '1.10', '12345678901234567890123', '1e400', '-1.5E-7'];
const KEYS = ['2', '1', '__proto__', 'constructor', '', 'a b'];

function any(next, depth) {
  const pick = all => all[Math.floor(next() * all.length)];
  const text = () => Array.from({ length: Math.floor(next() * 6) }, () => pick(SIGNS)).join('');
  const space = () => pick(['', ' ', '\n\t ']);
  const kind = Math.floor(next() * (depth > 4 ? 3 : 5));
  if (kind === 0) return pick(NUMBERS);
  if (kind === 1) return JSON.stringify(text());
  if (kind === 2) return pick(['true', 'false', 'null']);
  const items = Array.from({ length: Math.floor(next() * 4) }, () => any(next, depth + 1));
  if (kind === 3) return `[${space()}${items.join(`${space()},${space()}`)}${space()}]`;
  return `{${space()}${items.map(item => `${JSON.stringify(pick(KEYS))}${space()}:${space()}${item}`).join(',')}${space()}}`;
}

test('what is valid is read and written again as the same JSON', () => {
  const next = random(7);
  for (let round = 0; round < 2_000; round += 1) {
    const text = any(next, 0);
    const tree = scan(text);
    assert.ok(tree, text);
    const again = written(tree);
    // Without spaces outside of strings the text is the same, digit by digit and key by key.
    assert.equal(again, text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string) => (string === undefined ? '' : JSON.stringify(JSON.parse(string)))), text);
  }
});

test('what is cut or altered is refused where JSON.parse refuses it', () => {
  const next = random(11);
  for (let round = 0; round < 2_000; round += 1) {
    const text = any(next, 0);
    const at = Math.floor(next() * text.length);
    const broken = next() < 0.5 ? text.slice(0, at) : text.slice(0, at) + '{,:"0x]'[Math.floor(next() * 7)] + text.slice(at);
    let valid = true;
    try {
      JSON.parse(broken);
    } catch {
      valid = false;
    }
    assert.equal(scan(broken) !== undefined, valid, broken);
  }
});

test('no number, order or key is changed', () => {
  const tree = scan('{"a":1.10,"b":12345678901234567890123,"2":0,"1":0,"__proto__":{"x":1},"a":2}');
  assert.deepEqual(lines(tree).map(line => `${line.depth} ${line.key} ${line.text}`), ['0 undefined ', '1 a 1.10', '1 b 12345678901234567890123', '1 2 0', '1 1 0', '1 __proto__ ', '2 x 1', '1 a 2']);
  assert.equal(member(tree, 'a').text, '2');
  assert.equal(member(tree, 'constructor'), undefined);
  assert.equal({}.x, undefined);
});

test('depth and size are bounded', () => {
  assert.equal(scan('['.repeat(100_000)), undefined);
  assert.equal(scan(`${'['.repeat(300)}${']'.repeat(300)}`), undefined);
  assert.equal(lines(scan(`[${'1,'.repeat(99_999)}1]`)).length, 100_001);
  assert.equal(scan(JSON.stringify('x'.repeat(2_000_000))).value.length, 2_000_000);
});

test('a difference leads from one call to the other', () => {
  const next = random(3);
  for (let round = 0; round < 300; round += 1) {
    const [before, after] = [lines(scan(any(next, 1))), lines(scan(any(next, 1)))];
    const changes = compared(before, after);
    const told = line => `${line.depth} ${line.key} ${line.kind} ${line.text}`;
    assert.deepEqual(changes.filter(one => one.change !== 'added').map(one => told(one.line)), before.map(told));
    assert.deepEqual(changes.filter(one => one.change !== 'removed').map(one => told(one.line)), after.map(told));
  }
  assert.deepEqual(compared(lines(scan('{"a":1,"b":2}')), lines(scan('{"a":1,"b":3}'))).map(one => one.change), ['same', 'same', 'removed', 'added']);
  assert.ok(compared(lines(scan('[1,2]')), lines(scan('[1,2]'))).every(one => one.change === 'same'));
  const [long, other] = [`[${'1,'.repeat(1_500)}1]`, `[${'2,'.repeat(1_500)}2]`];
  assert.equal(compared(lines(scan(long)), lines(scan(other))), undefined);
});
