"""The official Python SDK, version 1 (revisions up to 2025-11-25), against a server that has our fixture behind it.

    client_1.py [--prefix fixture__] http://127.0.0.1:7447/mcp
    client_1.py [--prefix fixture__] interlingua mcp -c hub.yaml
"""

import asyncio
from contextlib import asynccontextmanager

from checks import Checks, arguments, same, text, within
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.exceptions import McpError


@asynccontextmanager
async def streams(target):
    if target[0].startswith("http"):
        async with streamablehttp_client(target[0]) as (read, write, _):
            yield read, write
    else:
        async with stdio_client(StdioServerParameters(command=target[0], args=target[1:])) as (read, write):
            yield read, write


async def elicit(_context, _params):
    return types.ElicitResult(action="accept", content={"username": "ada", "email": "ada@example.org"})


async def sample(_context, params):
    said = params.messages[0].content.text
    return types.CreateMessageResult(role="assistant", content=types.TextContent(type="text", text=f"you said {said}"), model="m")


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///srv/project", name="project")])


class Client:
    def __init__(self, session, prefix):
        self.session, self.prefix = session, prefix

    async def call(self, tool, arguments=None, **options):
        return await self.session.call_tool(self.prefix + tool, arguments or {}, **options)

    async def lists_tools(self):
        names = [tool.name for tool in (await self.session.list_tools()).tools]
        for tool in ["echo", "test_simple_text", "test_sampling"]:
            within(self.prefix + tool, names)

    async def calls(self):
        same(text(await self.call("echo", {"text": "grüß dich"})), "grüß dich")

    async def sees_content(self):
        kinds = [block.type for block in (await self.call("test_multiple_content_types")).content]
        same(kinds, ["text", "image", "resource"])

    async def sees_errors(self):
        result = await self.call("test_error_handling")
        same(result.isError, True)
        within("intentionally", text(result))

    async def is_refused(self):
        try:
            result = await self.call("there_is_no_such_tool")
        except McpError as error:
            same(error.error.code, types.INVALID_PARAMS)
        else:
            raise AssertionError(f"answered {result}")

    async def reads(self):
        resources = (await self.session.list_resources()).resources
        uri = next(resource.uri for resource in resources if resource.name.endswith("static-text"))
        contents = (await self.session.read_resource(uri)).contents
        same(contents[0].text, "This is the content of the static text resource.")

    async def gets_prompts(self):
        result = await self.session.get_prompt(self.prefix + "test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
        same(result.messages[0].content.text, "Prompt with arguments: arg1='a', arg2='b'")

    async def completes(self):
        prompt = types.PromptReference(type="ref/prompt", name=self.prefix + "test_prompt_with_arguments")
        result = await self.session.complete(prompt, {"name": "arg1", "value": "par"})
        within("paris", result.completion.values)

    async def is_asked(self):
        within("ada@example.org", text(await self.call("test_elicitation", {"message": "Who are you?"})))

    async def lends_its_model(self):
        within("you said hello", text(await self.call("test_sampling", {"prompt": "hello"})))

    async def shows_its_roots(self):
        within("file:///srv/project", text(await self.call("test_input_required_result_list_roots")))

    async def sees_progress(self):
        seen = []

        async def told(progress, total, message):
            seen.append(progress)

        await self.call("test_tool_with_progress", progress_callback=told)
        same(seen, [0, 50, 100])


async def main():
    options = arguments(["legacy"])
    checks = Checks()
    async with streams(options.target) as (read, write):
        answers = {"elicitation_callback": elicit, "sampling_callback": sample, "list_roots_callback": roots}
        async with ClientSession(read, write, **answers) as session:
            started = await session.initialize()
            print(f"speaks {started.protocolVersion} with {started.serverInfo.name}")
            client = Client(session, options.prefix)
            await checks.holds("lists tools", client.lists_tools)
            await checks.holds("calls a tool", client.calls)
            await checks.holds("sees every kind of content", client.sees_content)
            await checks.holds("sees a tool fail", client.sees_errors)
            await checks.holds("is refused an unknown tool", client.is_refused)
            await checks.holds("reads a resource", client.reads)
            await checks.holds("gets a prompt", client.gets_prompts)
            await checks.holds("completes an argument", client.completes)
            await checks.holds("is asked by a form", client.is_asked)
            await checks.holds("lends its model", client.lends_its_model)
            await checks.holds("shows its roots", client.shows_its_roots)
            await checks.holds("sees progress", client.sees_progress)
    checks.end()


asyncio.run(main())
