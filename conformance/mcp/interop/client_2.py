"""The official Python SDK, version 2 (both eras), against a server that has our fixture behind it.

    client_2.py [--mode auto|legacy|2026-07-28] [--prefix fixture__] http://127.0.0.1:7447/mcp
    client_2.py [--mode …] [--prefix fixture__] interlingua mcp -c hub.yaml
"""

import asyncio

import mcp_types as types
from checks import Checks, arguments, same, text, within
from mcp import Client, MCPError, StdioServerParameters


async def elicit(_context, _params):
    return types.ElicitResult(action="accept", content={"username": "ada", "email": "ada@example.org"})


async def sample(_context, params):
    said = params.messages[0].content.text
    return types.CreateMessageResult(role="assistant", content=types.TextContent(type="text", text=f"you said {said}"), model="m")


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///srv/project", name="project")])


class Caller:
    def __init__(self, client, prefix):
        self.client, self.prefix = client, prefix

    async def call(self, tool, arguments=None, **options):
        return await self.client.call_tool(self.prefix + tool, arguments or {}, **options)

    async def lists_tools(self):
        names = [tool.name for tool in (await self.client.list_tools()).tools]
        for tool in ["echo", "test_simple_text", "test_sampling"]:
            within(self.prefix + tool, names)

    async def calls(self):
        same(text(await self.call("echo", {"text": "grüß dich"})), "grüß dich")

    async def mirrors_an_argument_in_a_header(self):
        same(text(await self.call("test_custom_header", {"value": "a value"})), "a value")

    async def sees_content(self):
        kinds = [block.type for block in (await self.call("test_multiple_content_types")).content]
        same(kinds, ["text", "image", "resource"])

    async def sees_errors(self):
        result = await self.call("test_error_handling")
        same(result.is_error, True)
        within("intentionally", text(result))

    async def is_refused(self):
        try:
            result = await self.call("there_is_no_such_tool")
        except MCPError as error:
            same(error.error.code, types.INVALID_PARAMS)
        else:
            raise AssertionError(f"answered {result}")

    async def reads(self):
        resources = (await self.client.list_resources()).resources
        uri = next(resource.uri for resource in resources if resource.name.endswith("static-text"))
        contents = (await self.client.read_resource(uri)).contents
        same(contents[0].text, "This is the content of the static text resource.")

    async def gets_prompts(self):
        result = await self.client.get_prompt(self.prefix + "test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
        same(result.messages[0].content.text, "Prompt with arguments: arg1='a', arg2='b'")

    async def completes(self):
        prompt = types.PromptReference(name=self.prefix + "test_prompt_with_arguments")
        result = await self.client.complete(prompt, {"name": "arg1", "value": "par"})
        within("paris", result.completion.values)

    async def is_asked(self):
        within("ada@example.org", text(await self.call("test_elicitation", {"message": "Who are you?"})))

    async def lends_its_model(self):
        within("you said hello", text(await self.call("test_sampling", {"prompt": "hello"})))

    async def shows_its_roots(self):
        within("file:///srv/project", text(await self.call("test_input_required_result_list_roots")))

    async def is_asked_twice(self):
        within("Both steps", text(await self.call("test_input_required_result_multi_round")))

    async def sees_progress(self):
        seen = []

        async def told(progress, total, message):
            seen.append(progress)

        await self.call("test_tool_with_progress", progress_callback=told)
        same(seen, [0, 50, 100])


async def main():
    options = arguments(["auto", "legacy", "2026-07-28"])
    target = options.target
    server = target[0] if target[0].startswith("http") else StdioServerParameters(command=target[0], args=target[1:])
    answers = {"elicitation_callback": elicit, "sampling_callback": sample, "list_roots_callback": roots}
    checks = Checks()
    async with Client(server, mode=options.mode, **answers) as client:
        print(f"speaks {client.protocol_version} with {client.server_info and client.server_info.name}")
        if options.mode != "legacy":
            same(client.protocol_version, "2026-07-28")
        caller = Caller(client, options.prefix)
        await checks.holds("lists tools", caller.lists_tools)
        await checks.holds("calls a tool", caller.calls)
        await checks.holds("mirrors an argument in a header", caller.mirrors_an_argument_in_a_header)
        await checks.holds("sees every kind of content", caller.sees_content)
        await checks.holds("sees a tool fail", caller.sees_errors)
        await checks.holds("is refused an unknown tool", caller.is_refused)
        await checks.holds("reads a resource", caller.reads)
        await checks.holds("gets a prompt", caller.gets_prompts)
        await checks.holds("completes an argument", caller.completes)
        await checks.holds("is asked by a form", caller.is_asked)
        await checks.holds("lends its model", caller.lends_its_model)
        await checks.holds("shows its roots", caller.shows_its_roots)
        await checks.holds("is asked twice", caller.is_asked_twice)
        await checks.holds("sees progress", caller.sees_progress)
    checks.end()


asyncio.run(main())
