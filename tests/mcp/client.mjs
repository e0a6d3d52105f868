// The official TypeScript SDK asks semdex, over HTTP and over standard input and output.
//
// client.mjs BASE_URL TOKEN SEMDEX: the server has the package of tests/it/support.rs, which is the working directory.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [baseUrl, token, semdex] = process.argv.slice(2);

async function converse(name, transport) {
  const client = new Client({ name: 'semdex-test', version: '1' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(it => it.name),
    ['explore', 'open', 'describe', 'usages', 'map', 'edit', 'write', 'rename', 'impact', 'diagnostics', 'verify', 'undo'],
  );
  assert(tools.every(it => it.outputSchema === undefined));
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: { wait_ms: 120_000, ...args } }, undefined, { timeout: 180_000 });
    assert.equal(result.structuredContent, undefined);
    return [result.isError === true, result.content.map(it => it.text).join('')];
  };
  let [failed, text] = await call('describe', { symbol: 'greet' });
  assert(!failed && text.includes('greeter::greet'), text);
  [failed, text] = await call('describe', { symbol: 'gret' });
  assert(failed && text.includes('greeter::greet'), text);
  [failed, text] = await call('open', { file: 7 });
  assert(failed && text.includes('file'), text);
  await assert.rejects(client.callTool({ name: 'grep', arguments: {} }), /no tool `grep`/);
  await client.close();
  console.log(`typescript ${name}: fine`);
}

const headers = { authorization: `Bearer ${token}` };
await converse('http', new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { requestInit: { headers } }));
await converse('stdio', new StdioClientTransport({ command: semdex, args: ['mcp'], env: { ...process.env } }));
