import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scan } from '../../src/api/tree.ts';
import { countdown, filtered, joined, merged, named, timeLeft } from '../../src/model/questions.ts';
import { below, built, fields } from '../../src/model/schema.ts';

const question = (id, more = {}) => ({ id, task: id, kind: 'confirm', to: 'approvers', text: '', asked_by: 'hub', expires: '2026-01-01T00:10:00Z', ...more });
const ids = rows => rows.map(row => row.question.id);

test('two questions about one call are one row, whichever comes first', () => {
  const [own, run] = [question('a', { twin: 'b' }), question('b', { twin: 'a', asked_by: 'helper' })];
  for (const order of [[own, run], [run, own]]) {
    const rows = joined([...order, question('c')]);
    assert.deepEqual(ids(rows), ['a', 'c']);
    assert.ok(named(rows[0], 'a') && named(rows[0], 'b') && !named(rows[0], 'c'));
  }
  assert.deepEqual(ids(joined([question('a', { twin: 'elsewhere' })])), ['a']);
});

test('a list that is held keeps its order, marks what is over and counts what is new', () => {
  const rows = joined(['a', 'b'].map(id => question(id)));
  const shown = merged([], rows, false).rows;
  const later = joined(['c', 'b'].map(id => question(id)));
  const held = merged(shown, later, true);
  assert.deepEqual([ids(held.rows), held.rows.map(row => row.gone), held.fresh], [['a', 'b'], [true, false], 1]);
  assert.deepEqual(ids(merged([], later, true).rows), ['c', 'b']);
  const free = merged(held.rows, later, false);
  assert.deepEqual([ids(free.rows), free.fresh], [['c', 'b'], 0]);
});

test('mine are those of my own tasks', () => {
  const rows = joined([question('a', { owner: 'user:ann' }), question('b', { owner: 'user:bob' })]);
  assert.deepEqual(ids(filtered(rows, 'mine', 'user:ann')), ['a']);
  assert.equal(filtered(rows, 'all', 'user:ann').length, 2);
});

test('the time that is left ends at zero', () => {
  const at = Date.parse('2026-01-01T00:10:00Z');
  assert.equal(countdown(timeLeft(question('a'), at - 521_000)), '8:41');
  assert.equal(countdown(3_723_000), '1:02:03');
  assert.equal(timeLeft(question('a'), at + 5), 0);
});

const form = schema => fields(scan(JSON.stringify(schema)));
const answer = (schema, values) => built(form(schema), new Map(Object.entries(values)));

test('a form becomes JSON with numbers as they were typed', () => {
  const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' }, s: { type: 'string', default: 'x' }, b: { type: 'boolean' }, list: { type: 'array', items: { type: 'number' } }, k: { const: 1 }, e: { enum: [1, 'a'] }, deep: { type: 'object', properties: { 'a/b': { type: 'string' } } } } };
  assert.deepEqual(answer(schema, { '/n': '12345678901234567890123', '/list#': '2', '/list/0': '1.10', '/list/1': '', '/b': 'false', '/e': '"a"', '/deep/a~1b': 'y' }), { kind: 'json', json: '{"n":12345678901234567890123,"s":"x","b":false,"list":[1.10],"k":1,"e":"a","deep":{"a/b":"y"}}' });
  assert.deepEqual(answer(schema, { '/n': 'two' }), { kind: 'wrong', path: '/n' });
  assert.deepEqual(answer(schema, {}), { kind: 'wrong', path: '/n' });
  assert.equal(below('/a', 'b/c~'), '/a/b~1c~0');
});

test('a schema that refers to itself, is endless or senseless ends', () => {
  const self = { type: 'object', properties: { again: { $ref: '#' }, other: { $ref: '#/$defs/a' }, away: { $ref: 'https://evil.example/' } }, $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
  const read = form(self);
  assert.equal(read.kind, 'group');
  assert.deepEqual(read.fields.map(one => one.field.kind), ['group', 'json', 'json']);
  const wide = { type: 'object', properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, place) => [`f${place}`, { type: 'string' }])) };
  assert.equal(form(wide).kind, 'json');
  for (const odd of [true, {}, { type: 7 }, { type: ['string', 'null'] }, { enum: [] }, { oneOf: [] }, { properties: [] }, { type: 'array' }]) assert.equal(form(odd).kind, 'json', JSON.stringify(odd));
  const tree = { oneOf: [{ oneOf: [{ type: 'object', properties: { a: { $ref: '#' } } }, { $ref: '#' }] }, { $ref: '#' }] };
  assert.ok(form(tree));
});

test('values with names, as MCP writes them, are choices', () => {
  const read = form({ type: 'object', properties: { c: { oneOf: [{ const: 1.5, title: 'One and a half' }] }, d: { enum: ['a'], enumNames: ['The first'] } } });
  assert.deepEqual(read.fields.map(one => one.field.options), [[{ label: 'One and a half', json: '1.5' }], [{ label: 'The first', json: '"a"' }]]);
});
