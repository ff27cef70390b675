// Text of others is text: isolated from what is around it, with everything that cannot be seen spelled out.
import { useSignal } from '@preact/signals';
import { beginning, escaped, opened, pieces, shortened, type LineBreaks, type Piece } from '../model/text';
import { number, word } from '../words';
import { useFolded } from './reading';

const FIRST = 2_000;
const MORE = 50_000;

function Pieces({ all }: { all: Piece[] }) {
  return (
    <>
      {all.map((piece, place) => {
        switch (piece.kind) {
          case 'plain': return piece.text;
          case 'escape': return <span key={place} class="esc">{piece.text}</span>;
          case 'mixed': return <mark key={place} title={word('mixed_scripts')}>{piece.text}</mark>;
        }
      })}
    </>
  );
}

// A name, an id, a key: one line, cut in the middle.
export function Name({ text }: { text: string }) {
  const short = shortened(text);
  return <bdi class="name" title={short === text ? undefined : escaped(beginning(text, FIRST))}><Pieces all={pieces(short, 'escaped')} /></bdi>;
}

// Any length: folded until all of it is asked for.
export function Text({ text, breaks = 'kept' }: { text: string; breaks?: LineBreaks }) {
  const most = useSignal(FIRST);
  const shown = beginning(text, most.value);
  const isFolded = shown.length < text.length;
  useFolded(isFolded);
  return (
    <>
      <bdi class="text"><Pieces all={pieces(shown, breaks)} /></bdi>
      {isFolded ? (
        <button type="button" class="btn fold" data-fold onClick={() => { most.value += MORE; }}>{word('show_more_characters', { n: number(text.length - shown.length) })}</button>
      ) : null}
    </>
  );
}

// An address of a peer's: all of it is shown, and a second click opens it.
export function Visit({ url }: { url: string }) {
  const isAsked = useSignal(false);
  const address = opened(url);
  if (address === undefined) return <p><code><Text text={url} breaks="escaped" /></code> <span class="q">{word('not_opened')}</span></p>;
  return (
    <div class="visit">
      <p><code class="address"><bdi>{address.before}<b>{address.host}</b><Pieces all={pieces(address.after, 'escaped')} /></bdi></code></p>
      {isAsked.value
        ? <a class="btn" href={address.url} target="_blank" rel="noopener noreferrer">{word('open_host', { host: address.host })}</a>
        : <button type="button" class="btn" onClick={() => { isAsked.value = true; }}>{word('open_page')}</button>}
    </div>
  );
}
