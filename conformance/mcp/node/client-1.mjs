// The official TypeScript SDK, version 1 (revisions up to 2025-11-25), against a server that has our fixture behind it.
//
//     client-1.mjs [--prefix fixture__] http://127.0.0.1:7447/mcp
//     client-1.mjs [--prefix fixture__] interlingua mcp -c hub.yaml

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema
} from '@modelcontextprotocol/sdk/types.js';

import { answers, check, options } from './checks.mjs';

const { prefix, target } = options();
const [first, ...args] = target;
const transport = first.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(first))
  : new StdioClientTransport({ command: first, args });
const client = new Client(
  { name: 'client-1', version: '1.0.0' },
  { capabilities: { elicitation: {}, sampling: {}, roots: {} } }
);
client.setRequestHandler(ElicitRequestSchema, answers.elicitation);
client.setRequestHandler(CreateMessageRequestSchema, answers.sampling);
client.setRequestHandler(ListRootsRequestSchema, answers.roots);
await client.connect(transport);
await check(client, prefix);
