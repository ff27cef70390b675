// A ticket in the fragment, as `interlingua open` puts it there. It leaves the address while this module is evaluated, and the start
// imports this module before all others: no other code and no history entry sees it.

function take(): string | undefined {
  if (!location.hash.startsWith('#ticket=')) return undefined;
  const found = /^#ticket=([0-9a-f]{64})$/.exec(location.hash);
  history.replaceState(null, '', location.pathname + location.search);
  return found?.[1];
}

export const ticket = take();
