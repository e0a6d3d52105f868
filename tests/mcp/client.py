"""The official Python SDK asks semdex, in both ways to open a conversation, over HTTP and over standard input and output.

client.py BASE_URL TOKEN SEMDEX: the server has the package of tests/it/support.rs, which is the working directory.
"""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

base_url, token, semdex = sys.argv[1:]


async def converse(client, protocols):
    assert client.protocol_version in protocols, client.protocol_version
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == ["explore", "open", "describe", "usages", "map", "edit", "write", "rename", "impact", "diagnostics", "verify", "undo"], list(tools)
    assert all(tool.output_schema is None for tool in tools.values())
    assert tools["usages"].annotations.read_only_hint and not tools["edit"].annotations.read_only_hint

    async def call(name, **arguments):
        result = await client.call_tool(name, {"wait_ms": 120_000, **arguments})
        assert result.structured_content is None, result
        return bool(result.is_error), "".join(block.text for block in result.content)

    failed, text = await call("usages", symbol="greet")
    assert not failed and "greeter::greet" in text and "src/shout.rs" in text, text
    failed, text = await call("usages", symbol="gret")
    assert failed and "greeter::greet" in text, text
    failed, text = await call("usages", symbl="greet")
    assert failed and "symbl" in text and "symbol" in text, text
    failed, text = await call("edit", symbol="greeter::greet", at="whole", replacement="", dry_run=True)
    assert not failed and "src/shout.rs" in text, text
    try:
        await client.call_tool("grep", {})
    except Exception as error:
        assert "no tool `grep`" in str(error), error
    else:
        raise AssertionError("an unknown tool was taken")


async def main():
    headers = {"authorization": f"Bearer {token}"}
    for mode, protocols in [("auto", ["2026-07-28"]), ("legacy", ["2025-11-25"])]:
        async with create_mcp_http_client(headers=headers) as http:
            transport = streamable_http_client(f"{base_url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                await converse(client, protocols)
        print(f"python http {mode}: fine")
        stdio = StdioServerParameters(command=semdex, args=["mcp"], env=dict(os.environ), cwd=os.getcwd())
        async with Client(stdio, mode=mode) as client:
            await converse(client, protocols)
        print(f"python stdio {mode}: fine")


asyncio.run(main())
