// Tests the client and the server of this process. WHICHTOOL_COMMAND names the command.
import assert from 'node:assert/strict';
import {execFile, spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import http from 'node:http';
import {test} from 'node:test';
import {promisify} from 'node:util';

import {Client, startServer, ToolSearch, WhichtoolError} from 'whichtool';

import {REQUEST, TOOLS} from './office.js';

const MODEL = 'whichtool-static-v1';
const source = TOOLS.map(({name, description, parameters}) => ({name, description, parameters}));

test('the client adds, lists, finds, shows and removes tools', async () => {
  const server = await startServer({model: MODEL});
  try {
    const {client} = server;
    const added = await client.addTools(source, {provider: 'office'});
    assert.equal(added.added, TOOLS.length);
    assert.equal((await client.listTools({limit: 2})).tools.length, 2);
    const found = await client.find({query: REQUEST, k: 2, format: 'openai'});
    assert.equal(found.hits[0].name, 'get_weather');
    assert.equal(found.definitions.length, 2);
    assert.equal((await client.getTool('office/get_weather')).name, 'get_weather');
    assert.deepEqual(await client.recordUsage({request: REQUEST, tools: ['office/get_weather']}).then((r) => r.recorded), 1);
    assert.match(await client.metrics(), new RegExp(`^whichtool_tools ${TOOLS.length}$`, 'm'));
    assert.equal((await client.removeTool('office/get_weather')).removed, 1);
    assert.equal((await client.removeProvider({provider: 'office'})).removed, TOOLS.length - 1);
    const embedded = await client.embed({input: ['a', 'b'], model: 'default'});
    assert.equal(embedded.data.length, 2);
  } finally {
    await server.close();
  }
});

test('errors have the code, status and pointer of the server', async () => {
  const server = await startServer({model: MODEL});
  try {
    await assert.rejects(server.client.find({query: 'x', k: 0}), (error) => {
      assert.ok(error instanceof WhichtoolError);
      assert.deepEqual([error.code, error.status, error.pointer], ['invalid', 400, '/k']);
      return true;
    });
    await assert.rejects(server.client.getTool('no/such'), {code: 'not_found', status: 404});
  } finally {
    await server.close();
  }
  await assert.rejects(server.client.health(), {code: 'unreachable', status: 0});
});

test('over TCP, the client sends its key, and reports an answer that is not JSON', async () => {
  const seen = [];
  const server = http.createServer((request, answer) => {
    seen.push(request.headers.authorization);
    answer.writeHead(request.url === '/health' ? 200 : 502).end('<html>');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new Client({url: `http://127.0.0.1:${server.address().port}/`, key: 'wt_key'});
  await assert.rejects(client.health(), {code: 'malformed'});
  await assert.rejects(client.status(), {code: 'http', status: 502});
  assert.deepEqual(seen, ['Bearer wt_key', 'Bearer wt_key']);
  server.closeAllConnections();
  server.close();
});

test('a request can be cancelled', async () => {
  const server = await startServer({model: MODEL});
  try {
    const stop = new AbortController();
    stop.abort();
    await assert.rejects(server.client.find({query: 'x'}, {signal: stop.signal}), {name: 'AbortError'});
  } finally {
    await server.close();
  }
});

test('a search imports each set of tools once, and keeps the last sets only', async () => {
  const server = await startServer({model: MODEL});
  const search = new ToolSearch({k: 2});
  search._server = Promise.resolve(server);
  try {
    const asked = await Promise.all([search.select(REQUEST, source), search.select(REQUEST, source)]);
    assert.deepEqual(asked[0], asked[1]);
    assert.equal(asked[0][0], 'get_weather');
    assert.equal((await server.client.listTools()).total, TOOLS.length);
    for (let i = 0; i < 9; i++) {
      const tools = [{name: `tool_${i}`, description: 'Forecast of the weather'}];
      assert.deepEqual(await search.select(REQUEST, tools), [`tool_${i}`]);
    }
    assert.equal((await server.client.listTools()).total, 8);
    assert.deepEqual(await search.select('', source), []);
    assert.deepEqual(await search.select(REQUEST, []), []);
    assert.deepEqual(await search.select([{role: 'user', content: REQUEST}], source, 1), ['get_weather']);
  } finally {
    await search.close();
  }
});

test('a search asks a running server for the tools that it shares with the caller', async () => {
  const server = await startServer({model: MODEL});
  try {
    await server.client.addTools(source, {provider: 'office'});
    const search = new ToolSearch({url: server.url, k: 3});
    assert.deepEqual(await search.select(REQUEST, [{name: 'get_weather'}, {name: 'not_there'}]), ['get_weather']);
    assert.deepEqual(await search.select(REQUEST, [{name: 'office__get_weather'}]), ['office__get_weather']);
    await search.close();
    assert.equal((await server.client.health()).status, 'ok');
  } finally {
    await server.close();
  }
});

test('a missing command is reported', async () => {
  await assert.rejects(startServer({command: '/no/such/command'}), /cannot start \/no\/such\/command/);
  await assert.rejects(startServer({args: ['--no-such-option']}), /ended with code 2 before it listened/);
});

// Prints the address of a server, and then waits, or ends.
const STARTER = `
import {startServer} from 'whichtool';
const server = await startServer({model: '${MODEL}'});
console.log(server.url);
if (process.argv.includes('wait')) setInterval(() => {}, 1000);
`;

async function awaitEnd(client) {
  while (await client.health().then(() => true, () => false)) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('the server ends with the process that started it', async () => {
  const {stdout} = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', STARTER]);
  const url = stdout.trim();
  await awaitEnd(new Client({url}));
  assert.ok(!existsSync(url.slice('unix:'.length)), 'the folder of the server is left');
});

test('the server ends when the process that started it is killed', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', STARTER, 'wait'], {stdio: ['ignore', 'pipe', 'inherit']});
  const url = await new Promise((resolve) => child.stdout.once('data', (line) => resolve(String(line).trim())));
  const client = new Client({url});
  assert.equal((await client.health()).status, 'ok');
  child.kill('SIGKILL');
  await awaitEnd(client);
});
