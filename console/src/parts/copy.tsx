// "Copy as": the same request for a terminal. No secret is copied: a command names the token by a variable.
import { signal } from '@preact/signals';
import { at } from '../api/client';
import { word } from '../words';

const copied = signal<string | undefined>(undefined);

export function CopyAs({ path }: { path: string }) {
  const curl = `curl -H "Authorization: Bearer $INTERLINGUA_TOKEN" '${at(path)}'`;
  const item = (name: string, text: string) => (
    <button type="button" class="btn" onClick={() => void copy(name, text)}>{copied.value === name ? word('copied') : name}</button>
  );
  return (
    <p class="row small"><span class="q">{word('copy_as')}</span>{item(word('copy_curl'), curl)}</p>
  );
}

async function copy(name: string, text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  copied.value = name;
}
