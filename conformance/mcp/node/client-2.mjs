// The official TypeScript SDK, version 2 (both eras), against a server that has our fixture behind it.
//
//     client-2.mjs [--mode auto|legacy|2026-07-28] [--prefix fixture__] http://127.0.0.1:7447/mcp
//     client-2.mjs [--mode …] [--prefix fixture__] interlingua mcp -c hub.yaml

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { answers, check, options } from './checks.mjs';

const { prefix, mode, target } = options();
const [first, ...args] = target;
const transport = first.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(first))
  : new StdioClientTransport({ command: first, args });
const client = new Client(
  { name: 'client-2', version: '1.0.0' },
  {
    capabilities: { elicitation: {}, sampling: {}, roots: {} },
    versionNegotiation: { mode: mode === 'auto' || mode === 'legacy' ? mode : { pin: mode } }
  }
);
client.setRequestHandler('elicitation/create', answers.elicitation);
client.setRequestHandler('sampling/createMessage', answers.sampling);
client.setRequestHandler('roots/list', answers.roots);
await client.connect(transport);
console.log(`speaks ${client.getNegotiatedProtocolVersion?.()}`);
await check(client, prefix);
