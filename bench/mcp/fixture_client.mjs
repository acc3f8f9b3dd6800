// Whether the TypeScript SDKs of MCP, as clients, get all they ask of our server: version 2 in both eras, version 1 in
// the legacy one, each over pipes and over HTTP.
//
//     node bench/mcp/fixture_client.mjs FIXTURE_SERVER NODE_MODULES
//
// NODE_MODULES has @modelcontextprotocol/client 2.4 and /sdk 1.32 (`npm i` of the conformance suite and the inspector
// brings both). Checks as bench/mcp/fixture_client.py; prints a table, and ends with status 1 where something fails.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [program, modules] = process.argv.slice(2);
const require = createRequire(`${modules}/x.js`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
const { Client: Client1 } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport: Stdio1 } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport: Http1 } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { ElicitRequestSchema } = await load("@modelcontextprotocol/sdk/types.js");

const info = { name: "whichtool-test", version: "1" };
const capabilities = { elicitation: {} };
const answer = async () => ({ action: "accept", content: { name: "Ada" } });
const textOf = (result) => result.content[0].text;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function client2(mode) {
    const client = new Client(info, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler("elicitation/create", answer);
    return client;
}

function client1() {
    const client = new Client1(info, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, answer);
    return client;
}

// Version 1 has a result's schema before the options.
const call = (client, name, options) =>
    client instanceof Client1
        ? client.callTool({ name, arguments: {} }, undefined, options)
        : client.callTool({ name, arguments: {} }, options);

const checks = {
    list: async (client) => {
        const { tools } = await client.listTools();
        return tools.length > 20 && tools[0].name === "test_simple_text";
    },
    call: async (client) => textOf(await call(client, "test_simple_text")).includes("simple text"),
    progress: async (client) => {
        const heard = [];
        await call(client, "test_tool_with_progress", { onprogress: (progress) => heard.push(progress.progress) });
        return heard.join() === "0,50,100";
    },
    question: async (client) => textOf(await call(client, "test_input_required_result_elicitation")) === "Hello, Ada!",
    resource: async (client) =>
        (await client.readResource({ uri: "test://static-text" })).contents[0].text.includes("static text"),
    prompt: async (client) =>
        JSON.stringify(await client.getPrompt({ name: "test_simple_prompt" })).includes("simple prompt"),
    cancel: async (client) => {
        const count = async () => Number(textOf(await call(client, "count_cancels")));
        const before = await count();
        const abort = new AbortController();
        const waiting = call(client, "wait", { signal: abort.signal }).catch(() => {});
        await pause(300);
        abort.abort();
        await waiting;
        for (let i = 0; i < 100; i++, await pause(50)) if ((await count()) > before) return true;
        return false;
    },
};

const server = spawn(program, ["127.0.0.1:0"], { stdio: ["pipe", "pipe", "inherit"] });
const address = await new Promise((got) => createInterface(server.stdout).once("line", got));
const url = new URL(`http://${address}/mcp`);
const cells = [];
for (const [era, make, Stdio, Http] of [
    ["2.x legacy", () => client2("legacy"), StdioClientTransport, StreamableHTTPClientTransport],
    ["2.x modern", () => client2({ pin: "2026-07-28" }), StdioClientTransport, StreamableHTTPClientTransport],
    ["2.x auto", () => client2("auto"), StdioClientTransport, StreamableHTTPClientTransport],
    ["1.x", client1, Stdio1, Http1],
])
    for (const wire of ["stdio", "http"]) cells.push([era, wire, make, wire === "stdio" ? Stdio : Http]);

console.log(`| client | wire | ${Object.keys(checks).join(" | ")} |`);
console.log("|---".repeat(Object.keys(checks).length + 2) + "|");
let good = true;
for (const [era, wire, make, Transport] of cells) {
    const client = make();
    const row = [];
    try {
        await client.connect(wire === "stdio" ? new Transport({ command: program, args: [] }) : new Transport(url));
        for (const check of Object.values(checks)) row.push(await check(client).catch((error) => String(error)));
        await client.close();
    } catch (error) {
        row.push(String(error));
    }
    good &&= row.length === Object.keys(checks).length && row.every((cell) => cell === true);
    console.log(`| ${era} | ${wire} | ${row.map((cell) => (cell === true ? "yes" : String(cell))).join(" | ")} |`);
}
server.stdin.end();
process.exit(good ? 0 : 1);
