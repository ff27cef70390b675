// "Copy as": the same request for a terminal. No secret is copied: a command names the token by a variable.
import { signal } from '@preact/signals';
import { at } from '../api/client';
import { word } from '../words';

export interface CopyForm { name: string; text: string }
const copied = signal<string | undefined>(undefined);

export function CopyAs({ forms }: { forms: CopyForm[] }) {
  return (
    <p class="row small copy">
      <span class="q">{word('copy_as')}</span>
      {forms.map(({ name, text }) => (
        <button type="button" key={name} class="btn" data-copy={text} onClick={() => void copy(text)}>{copied.value === text ? word('copied') : name}</button>
      ))}
    </p>
  );
}

async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  copied.value = text;
}

// One word of a shell.
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// A read of the interface.
export function curl(path: string): string {
  return `curl -H "Authorization: Bearer $INTERLINGUA_TOKEN" ${quoted(at(path))}`;
}
