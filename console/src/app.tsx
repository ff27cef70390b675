// The frame: rail, view, sheets.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { helpOpen } from './keys';
import { Face } from './parts/face';
import { HelpSheet, SignInSheet } from './parts/sheet';
import { type View, address, place, views } from './router';
import { session, state, updated } from './session';
import { HubPage } from './views/hub/view';
import { approvals, latest, questions } from './views/pending/state';
import { PendingPage, title } from './views/pending/view';
import { SettingsPage } from './views/settings/view';
import { word } from './words';

function viewName(view: View): string {
  switch (view) {
    case 'pending': return word('view_pending');
    case 'hub': return word('view_hub');
    case 'settings': return word('view_settings');
  }
}

function Page({ view }: { view: View }) {
  switch (view) {
    case 'pending': return <PendingPage />;
    case 'hub': return <HubPage />;
    case 'settings': return <SettingsPage />;
  }
}

// One line for screen readers, changed at most every five seconds.
const spoken = signal('');
const PAUSE = 5_000;
let spokenAt = -PAUSE;
let waiting: ReturnType<typeof setTimeout> | undefined;

function speak(): void {
  clearTimeout(waiting);
  if (state.peek() !== 'signed-in' || latest.peek() === undefined) return;
  const left = spokenAt + PAUSE - performance.now();
  if (left > 0) {
    waiting = setTimeout(speak, left);
    return;
  }
  spokenAt = performance.now();
  spoken.value = title();
}

export function App() {
  const { view } = place.value;
  const covered = state.value === 'signed-out' || helpOpen.value;
  useEffect(() => {
    const count = latest.value?.length ?? 0;
    document.title = `${count === 0 ? '' : `(${count}) `}${view === undefined ? word('console') : viewName(view)} · ${session.value?.hub.name ?? word('product')}`;
  });
  useEffect(speak, [approvals.value, questions.value, state.value]);
  return (
    <>
      <div class="app" data-state={state.value} inert={covered}>
        <Rail view={view} />
        <main id="content" tabIndex={-1} data-view={view ?? 'none'}>
          {updated.value ? <p class="notice" role="status" data-updated>{word('updated')} <button type="button" class="btn" onClick={() => location.reload()}>{word('reload')}</button></p> : null}
          {view === undefined
            ? <section data-face="empty"><h1>{word('no_view')}</h1><p><a href={address('hub')}>{word('no_view_do')}</a></p></section>
            : <Face><Page view={view} /></Face>}
        </main>
      </div>
      <p class="hidden-text" role="status" aria-live="polite" data-spoken>{spoken.value}</p>
      <SignInSheet />
      <HelpSheet />
    </>
  );
}

function Rail({ view }: { view: View | undefined }) {
  const hubName = session.value?.hub.name;
  const count = latest.value?.length ?? 0;
  return (
    <nav class="rail" aria-label={word('console')}>
      <a class="skip" href="#content" onClick={event => { event.preventDefault(); document.getElementById('content')?.focus(); }}>{word('skip')}</a>
      <div class="brand">
        <svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true"><path d="M3 6h4c5 0 5 12 10 12h4M3 18h4c5 0 5-12 10-12h4M3 12h18" /></svg>
        <div><b>{word('product')}</b><div class="micro qq">{hubName === undefined || hubName === word('product') ? null : <bdi>{hubName}</bdi>}<div>{location.host}</div></div></div>
      </div>
      <p class="caps">{word('group_console')}</p>
      <ul>{views.map(name => <li key={name}><a href={address(name)} aria-current={name === view ? 'page' : undefined}>{viewName(name)}{name === 'pending' && count > 0 ? <span class="badge" data-badge={count}>{count}</span> : null}</a></li>)}</ul>
      <div class="me">
        <div>{session.value === undefined ? null : <><div class="micro qq">{word('signed_in_as')}</div><bdi class="small">{session.value.subject}</bdi></>}</div>
        <button type="button" class="btn help" aria-label={word('help')} onClick={() => { helpOpen.value = true; }}>?</button>
      </div>
    </nav>
  );
}
