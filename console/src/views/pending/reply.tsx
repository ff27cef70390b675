// Questions that want something other than a decision: a form, a choice, a credential, a page to visit, what a tool returned.
import { useMemo, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { at } from '../../api/client';
import { type Tree, member } from '../../api/tree';
import type { QuestionView } from '../../api/types';
import { type Field, built, fields } from '../../model/schema';
import { CopyAs, quoted } from '../../parts/copy';
import { Form } from '../../parts/form/form';
import { Text, Visit } from '../../parts/text';
import { session, state } from '../../session';
import { word } from '../../words';
import { Sent } from './decide';
import { answer, isLate, sending, typed } from './state';

export function Reply({ question, tree }: { question: QuestionView; tree: Tree | undefined }) {
  if (session.value?.read_only === true) return <ReadOnly question={question} />;
  return (
    <>
      <Sent />
      <Asked question={question} tree={tree} />
      <CopyAs forms={forms(question)} />
    </>
  );
}

function Asked({ question, tree }: { question: QuestionView; tree: Tree | undefined }) {
  switch (question.kind) {
    case 'input': return (question.choices ?? []).length > 0 ? <Choices question={question} /> : <Input question={question} form={member(tree, 'form')} />;
    case 'credential': return <Credential question={question} />;
    case 'visit': return <Page question={question} />;
    case 'tool': return <Words question={question} label={word('tool_returned')} />;
  }
  return <p class="q">{word('answered_elsewhere')}</p>;
}

function isOff(): boolean {
  return state.value !== 'signed-in' || sending.value.kind === 'sending' || isLate.value;
}

function Buttons({ question, label }: { question: QuestionView; label: string }) {
  return (
    <p class="row end">
      <button type="button" class="btn" data-act="decline" disabled={isOff()} onClick={() => void answer(question, '"decline":true')}>{word('decline')}</button>
      <button type="submit" class="btn pri" data-act="answer" disabled={isOff()}>{label}</button>
    </p>
  );
}

function Choices({ question }: { question: QuestionView }) {
  const chosen = useSignal('');
  const submit = (event: Event): void => {
    event.preventDefault();
    if (chosen.value !== '') void answer(question, `"text":${JSON.stringify(chosen.value)}`);
  };
  return (
    <form onSubmit={submit} class="stack">
      <fieldset class="plain">
        <legend class="small q">{word('choose_one')}</legend>
        {(question.choices ?? []).map(choice => (
          <label class="choice" key={choice.id}><input type="radio" name="choice" value={choice.id} checked={chosen.value === choice.id} onChange={() => { chosen.value = choice.id; }} /><Text text={choice.text} /></label>
        ))}
      </fieldset>
      <Buttons question={question} label={word('send_answer')} />
    </form>
  );
}

function Input({ question, form }: { question: QuestionView; form: Tree | undefined }) {
  // An answer is an object; what has no fields that can be drawn is written as JSON.
  const field = useMemo((): Field => {
    const drawn: Field = form === undefined ? { kind: 'json', preset: '' } : fields(form);
    return drawn.kind === 'group' || drawn.kind === 'variant' ? drawn : { kind: 'json', preset: '' };
  }, [form]);
  const wrong = useSignal<string | undefined>(undefined);
  const problems = new Map<string, string>();
  if (sending.value.kind === 'refused') for (const { path, problem } of sending.value.fault.fields ?? []) problems.set(path, problem);
  if (wrong.value !== undefined) problems.set(wrong.value, word('does_not_fit'));
  const submit = (event: Event): void => {
    event.preventDefault();
    const said = built(field, typed.value);
    wrong.value = said.kind === 'wrong' ? said.path : said.kind === 'absent' ? '' : undefined;
    if (said.kind === 'json') void answer(question, `"arguments":${said.json}`);
  };
  return (
    <form onSubmit={submit} class="stack" autocomplete="off">
      {field.kind === 'json' ? <p class="small q">{word('answer_as_json')}</p> : null}
      <Form field={field} typed={typed} wrong={problems} />
      {problems.has('') ? <p class="small wrong" role="alert"><Text text={problems.get('') ?? ''} /></p> : null}
      <Buttons question={question} label={word('send_answer')} />
    </form>
  );
}

function Words({ question, label }: { question: QuestionView; label: string }) {
  const said = typed.value.get('') ?? '';
  const submit = (event: Event): void => {
    event.preventDefault();
    if (said.trim() !== '') void answer(question, `"text":${JSON.stringify(said)}`);
  };
  return (
    <form onSubmit={submit} class="stack" autocomplete="off">
      <textarea rows={3} aria-label={label} value={said} onInput={event => { typed.value = new Map([['', event.currentTarget.value]]); }} />
      <Buttons question={question} label={word('send_answer')} />
    </form>
  );
}

// The credential is in the field and in one request; nowhere else, and not after it.
function Credential({ question }: { question: QuestionView }) {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    const token = field.current?.value ?? '';
    if (token === '' || isOff()) return;
    if (field.current) field.current.value = '';
    void answer(question, `"token":${JSON.stringify(token)}`);
  };
  return (
    <form onSubmit={submit} class="stack" autocomplete="off">
      <p class="small q">{word('credential_for', { scheme: question.scheme ?? '' })} {(question.scopes ?? []).map(scope => <code key={scope}><Text text={scope} /></code>)}</p>
      <input type="password" autocomplete="off" spellcheck={false} aria-label={word('credential')} ref={field} />
      <Buttons question={question} label={word('send_credential')} />
    </form>
  );
}

function Page({ question }: { question: QuestionView }) {
  const submit = (event: Event): void => {
    event.preventDefault();
    void answer(question, '"visited":true');
  };
  return (
    <form onSubmit={submit} class="stack">
      <Visit url={question.url ?? ''} />
      <Buttons question={question} label={word('visited')} />
    </form>
  );
}

function ReadOnly({ question }: { question: QuestionView }) {
  return (
    <div class="notice" data-read-only>
      <p>{word('read_only_answer')}</p>
      <pre><code>interlingua answer {question.id} ANSWER</code></pre>
    </div>
  );
}

function forms(question: QuestionView): { name: string; text: string }[] {
  const body = JSON.stringify({ answer: { question: question.id, text: 'ANSWER' } });
  const answered = { format: 'structured', subformat: 'json', label: 'interlingua-answer', content: { id: question.id, answer: 'ANSWER' } };
  return [
    { name: word('copy_command'), text: `interlingua answer ${question.id} ANSWER` },
    { name: word('copy_curl'), text: `curl -H "Authorization: Bearer $INTERLINGUA_TOKEN" -H 'Content-Type: application/json' -d ${quoted(body)} ${quoted(at(`tasks/${encodeURIComponent(question.task)}/signals`))}` },
    { name: word('copy_nlip'), text: JSON.stringify({ format: 'text', subformat: 'english', content: '', submessages: [answered] }) },
  ];
}
