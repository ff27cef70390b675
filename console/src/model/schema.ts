// A form from JSON Schema. A schema is a peer's: it may refer to itself, be endless or senseless. What cannot be drawn is asked for as
// JSON, and what counts is the hub's verdict alone; no pattern of a schema is ever run here.
import { type Tree, isTrue, member, scan, text, written } from '../api/tree';

export interface Option { label: string; json: string }
export type Field =
  | { kind: 'text'; format: Format; preset: string }
  | { kind: 'number'; preset: string }
  | { kind: 'flag'; preset: string }
  | { kind: 'choice'; options: Option[]; preset: string }
  | { kind: 'fixed'; json: string }
  | { kind: 'group'; fields: Named[] }
  | { kind: 'list'; item: Field }
  | { kind: 'variant'; options: Variant[] }
  | { kind: 'json'; preset: string };
export interface Variant { label: string; field: Field }
export interface Named { name: string; title: string; about: string | undefined; isRequired: boolean; field: Field }
export type Format = 'line' | 'lines' | 'secret' | 'email' | 'date' | 'datetime' | 'url';

const DEEPEST = 6;
const MOST_FIELDS = 200;
const MOST_OPTIONS = 500;
const LONG = 200;

interface Reading { root: Tree; fields: number }

export function fields(schema: Tree): Field {
  return field(schema, 0, { root: schema, fields: 0 });
}

function field(schema: Tree, depth: number, reading: Reading): Field {
  reading.fields += 1;
  const preset = member(schema, 'default');
  const json = (): Field => ({ kind: 'json', preset: preset === undefined ? '' : written(preset) });
  if (depth > DEEPEST || reading.fields > MOST_FIELDS) return json();
  const reference = text(member(schema, '$ref'));
  if (reference !== undefined) {
    const found = pointed(reading.root, reference);
    return found === undefined ? json() : field(found, depth + 1, reading);
  }
  const fixed = member(schema, 'const');
  if (fixed !== undefined) return { kind: 'fixed', json: written(fixed) };
  const chosen = options(schema);
  if (chosen !== undefined) return { kind: 'choice', options: chosen, preset: preset === undefined ? '' : written(preset) };
  const several = member(schema, 'oneOf') ?? member(schema, 'anyOf');
  if (several?.kind === 'array' && several.items.length > 0) {
    const variant = (one: Tree, place: number): Variant => ({ label: text(member(one, 'title')) ?? String(place + 1), field: field(one, depth + 1, reading) });
    return { kind: 'variant', options: several.items.slice(0, MOST_OPTIONS).map(variant) };
  }
  switch (kindOf(schema)) {
    case 'string': return { kind: 'text', format: format(schema), preset: text(preset) ?? '' };
    case 'integer': case 'number': return { kind: 'number', preset: preset?.kind === 'number' ? preset.text : '' };
    case 'boolean': return { kind: 'flag', preset: preset?.kind === 'word' ? preset.text : '' };
    case 'array': {
      const items = member(schema, 'items');
      return items?.kind === 'object' ? { kind: 'list', item: field(items, depth + 1, reading) } : json();
    }
    case 'object': return group(schema, depth, reading) ?? json();
    case undefined: return json();
  }
}

type Kind = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
const KINDS: readonly Kind[] = ['string', 'integer', 'number', 'boolean', 'array', 'object'];

function kindOf(schema: Tree): Kind | undefined {
  const type = text(member(schema, 'type'));
  if (type === undefined && member(schema, 'properties') !== undefined) return 'object';
  return KINDS.find(kind => kind === type);
}

function group(schema: Tree, depth: number, reading: Reading): Field | undefined {
  const properties = member(schema, 'properties');
  if (properties?.kind !== 'object' || properties.members.length === 0 || properties.members.length > MOST_FIELDS) return undefined;
  const required = member(schema, 'required');
  const needed = new Set(required?.kind === 'array' ? required.items.map(text) : []);
  const one = ({ key, value }: { key: string; value: Tree }): Named => ({
    name: key, title: text(member(value, 'title')) ?? key, about: text(member(value, 'description')), isRequired: needed.has(key), field: field(value, depth + 1, reading),
  });
  return { kind: 'group', fields: properties.members.map(one) };
}

