// What the TypeScript SDK's clients of both versions check: one line a check, and a sum at the end.
// Both versions have the same methods on a client, so that one list of checks serves both.

import assert from 'node:assert/strict';

/** The command line that both clients share: `[--prefix P] [--mode M] URL`, or a command that speaks on stdio. */
export function options() {
  const rest = process.argv.slice(2);
  const found = { prefix: '', mode: 'auto', target: [] };
  while (rest.length > 0) {
    const word = rest.shift();
    if (found.target.length === 0 && (word === '--prefix' || word === '--mode')) {
      found[word.slice(2)] = rest.shift();
    } else {
      found.target.push(word, ...rest.splice(0));
    }
  }
  return found;
}

/** The client's answers to what a server may ask. */
export const answers = {
  elicitation: async () => ({ action: 'accept', content: { username: 'ada', email: 'ada@example.org' } }),
  sampling: async (request) => ({
    role: 'assistant',
    content: { type: 'text', text: `you said ${firstBlock(request.params.messages[0].content).text}` },
    model: 'm'
  }),
  roots: async () => ({ roots: [{ uri: 'file:///srv/project', name: 'project' }] })
};

/** Runs all checks, says which hold, and ends the program. */
export async function check(client, prefix) {
  const call = (tool, args = {}) => client.callTool({ name: prefix + tool, arguments: args });
  const text = (result) => result.content[0].text;
  const checks = {
    'lists tools': async () => {
      const names = (await client.listTools()).tools.map((tool) => tool.name);
      for (const tool of ['echo', 'test_simple_text', 'test_sampling']) assert.ok(names.includes(prefix + tool), tool);
    },
    'calls a tool': async () => assert.equal(text(await call('echo', { text: 'grüß dich' })), 'grüß dich'),
    'sees every kind of content': async () => {
      const kinds = (await call('test_multiple_content_types')).content.map((block) => block.type);
      assert.deepEqual(kinds, ['text', 'image', 'resource']);
    },
    'sees a tool fail': async () => {
      const result = await call('test_error_handling');
      assert.equal(result.isError, true);
      assert.match(text(result), /intentionally/);
    },
    'is refused an unknown tool': () => assert.rejects(call('there_is_no_such_tool'), (error) => error.code === -32602),
    'reads a resource': async () => {
      const { resources } = await client.listResources();
      const { uri } = resources.find((resource) => resource.name.endsWith('static-text'));
      const { contents } = await client.readResource({ uri });
      assert.equal(contents[0].text, 'This is the content of the static text resource.');
    },
    'gets a prompt': async () => {
      const name = `${prefix}test_prompt_with_arguments`;
      const { messages } = await client.getPrompt({ name, arguments: { arg1: 'a', arg2: 'b' } });
      assert.equal(messages[0].content.text, "Prompt with arguments: arg1='a', arg2='b'");
    },
    'completes an argument': async () => {
      const ref = { type: 'ref/prompt', name: `${prefix}test_prompt_with_arguments` };
      const { completion } = await client.complete({ ref, argument: { name: 'arg1', value: 'par' } });
      assert.ok(completion.values.includes('paris'), JSON.stringify(completion));
    },
    'is asked by a form': async () =>
      assert.match(text(await call('test_elicitation', { message: 'Who are you?' })), /ada@example\.org/),
    'lends its model': async () => assert.match(text(await call('test_sampling', { prompt: 'hello' })), /you said hello/),
    'shows its roots': async () =>
      assert.match(text(await call('test_input_required_result_list_roots')), /file:\/\/\/srv\/project/),
    'is asked twice': async () => assert.match(text(await call('test_input_required_result_multi_round')), /Both steps/)
  };
  let held = 0;
  for (const [name, run] of Object.entries(checks)) {
    try {
      await run();
      held += 1;
      console.log(`ok ${name}`);
    } catch (error) {
      console.log(`FAILED ${name}\n${error.stack ?? error}`);
    }
  }
  const all = Object.keys(checks).length;
  console.log(`${held} of ${all} checks hold`);
  await client.close();
  process.exit(held === all ? 0 : 1);
}

function firstBlock(content) {
  return Array.isArray(content) ? content[0] : content;
}
