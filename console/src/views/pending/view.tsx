// Pending: what waits for a decision or an answer of yours, and one of them in full.
import { useEffect } from 'preact/hooks';
import { type ListedRow, countdown, isApproval, named, timeLeft } from '../../model/questions';
import { CopyAs } from '../../parts/copy';
import { Name } from '../../parts/text';
import { address, place, setQuery } from '../../router';
import { session, state } from '../../session';
import { clock, counted, listed, word } from '../../words';
import { Effects, Question } from './question';
import { approvals, choose, chosen, declineChosen, declined, filter, fresh, hasFocus, hasPointer, isCut, lastDecided, latest, now, opened, questions, showFresh, shown } from './state';

export function title(): string {
  if (latest.value === undefined) return word('view_pending');
  const said = [approvals.value > 0 ? counted('approvals_pending', approvals.value) : '', questions.value > 0 ? counted('questions_pending', questions.value) : ''].filter(text => text !== '');
  return said.length === 0 ? word('nothing_pending') : `${said.join(', ')}.`;
}

export function PendingPage() {
  const is = opened.value;
  // A list that is not there any more is held by nobody.
  useEffect(() => () => { hasPointer.value = false; hasFocus.value = false; }, []);
  if (latest.value === undefined) return <section data-face="loading" aria-busy="true"><div class="grey" /><div class="grey short" /></section>;
  return (
    <>
      <header><h1>{title()}</h1><Filters /></header>
      <div class={is.kind === 'none' ? 'pending' : 'pending one'}>
        <div class="rows" data-holds onPointerEnter={() => { hasPointer.value = true; }} onPointerLeave={() => { hasPointer.value = false; }}
          onFocusIn={() => { hasFocus.value = true; }} onFocusOut={event => { hasFocus.value = event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget); }}>
          {fresh.value === 0 ? null : <button type="button" class="btn" data-fresh={fresh.value} onClick={showFresh}>{counted('fresh', fresh.value)}</button>}
          <List />
          <Chosen />
        </div>
        <Question is={is} />
      </div>
    </>
  );
}

function Filters() {
  const filters = ['all', 'mine'] as const;
  return (
    <div class="row" role="group" aria-label={word('filter')}>
      {filters.map(name => <button type="button" key={name} class="btn" aria-pressed={filter.value === name} data-filter={name} onClick={() => setQuery('of', name === 'all' ? undefined : name)}>{word(name === 'all' ? 'filter_all' : 'filter_mine')}</button>)}
    </div>
  );
}

function List() {
  const rows = shown.value;
  if (rows.length === 0) {
    return (
      <section class="card" data-face="empty">
        <p>{word(fresh.value > 0 ? 'nothing_shown' : filter.value === 'mine' ? 'nothing_of_yours' : 'nothing_waits')}</p>
        <p class="q">{session.value?.may.approve === true ? word('nothing_waits_why') : word('nothing_waits_not_approver')}</p>
        {lastDecided.value === undefined ? null : <p class="small q">{word('last_decided', { time: clock(lastDecided.value) })}</p>}
      </section>
    );
  }
  return (
    <div class="card list">
      <table aria-rowcount={isCut.value ? -1 : rows.length} aria-label={word('view_pending')}>
        <thead><tr>{[word('choose'), word('what'), word('expires')].map(name => <th key={name} scope="col"><span class="hidden-text">{name}</span></th>)}</tr></thead>
        <tbody>{rows.map((row, at) => <Row key={row.question.id} row={row} at={at} />)}</tbody>
      </table>
      {isCut.value ? <p class="small q">{word('list_is_cut')}</p> : null}
    </div>
  );
}

function Row({ row, at }: { row: ListedRow; at: number }) {
  const { question, gone } = row;
  const left = timeLeft(question, now.value);
  const isCurrent = place.value.item !== undefined && named(row, place.value.item);
  const outcome = declined.value.get(question.id);
  return (
    <tr aria-rowindex={at + 1} data-row={question.id} data-gone={gone} class={isCurrent ? 'current' : undefined}>
      <td><input type="checkbox" checked={chosen.value.has(question.id)} disabled={gone} aria-label={word('choose')} onChange={() => choose(question.id)} /></td>
      <td>
        <a href={address('pending', place.value.query, question.id)} aria-current={isCurrent ? 'true' : undefined}><Name text={question.confirm?.skill ?? question.text} /></a>
        <div class="small q"><Name text={question.owner ?? question.asked_by} /> {isApproval(question) && question.confirm != null ? <Effects effects={question.confirm.effects} /> : <span class="effect">{listed('kind', question.kind)}</span>}</div>
        {gone ? <div class="small q" data-over>{word('no_longer_open')}</div> : null}
        {outcome === undefined || outcome === 'done' || outcome === 'sending' ? null : <div class="small wrong"><Name text={outcome} /></div>}
      </td>
      <td class="left">{gone ? '' : left === 0 ? word('expired_short') : countdown(left)}</td>
    </tr>
  );
}

// Several are only ever declined.
function Chosen() {
  const count = chosen.value.size;
  if (count === 0) return null;
  const commands = [...chosen.value].map(id => `interlingua deny ${id}`).join('\n');
  if (session.value?.read_only === true) return <pre><code>{commands}</code></pre>;
  return (
    <>
      <p class="row"><button type="button" class="btn" data-act="decline-chosen" disabled={state.value !== 'signed-in'} onClick={() => void declineChosen()}>{counted('decline_chosen', count)}</button></p>
      <CopyAs forms={[{ name: word('copy_deny'), text: commands }]} />
    </>
  );
}
