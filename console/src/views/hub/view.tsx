// Who you are, what you may do, and which hub this is.
import { computed } from '@preact/signals';
import type { RightsView } from '../../api/types';
import { CopyAs, curl } from '../../parts/copy';
import { Mark } from '../../parts/mark';
import { end, offset, readAt, session, state } from '../../session';
import { moment, span, word } from '../../words';

const rights = ['owner', 'approve', 'register', 'observe', 'operate'] as const satisfies readonly (keyof RightsView)[];
const hubNow = computed(() => (readAt.value ?? 0) + offset.value);

function right(name: (typeof rights)[number]): string {
  switch (name) {
    case 'owner': return word('right_owner');
    case 'approve': return word('right_approve');
    case 'register': return word('right_register');
    case 'observe': return word('right_observe');
    case 'operate': return word('right_operate');
  }
}

export function HubPage() {
  const seen = session.value;
  if (seen === undefined) return null;
  const { hub, may } = seen;
  const title = word(seen.read_only ? 'title_hub_read_only' : 'title_hub', { subject: seen.subject });
  const time = (text: string | null | undefined): string => (text == null ? '–' : moment(Date.parse(text)));
  return (
    <>
      <header><h1>{title}</h1><button type="button" class="btn" disabled={state.value === 'away'} onClick={() => void end()}>{word('sign_out')}</button></header>
      <div class="cols">
        <div class="stack">
        <section class="card" aria-labelledby="you">
          <h2 id="you">{word('about_you')}</h2>
          <dl class="kv">
            <dt>{word('subject')}</dt><dd><bdi>{seen.subject}</bdi></dd>
            <dt>{word('chain')}</dt><dd><bdi>{seen.chain.join(' › ')}</bdi></dd>
            <dt>{word('session_until')}</dt><dd>{time(seen.until)}</dd>
            <dt>{word('session_idle')}</dt><dd>{time(seen.idle_until)}</dd>
          </dl>
        </section>
        <section class="card" aria-labelledby="rights">
          <h2 id="rights">{word('rights')}</h2>
          <dl class="kv">
            {rights.map(name => [
              <dt key={name}>{right(name)}</dt>,
              <dd key={`${name}=`} data-right={name}><Mark on={may[name]} />{may[name] ? word('yes') : word('no')}</dd>,
            ])}
          </dl>
        </section>
        </div>
        <section class="card" aria-labelledby="hub">
          <h2 id="hub">{word('about_hub')}</h2>
          <dl class="kv">
            <dt>{word('name')}</dt><dd><bdi>{hub.name}</bdi></dd>
            <dt>{word('id')}</dt><dd><code>{hub.id}</code></dd>
            <dt>{word('address')}</dt><dd><code>{hub.url}</code></dd>
            <dt>{word('version')}</dt><dd>{hub.version}</dd>
            <dt>{word('build')}</dt><dd><code>{hub.build}</code></dd>
            <dt>{word('started')}</dt><dd>{time(hub.started)}</dd>
            <dt>{word('uptime')}</dt><dd>{span(hubNow.value - Date.parse(hub.started))}</dd>
            <dt>{word('clock')}</dt><dd>{moment(hubNow.value)}</dd>
          </dl>
        </section>
      </div>
      <CopyAs forms={[{ name: word('copy_curl'), text: curl('session') }]} />
    </>
  );
}
