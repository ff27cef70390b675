// The decision about one call. There is none for several, and none before all of the call was shown.
import { useEffect, useRef } from 'preact/hooks';
import { at } from '../../api/client';
import type { QuestionView } from '../../api/types';
import { CopyAs, quoted } from '../../parts/copy';
import { allShown, someFolded } from '../../parts/reading';
import { Text } from '../../parts/text';
import { session, state } from '../../session';
import { word } from '../../words';
import { arm, isArmed } from './arming';
import { decide, isLate, sending } from './state';

export function Decide({ question }: { question: QuestionView }) {
  const buttons = useRef<HTMLDivElement>(null);
  useEffect(() => (buttons.current === null ? undefined : arm(buttons.current)), [question.id]);
  const isAway = state.value !== 'signed-in';
  const isSending = sending.value.kind === 'sending';
  const isOff = !isArmed.value || isAway || isLate.value || isSending;
  const why = isLate.value ? word('expired_now') : isAway ? word('away_now') : someFolded.value ? word('unfold_first') : allShown.value ? '' : word('scroll_first');
  // Not `disabled`: a button that is off keeps the focus, and says why it is off.
  const press = (approve: boolean) => (): void => { if (!isOff && (!approve || allShown.value)) void decide(question, approve); };
  return (
    <>
      <Sent />
      {session.value?.read_only === true
        ? <ReadOnly question={question} />
        : (
          <div class="decide" ref={buttons}>
            <p class="small q" id="why-off">{why}</p>
            <button type="button" class="btn" data-act="deny" data-key="n" aria-disabled={isOff} onClick={press(false)}>{word('deny')}</button>
            <button type="button" class="btn pri" data-act="approve" data-key="y" aria-disabled={isOff || !allShown.value} aria-describedby="why-off" onClick={press(true)}>{word('approve_exactly')}</button>
          </div>
        )}
      <CopyAs forms={forms(question)} />
    </>
  );
}

function ReadOnly({ question }: { question: QuestionView }) {
  return (
    <div class="notice" data-read-only>
      <p>{word('read_only_decide')}</p>
      <pre><code>interlingua approve {question.id}</code></pre>
      <pre><code>interlingua deny {question.id}</code></pre>
    </div>
  );
}

export function Sent() {
  const sent = sending.value;
  switch (sent.kind) {
    case 'none': return null;
    case 'sending': return <p class="small q" role="status">{word('sending')}</p>;
    case 'unknown': return <p class="notice" role="alert">{word('not_known_if_taken')}</p>;
    case 'refused': return <p class="notice fail" role="alert" data-refused={sent.fault.kind}><Text text={sent.fault.message} /></p>;
  }
}

// The same decision elsewhere, for exactly this call.
function forms(question: QuestionView): { name: string; text: string }[] {
  const body = JSON.stringify({ approve: true, call: question.call });
  const answer = { format: 'structured', subformat: 'json', label: 'interlingua-answer', content: { id: question.id, approve: true } };
  return [
    { name: word('copy_approve'), text: `interlingua approve ${question.id}` },
    { name: word('copy_deny'), text: `interlingua deny ${question.id}` },
    { name: word('copy_curl'), text: `curl -H "Authorization: Bearer $INTERLINGUA_TOKEN" -H 'Content-Type: application/json' -d ${quoted(body)} ${quoted(at(`confirmations/${encodeURIComponent(question.id)}`))}` },
    { name: word('copy_nlip'), text: JSON.stringify({ format: 'text', subformat: 'english', content: '', submessages: [answer] }) },
  ];
}
