// A protocol by its shape and letter: colour says nothing here.

interface Shape { letter: string; path: string }
const circle = 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z';
const square = 'M5 4h14a1 1 0 0 1 1 1v14a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1z';

function shape(protocol: string): Shape {
  switch (protocol) {
    case 'nlip': case 'envelope': return { letter: 'N', path: circle };
    case 'mcp': return { letter: 'M', path: square };
    case 'a2a': return { letter: 'A', path: 'M8 4h8l5 8-5 8H8l-5-8z' };
    case 'aip': return { letter: 'P', path: 'M12 2l10 10-10 10L2 12z' };
    case 'nlweb': return { letter: 'Q', path: 'M5 4h14a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-7l-4 4v-4H5a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z' };
    case 'site': case 'sites': return { letter: 'W', path: square };
  }
  return { letter: '›', path: 'M4 5h11l6 7-6 7H4z' };
}

export function Sign({ protocol }: { protocol: string }) {
  const { letter, path } = shape(protocol.split('/')[0] ?? '');
  return (
    <svg class="sign-of" width="18" height="18" viewBox="0 0 24 24" aria-hidden="true"><path d={path} /><text x="12" y="15.5" text-anchor="middle">{letter}</text></svg>
  );
}
