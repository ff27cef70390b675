// Sheets over the page: signing in, and the list of keys. What lies under a sheet stays as it is.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { helpOpen } from '../keys';
import { begin, session, signIn } from '../session';
import { word } from '../words';

function Sheet({ name, title, children }: { name: string; title: string; children: ComponentChildren }) {
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => { panel.current?.focus(); }, [name]);
  return (
    <div class="veil">
      <div class="sheet card" role="dialog" aria-modal="true" aria-labelledby="sheet-title" tabIndex={-1} ref={panel} data-sheet={name}>
        <h2 id="sheet-title">{title}</h2>
        {children}
      </div>
    </div>
  );
}

export function SignInSheet() {
  const asked = signIn.value;
  switch (asked.kind) {
    case 'none':
      return null;
    case 'confirm':
      return (
        <Sheet name="confirm" title={word('sign_in_as', { subject: asked.subject, hub: location.host })}>
          <p>{word('sign_in_as_why')}</p>
          <p class="row end">
            <button type="button" class="btn" onClick={() => { signIn.value = { kind: 'asked' }; }}>{word('cancel')}</button>
            <button type="button" class="btn pri" onClick={() => void begin(asked.credential, asked.subject)}>{word('sign_in')}</button>
          </p>
        </Sheet>
      );
    case 'asked':
    case 'refused':
      return (
        <Sheet name="sign-in" title={word('sign_in')}>
          {session.value === undefined ? null : <p>{word('session_ended')}</p>}
          {asked.kind === 'refused' ? <p class="notice fail" role="alert">{asked.fault.message}</p> : null}
          <p>{word('sign_in_how')}</p>
          <pre><code>interlingua open</code></pre>
          <TokenForm />
        </Sheet>
      );
  }
}

function TokenForm() {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? '';
    if (token === '') return;
    if (field.current) field.current.value = '';
    void begin({ token });
  };
  return (
    <form onSubmit={submit}>
      <label for="token">{word('sign_in_token')}</label>
      <p class="row">
        <input id="token" type="password" autocomplete="off" spellcheck={false} ref={field} aria-label={word('token')} />
        <button type="submit" class="btn pri">{word('sign_in')}</button>
      </p>
    </form>
  );
}

export function HelpSheet() {
  if (!helpOpen.value) return null;
  const rows: [string, string][] = [
    ['g p', word('key_pending')], ['g h', word('key_hub')], ['g s', word('key_settings')], ['j k', word('key_rows')], ['x', word('key_choose')],
    ['y', word('key_approve')], ['n', word('key_deny')], ['?', word('key_help')], ['Esc', word('key_escape')],
  ];
  return (
    <Sheet name="help" title={word('help')}>
      <dl class="kv">{rows.map(([keys, does]) => [<dt key={keys}><kbd>{keys}</kbd></dt>, <dd key={does}>{does}</dd>])}</dl>
      <p class="row end"><button type="button" class="btn" onClick={() => { helpOpen.value = false; }}>{word('close')}</button></p>
    </Sheet>
  );
}
