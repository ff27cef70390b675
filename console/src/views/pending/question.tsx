// One question in full: who asks, for whom, what exactly will happen, and how it ended if it is over.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Tree, member } from '../../api/tree';
import type { EffectsView, PartView, QuestionView, SettledView } from '../../api/types';
import { compared, lines } from '../../model/lines';
import { countdown, isApproval, timeLeft } from '../../model/questions';
import { Block } from '../../parts/reading';
import { Sign } from '../../parts/sign';
import { Name, Text } from '../../parts/text';
import { Difference, Json } from '../../parts/tree';
import { address, place } from '../../router';
import { listed, moment, number, word } from '../../words';
import { Decide } from './decide';
import { Reply } from './reply';
import { type Opened, isLate, now } from './state';

export function Question({ is }: { is: Opened }) {
  switch (is.kind) {
    case 'none':
      return null;
    case 'loading':
      return <Frame status="loading"><div class="grey" /><div class="grey short" /><div class="grey" /></Frame>;
    case 'failed':
      return <Frame status="failed"><p class="notice fail" role="alert"><Text text={`${is.fault.kind}: ${is.fault.message}`} /></p></Frame>;
    case 'hidden':
      return <Frame status="hidden"><p class="notice" role="status" data-face="hidden"><Text text={is.fault.message} /></p></Frame>;
    case 'gone':
      return <Frame status="gone"><Title question={is.question} /><p class="notice" role="status">{word('not_open_for_you')}</p></Frame>;
    case 'settled':
      return <Frame status={is.settled.how}><Title question={is.question} /><Ended settled={is.settled} isCall={is.question?.confirm != null} /></Frame>;
    case 'open':
      return <Frame status={isLate.value ? 'expired' : 'open'}><Open question={is.question} tree={is.tree} /></Frame>;
  }
}

function Frame({ status, children }: { status: string; children: ComponentChildren }) {
  return (
    <article class="question card" data-question={status} aria-label={word('question')}>
      <p class="back"><a href={address('pending', place.value.query)}>{word('back_to_list')}</a></p>
      {children}
    </article>
  );
}

function Title({ question }: { question: QuestionView | undefined }) {
  if (question === undefined) return null;
  return <h2 class="what">{question.confirm == null ? <Text text={question.text} /> : <><Sign protocol={question.protocol ?? ''} /><Text text={question.confirm.skill} breaks="escaped" /></>}</h2>;
}

function Ended({ settled, isCall }: { settled: SettledView; isCall: boolean }) {
  const who = settled.decided_by ?? undefined;
  const answered = settled.granted === false ? 'declined' : isCall ? 'approved' : 'answered';
  const key = settled.how === 'answered' ? answered : settled.how;
  return (
    <p class="notice" role="status" data-ended={key}>
      {listed('ended', key)}{who === undefined ? null : <> {word('by')} <Name text={who} /></>}
      {settled.at == null ? null : <> · <time dateTime={settled.at}>{moment(Date.parse(settled.at))}</time></>}
    </p>
  );
}

function Open({ question, tree }: { question: QuestionView; tree: Tree | undefined }) {
  return (
    <>
      <header class="ask">
        <p class="state">{isLate.value ? word('expired_now') : isApproval(question) ? word('approval_needed') : listed('kind', question.kind)}</p>
        <Left question={question} />
      </header>
      <Block><Title question={question} /></Block>
      {question.confirm == null
        ? <><About question={question} /><ToolCall question={question} tree={tree} /><Reply question={question} tree={tree} /></>
        : <><Call question={question} tree={tree} effects={question.confirm.effects} parts={question.confirm.parts ?? []} /><Decide key={question.id} question={question} /></>}
    </>
  );
}

function Left({ question }: { question: QuestionView }) {
  const left = timeLeft(question, now.value);
  return <p class="left" role="timer" data-left={String(left)}>{left === 0 ? '' : word('time_left', { time: countdown(left) })}</p>;
}

function About({ question }: { question: QuestionView }) {
  return (
    <dl class="kv">
      <dt>{word('asked_by')}</dt><dd><Name text={question.asked_by} /></dd>
      <Who question={question} />
      <dt>{word('task')}</dt><dd><code><Name text={question.task} /></code></dd>
      <dt>{word('expires')}</dt><dd><time dateTime={question.expires}>{moment(Date.parse(question.expires))}</time></dd>
    </dl>
  );
}

function ToolCall({ question, tree }: { question: QuestionView; tree: Tree | undefined }) {
  const given = member(tree, 'arguments');
  if (question.tool == null) return null;
  return <section class="part"><h3><Name text={question.tool} /></h3>{given === undefined ? null : <Json tree={given} label={word('arguments')} />}</section>;
}

function Who({ question }: { question: QuestionView }) {
  const chain = question.chain ?? [];
  return (
    <>
      <dt>{word('who')}</dt>
      <dd>
        {chain.map((link, place) => <span key={place} class="link">{place === 0 ? null : <span class="qq"> › </span>}<Name text={link.subject} /> <span class="qq">({listed('proof', link.proof)})</span></span>)}
        {chain.length === 0 ? <Name text={question.owner ?? '–'} /> : null}
      </dd>
      <dt>{word('came_by')}</dt><dd>{question.wire == null ? '–' : <><Sign protocol={question.wire} /> <Name text={question.wire} /></>}</dd>
    </>
  );
}

