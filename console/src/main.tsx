// The start. The first import takes the ticket out of the address.
import { ticket } from './ticket';

import { render } from 'preact';
import { App } from './app';
import { listenForKeys } from './keys';
import { applyPreferences } from './preferences';
import { start } from './session';
import { startPending } from './views/pending/state';

applyPreferences();
const root = document.getElementById('app');
if (root) render(<App />, root);
listenForKeys();
start(ticket);
startPending();
