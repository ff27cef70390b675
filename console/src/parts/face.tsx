// The faces of a view. `data-face` says which one it is, to people who test and to programs that drive the page.
import type { ComponentChildren } from 'preact';
import { awaySince, check, failure, readAt, session, state } from '../session';
import { clock, word } from '../words';

// Older data stays while the hub is away or refuses; without any there is only the face.
export function Face({ children }: { children: ComponentChildren }) {
  const now = state.value;
  const shown = session.value !== undefined;
  switch (now) {
    case 'loading':
      return <section data-face="loading" aria-busy="true" aria-label={word('loading')}><div class="grey" /><div class="grey short" /><div class="grey" /></section>;
    case 'away':
      return <section data-face="away"><p class="notice" role="status">{word('away', { time: clock(awaySince.value ?? 0) })}</p>{shown ? children : null}</section>;
    case 'failed':
      return <section data-face="failed"><Failed />{shown ? children : null}</section>;
    case 'signed-out':
      return <section data-face="hidden">{shown ? children : <p class="q">{word('not_signed_in')}</p>}</section>;
    case 'signed-in':
      return <section data-face="ready">{children}</section>;
  }
}

function Failed() {
  const failed = failure.value;
  return (
    <div class="notice fail" role="alert">
      <p><b>{word('failed')}</b> {failed === undefined ? '' : `${failed.fault.kind}: ${failed.fault.message}`}</p>
      {failed?.trace === undefined ? null : <p class="small">{word('trace')} <code>{failed.trace}</code></p>}
      {readAt.value === undefined ? null : <p class="small">{word('as_of', { time: clock(readAt.value) })}</p>}
      <button type="button" class="btn" onClick={() => void check()}>{word('retry')}</button>
    </div>
  );
}
