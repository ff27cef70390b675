// Calls through a hub with the official TypeScript SDK, version 2, in the newest revision that both speak: a caller of the
// matrix. Commands come on standard input and what was seen goes to standard output, as conformance/matrix/lines.py has it.
//
//     INTERLINGUA_TOKEN=… matrix.mjs http://127.0.0.1:7447

import { AsyncLocalStorage } from 'node:async_hooks';
import { createInterface } from 'node:readline';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

// Longer than any call takes: whoever waits for ever gives up by itself.
const PATIENCE = 600_000;

const asked = new AsyncLocalStorage();
const running = new Map();
const client = new Client(
  { name: 'matrix', version: '1.0.0' },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } }
);

/** A yes where one is wanted, else the answer of this call, in every field. */
client.setRequestHandler('elicitation/create', async ({ params }) => {
  const { seen, answer } = asked.getStore();
  seen.question = params.message;
  const fields = Object.entries(params.requestedSchema.properties);
  const content = Object.fromEntries(fields.map(([name, field]) => [name, field.type === 'boolean' ? true : answer]));
  return { action: 'accept', content };
});

function nothingYet() {
  return {
    outcome: 'completed', fault: null, task: null, question: null, pieces: [],
    texts: [], data: [], blobs: [], names: [], losses: []
  };
}

function readContents({ text, blob }, seen) {
  if (text === undefined) seen.blobs.push(blob);
  else seen.texts.push(text);
}

async function readBlock(block, seen) {
  const name = block._meta?.['interlingua/name'];
  if (name) seen.names.push(name);
  switch (block.type) {
    case 'text':
      seen.texts.push(block.text);
      break;
    case 'image':
    case 'audio':
      seen.blobs.push(block.data);
      break;
    case 'resource':
      seen.names.push(block.resource.uri);
      readContents(block.resource, seen);
      break;
    case 'resource_link':
      seen.names.push(block.name);
      for (const contents of (await client.readResource({ uri: block.uri })).contents) readContents(contents, seen);
      break;
  }
}

async function read(result, seen) {
  for (const block of result.content) await readBlock(block, seen);
  if (result.structuredContent !== undefined) seen.data.push(result.structuredContent);
  const meta = result._meta ?? {};
  seen.task = meta['interlingua/task'] ?? null;
  for (const { what, kind } of meta['interlingua/losses'] ?? []) seen.losses.push(`${what} ${kind}`);
  if (result.isError) {
    seen.outcome = 'failed';
    seen.fault = meta['interlingua/fault']?.kind ?? null;
  }
}

async function call(command, seen, signal) {
  const params = {
    name: `${command.peer}__${command.skill}`,
    arguments: command.agent ? { [command.argument]: command.words } : command.arguments
  };
  if (command.deadline) params._meta = { 'interlingua/deadline': command.deadline };
  const onprogress = ({ progress, total, message }) => {
    seen.pieces.push(`${progress} of ${total}: ${message}`);
  };
  const options = { signal, onprogress, timeout: PATIENCE };
  await read(await asked.run({ seen, answer: command.answer }, () => client.callTool(params, options)), seen);
}

async function play(command) {
  const seen = nothingYet();
  const giveUp = new AbortController();
  running.set(command.id, giveUp);
  try {
    await call(command, seen, giveUp.signal);
  } catch (error) {
    // An error of the server's has a code; anything else is this program's own.
    if (giveUp.signal.aborted) seen.outcome = 'left';
    else if (typeof error.code === 'number') Object.assign(seen, { outcome: 'failed', fault: error.message });
    else Object.assign(seen, { outcome: 'broken', fault: String(error.stack) });
  }
  running.delete(command.id);
  console.log(JSON.stringify({ id: command.id, seen }));
}

const requestInit = { headers: { authorization: `Bearer ${process.env.INTERLINGUA_TOKEN}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(`${process.argv[2]}/mcp`), { requestInit }));
console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  if ('cancel' in command) running.get(command.cancel)?.abort();
  else void play(command);
}
process.exit(0);