function Call({ question, tree, effects, parts }: { question: QuestionView; tree: Tree | undefined; effects: EffectsView; parts: PartView[] }) {
  const confirm = member(tree, 'confirm');
  const given = member(confirm, 'arguments');
  const partTrees = member(confirm, 'parts');
  return (
    <>
      {question.asked_by === 'hub' ? null : <Block><p class="said"><Text text={question.text} /></p></Block>}
      <Block>
        <dl class="kv">
          <Who question={question} />
          <dt>{word('does')}</dt><dd><Effects effects={effects} /></dd>
          <dt>{word('offered_by')}</dt><dd><Name text={question.peer ?? '–'} /> <span class="qq">{question.protocol ?? ''}</span></dd>
          <dt>{word('skill_title')}</dt><dd><Text text={question.title ?? '–'} /></dd>
          <dt>{word('skill_says')}</dt><dd><Text text={question.description ?? '–'} /></dd>
          <dt>{word('why')}</dt><dd>{(question.why ?? []).length === 0 ? word('peer_asks') : (question.why ?? []).map(reason => listed('why', reason)).join('; ')}</dd>
          <dt>{word('trust')}</dt><dd>{listed('trust', question.trust ?? '')} <span class="qq">· {listed('led_by', question.led_by ?? '')}</span></dd>
        </dl>
      </Block>
      <section class="part" aria-labelledby="arguments">
        <h3 id="arguments">{word('arguments')}</h3>
        {given === undefined ? <p class="q">{word('no_arguments')}</p> : <Json tree={given} label={word('arguments')} />}
      </section>
      {parts.map((part, place) => <Part key={place} part={part} tree={partTrees?.kind === 'array' ? partTrees.items[place] : undefined} />)}
      <Last question={question} tree={tree} given={given} />
      <Block>
        <dl class="kv small">
          <dt>{word('digest')}</dt><dd><code data-digest><Text text={question.call ?? '–'} /></code></dd>
          <dt>{word('policy')}</dt><dd><code><Text text={question.policy ?? '–'} /></code></dd>
          <dt>{word('definition')}</dt><dd><code><Text text={question.definition ?? '–'} /></code></dd>
          <dt>{word('asked_at')}</dt><dd>{question.asked_at == null ? '–' : <time dateTime={question.asked_at}>{moment(Date.parse(question.asked_at))}</time>}</dd>
          <dt>{word('expires')}</dt><dd><time dateTime={question.expires}>{moment(Date.parse(question.expires))}</time></dd>
        </dl>
      </Block>
    </>
  );
}

const EFFECTS = ['reads', 'writes', 'destroys', 'spends', 'calls', 'unknown', 'idempotent'] as const satisfies readonly (keyof EffectsView)[];

export function Effects({ effects }: { effects: EffectsView }) {
  const all = EFFECTS.filter(effect => effects[effect]);
  return <span class="effects">{all.length === 0 ? word('effect_none') : all.map(effect => <span key={effect} class={`effect ${effect}`}>{listed('effect', effect)}</span>)}</span>;
}

// Content beside the arguments. Files are named and measured; nothing of them is drawn here.
function Part({ part, tree }: { part: PartView; tree: Tree | undefined }) {
  const data = member(tree, 'data');
  return (
    <section class="part">
      <h3>{listed('part', part.kind)} <span class="q">{word('from')} <Name text={part.by} /></span></h3>
      <Block>
        {part.name == null ? null : <p><Text text={part.name} breaks="escaped" /></p>}
        {part.media == null && part.size == null && part.sha256 == null ? null : (
          <p class="small q"><Name text={part.media ?? ''} /> {part.size == null ? '' : word('bytes', { n: number(part.size) })} {part.sha256 == null ? null : <code><Text text={part.sha256} /></code>}</p>
        )}
        {part.text == null ? null : <p class="said"><Text text={part.text} /></p>}
        {part.uri == null ? null : <p><code><Text text={part.uri} breaks="escaped" /></code></p>}
        {part.gps == null ? null : <p><Text text={part.gps} /></p>}
        {part.base64 == null || part.sha256 != null ? null : <p><code><Text text={part.base64} /></code></p>}
      </Block>
      {data === undefined ? null : <Json tree={data} label={listed('part', part.kind)} />}
    </section>
  );
}

// What differs from the last call of this skill by this caller that was approved.
function Last({ question, tree, given }: { question: QuestionView; tree: Tree | undefined; given: Tree | undefined }) {
  const { last } = question;
  const before = member(member(tree, 'last'), 'arguments');
  const changes = useMemo(() => compared(before === undefined ? [] : lines(before), given === undefined ? [] : lines(given)), [before, given]);
  return (
    <section class="part" aria-labelledby="since" data-last={last == null ? 'first' : 'again'}>
      <h3 id="since">{word('since_last')}</h3>
      {last == null ? <p class="q">{word('first_time')}</p> : (
        <>
          <p class="small q"><time dateTime={last.at}>{moment(Date.parse(last.at))}</time> {word('by')} <Name text={last.by} /></p>
          {changes === undefined ? <p class="q">{word('too_much_differs')}</p>
            : changes.every(one => one.change === 'same') ? <p class="q">{word('same_arguments')}</p>
              : <Difference changes={changes} label={word('since_last')} />}
        </>
      )}
    </section>
  );
}
