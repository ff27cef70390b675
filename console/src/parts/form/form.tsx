// A form: every field by its kind. What was typed is held by its path in one signal, which outlives a sheet over the page.
import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { escaped, shortened } from '../../model/text';
import { CHOSEN, type Field, LENGTH, MOST_ITEMS, type Format, type Named, type Typed, below, chosenOf, lengthOf } from '../../model/schema';
import { word } from '../../words';
import { Name, Text } from '../text';

interface Held { typed: Signal<Typed>; path: string; wrong: ReadonlyMap<string, string> }

// Where only text can be: in an option, and in what a screen reader says.
function named(label: string): string {
  return escaped(shortened(label));
}

function put(typed: Signal<Typed>, path: string, value: string): void {
  typed.value = new Map(typed.value).set(path, value);
}

export function Form({ field, typed, wrong }: { field: Field; typed: Signal<Typed>; wrong: ReadonlyMap<string, string> }) {
  return <One field={field} held={{ typed, path: '', wrong }} label={word('answer')} isRequired={true} />;
}

function One({ field, held, label, isRequired }: { field: Field; held: Held; label: string; isRequired: boolean }) {
  switch (field.kind) {
    case 'group': return <div class="stack">{field.fields.map(one => <Labelled key={one.name} one={one} held={held} />)}</div>;
    case 'list': return <List field={field} held={held} label={label} />;
    case 'variant': return <Variants field={field} held={held} label={label} />;
    case 'fixed': return <code><Text text={field.json} /></code>;
    case 'text': case 'number': case 'flag': case 'choice': case 'json': return <Input field={field} held={held} label={label} isRequired={isRequired} />;
  }
}

function Labelled({ one, held }: { one: Named; held: Held }) {
  const path = below(held.path, one.name);
  const problem = held.wrong.get(path);
  const { title } = one;
  const label = one.isRequired ? named(title) : `${named(title)} ${word('optional')}`;
  return (
    <div class="field" data-field={path}>
      <p class="label"><Name text={title} />{one.isRequired ? null : <span class="qq"> {word('optional')}</span>}</p>
      {one.about === undefined ? null : <p class="small q"><Text text={one.about} /></p>}
      <One field={one.field} held={{ ...held, path }} label={label} isRequired={one.isRequired} />
      {problem === undefined ? null : <p class="small wrong" role="alert"><Text text={problem} /></p>}
    </div>
  );
}

type Simple = Extract<Field, { kind: 'text' | 'number' | 'flag' | 'choice' | 'json' }>;

function Input({ field, held, label, isRequired }: { field: Simple; held: Held; label: string; isRequired: boolean }) {
  const { typed, path } = held;
  const id = useId();
  const value = typed.value.get(path) ?? field.preset;
  const common = { id, 'aria-label': label, 'aria-required': isRequired, 'aria-invalid': held.wrong.has(path), value, autocomplete: 'off', spellcheck: false } as const;
  const onInput = (event: { currentTarget: { value: string } }): void => put(typed, path, event.currentTarget.value);
  switch (field.kind) {
    case 'number': return <input {...common} type="text" inputMode="decimal" onInput={onInput} />;
    case 'json': return <textarea {...common} rows={4} class="code" onInput={onInput} />;
    case 'flag': return (
      <select {...common} onInput={onInput}>
        <option value="">–</option><option value="true">{word('yes')}</option><option value="false">{word('no')}</option>
      </select>
    );
    case 'choice': return (
      <select {...common} onInput={onInput}>
        <option value="">–</option>
        {field.options.map(option => <option key={option.json} value={option.json}>{named(option.label)}</option>)}
      </select>
    );
    case 'text': return <Line format={field.format} common={common} onInput={onInput} />;
  }
}

interface Common { id: string; 'aria-label': string; 'aria-required': boolean; 'aria-invalid': boolean; value: string; autocomplete: 'off'; spellcheck: false }

// The hub says what fits: a browser would refuse an address or a moment that the hub takes.
function Line({ format, common, onInput }: { format: Format; common: Common; onInput: (event: { currentTarget: { value: string } }) => void }) {
  switch (format) {
    case 'secret': return <input {...common} type="password" onInput={onInput} />;
    case 'date': return <input {...common} type="date" onInput={onInput} />;
    case 'lines': return <textarea {...common} rows={4} onInput={onInput} />;
    case 'email': case 'url': case 'datetime': case 'line': return <input {...common} type="text" onInput={onInput} />;
  }
}

function List({ field, held, label }: { field: Extract<Field, { kind: 'list' }>; held: Held; label: string }) {
  const { typed, path } = held;
  const length = lengthOf(typed.value, path);
  const set = (value: number): void => put(typed, path + LENGTH, String(value));
  return (
    <div class="stack" role="group" aria-label={label}>
      {Array.from({ length }, (_, place) => <One key={place} field={field.item} held={{ ...held, path: below(path, place) }} label={`${label} ${place + 1}`} isRequired={false} />)}
      <p class="row">
        <button type="button" class="btn" disabled={length >= MOST_ITEMS} onClick={() => set(length + 1)}>{word('add_item')}</button>
        {length === 0 ? null : <button type="button" class="btn" onClick={() => set(length - 1)}>{word('remove_item')}</button>}
      </p>
    </div>
  );
}

function Variants({ field, held, label }: { field: Extract<Field, { kind: 'variant' }>; held: Held; label: string }) {
  const { typed, path } = held;
  const chosen = chosenOf(typed.value, path);
  const option = field.options[chosen];
  return (
    <div class="stack">
      <select aria-label={label} value={String(chosen)} onInput={event => put(typed, path + CHOSEN, event.currentTarget.value)}>
        {field.options.map((one, place) => <option key={place} value={String(place)}>{named(one.label)}</option>)}
      </select>
      {option === undefined ? null : <One field={option.field} held={{ ...held, path: below(path, chosen) }} label={named(option.label)} isRequired={true} />}
    </div>
  );
}