// `enum`, and the way MCP names its values: `oneOf` of `const` with a title.
function options(schema: Tree): Option[] | undefined {
  const listed = member(schema, 'enum');
  if (listed?.kind === 'array' && listed.items.length > 0 && listed.items.length <= MOST_OPTIONS) {
    const names = member(schema, 'enumNames');
    const name = (place: number): string | undefined => (names?.kind === 'array' ? text(names.items[place]) : undefined);
    return listed.items.map((item, place) => ({ label: name(place) ?? text(item) ?? written(item), json: written(item) }));
  }
  const several = member(schema, 'oneOf') ?? member(schema, 'anyOf');
  if (several?.kind !== 'array' || several.items.length === 0 || several.items.length > MOST_OPTIONS) return undefined;
  const named: Option[] = [];
  for (const item of several.items) {
    const value = member(item, 'const');
    if (value === undefined) return undefined;
    named.push({ label: text(member(item, 'title')) ?? text(value) ?? written(value), json: written(value) });
  }
  return named;
}

function format(schema: Tree): Format {
  if (isTrue(member(schema, 'writeOnly'))) return 'secret';
  switch (text(member(schema, 'format'))) {
    case 'password': return 'secret';
    case 'email': return 'email';
    case 'date': return 'date';
    case 'date-time': return 'datetime';
    case 'uri': return 'url';
  }
  const longest = member(schema, 'maxLength');
  return longest?.kind === 'number' && Number(longest.text) > LONG ? 'lines' : 'line';
}

// Only what is inside the same schema.
function pointed(root: Tree, reference: string): Tree | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let found: Tree | undefined = root;
  for (const step of reference.slice(2).split('/')) found = member(found, step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return found;
}

// What was typed, by the path of its field. A path is the names on the way, so that nothing of a peer's is a key of ours.
export type Typed = ReadonlyMap<string, string>;

export function below(path: string, name: string | number): string {
  return `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

export const LENGTH = '#';
export const CHOSEN = '?';
// Items of a list that a person fills in.
export const MOST_ITEMS = 100;

export function lengthOf(typed: Typed, path: string): number {
  return Math.min(MOST_ITEMS, Number(typed.get(path + LENGTH) ?? 0));
}

export function chosenOf(typed: Typed, path: string): number {
  return Number(typed.get(path + CHOSEN) ?? 0);
}

export type Built = { kind: 'json'; json: string } | { kind: 'absent' } | { kind: 'wrong'; path: string };

// The answer as JSON. Numbers go as they were typed.
export function built(form: Field, typed: Typed, path = ''): Built {
  const value = typed.get(path);
  switch (form.kind) {
    case 'fixed': return { kind: 'json', json: form.json };
    case 'text': {
      const said = value ?? form.preset;
      return said === '' ? { kind: 'absent' } : { kind: 'json', json: JSON.stringify(said) };
    }
    case 'number': return parsed(value ?? form.preset, path, tree => tree.kind === 'number');
    case 'flag': case 'choice': return parsed(value ?? form.preset, path, () => true);
    case 'json': return parsed(value ?? form.preset, path, () => true);
    case 'variant': {
      const chosen = chosenOf(typed, path);
      const option = form.options[chosen];
      return option === undefined ? { kind: 'absent' } : built(option.field, typed, below(path, chosen));
    }
    case 'list': {
      const items: string[] = [];
      for (let place = 0; place < lengthOf(typed, path); place += 1) {
        const item = built(form.item, typed, below(path, place));
        if (item.kind === 'wrong') return item;
        if (item.kind === 'json') items.push(item.json);
      }
      return items.length === 0 ? { kind: 'absent' } : { kind: 'json', json: `[${items.join(',')}]` };
    }
    case 'group': {
      const members: string[] = [];
      for (const { name, isRequired, field: inner } of form.fields) {
        const at = below(path, name);
        const one = built(inner, typed, at);
        if (one.kind === 'wrong') return one;
        if (one.kind === 'json') members.push(`${JSON.stringify(name)}:${one.json}`);
        else if (isRequired && inner.kind === 'text') members.push(`${JSON.stringify(name)}:""`);
        else if (isRequired) return { kind: 'wrong', path: at };
      }
      return path !== '' && members.length === 0 ? { kind: 'absent' } : { kind: 'json', json: `{${members.join(',')}}` };
    }
  }
}

function parsed(said: string, path: string, fits: (tree: Tree) => boolean): Built {
  if (said.trim() === '') return { kind: 'absent' };
  const tree = scan(said);
  return tree !== undefined && fits(tree) ? { kind: 'json', json: written(tree) } : { kind: 'wrong', path };
}
