// JSON as it was written, a line for each value. Long ones are shown piece by piece, so that no frame takes long.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Tree } from '../api/tree';
import { type Changed, type Line, lines } from '../model/lines';
import { number, word } from '../words';
import { Block, useFolded } from './reading';
import { Name, Text } from './text';

const FIRST = 200;
const MORE = 1_000;
const CHUNK = 40;
// Deeper lines are not moved further to the right.
const DEEPEST = 12;

function Row({ line, sign }: { line: Line; sign: string | undefined }) {
  return (
    <div class={`line d${Math.min(line.depth, DEEPEST)} ${sign === undefined ? '' : sign === '+' ? 'added' : 'removed'}`}>
      {sign === undefined ? null : <span class="sign">{sign} </span>}
      {line.key === undefined ? null : <><span class="key"><Name text={String(line.key)} /></span>{' '}</>}
      <Value line={line} />
    </div>
  );
}

function Value({ line }: { line: Line }) {
  switch (line.kind) {
    case 'object': return <span class="qq">{line.size === 0 ? '{}' : `{${number(line.size)}}`}</span>;
    case 'array': return <span class="qq">{line.size === 0 ? '[]' : `[${number(line.size)}]`}</span>;
    case 'string': return <span class="string">"<Text text={line.text} />"</span>;
    case 'number': return <span class="number"><Text text={line.text} /></span>;
    case 'word': return <span class="number">{line.text}</span>;
  }
}

function Rows({ rows, label }: { rows: { line: Line; sign: string | undefined }[]; label: string }) {
  const most = useSignal(FIRST);
  const shown = rows.slice(0, most.value);
  const isFolded = shown.length < rows.length;
  useFolded(isFolded);
  const chunks: { line: Line; sign: string | undefined }[][] = [];
  for (let place = 0; place < shown.length; place += CHUNK) chunks.push(shown.slice(place, place + CHUNK));
  return (
    <div class="tree" role="group" aria-label={label}>
      {chunks.map((chunk, place) => <Block key={place}>{chunk.map((row, at) => <Row key={at} line={row.line} sign={row.sign} />)}</Block>)}
      {isFolded ? <button type="button" class="btn fold" data-fold onClick={() => { most.value += MORE; }}>{word('show_more_lines', { n: number(rows.length - shown.length) })}</button> : null}
    </div>
  );
}

export function Json({ tree, label }: { tree: Tree; label: string }) {
  const rows = useMemo(() => lines(tree).map(line => ({ line, sign: undefined })), [tree]);
  return <Rows rows={rows} label={label} />;
}

// Only what differs, and what it is in.
export function Difference({ changes, label }: { changes: Changed[]; label: string }) {
  const rows = useMemo(() => changes.filter(one => one.change !== 'same').map(one => ({ line: one.line, sign: one.change === 'added' ? '+' : '−' })), [changes]);
  return <Rows rows={rows} label={label} />;
}
