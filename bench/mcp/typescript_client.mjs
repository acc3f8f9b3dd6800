// What the TypeScript SDKs of MCP do with whichtool as a server: list, search, call, ask, progress, cancel.
//
//     node typescript_client.mjs MODULES MODE URL | MODULES MODE COMMAND...
//
// MODULES: a node_modules folder with @modelcontextprotocol/client (both eras) and /sdk (the legacy line). MODE: sdk (that
// line), legacy, auto, or a revision. Prints a JSON object: what worked, by name, and the revision that was agreed upon.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, mode, ...target] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const answer = { repository: "ada/engine", title: "It stops at noon" };
const isUrl = target[0].startsWith("http");
const old = mode === "sdk";

async function connect(elicit) {
  const info = { name: "test", version: "1" };
  const options = { capabilities: { elicitation: {} } };
  const base = old ? "@modelcontextprotocol/sdk/client" : "@modelcontextprotocol/client";
  const { Client, ...rest } = await load(old ? `${base}/index.js` : base);
  const http = old ? (await load(`${base}/streamableHttp.js`)).StreamableHTTPClientTransport : rest.StreamableHTTPClientTransport;
  const stdio = (await load(old ? `${base}/stdio.js` : `${base}/stdio`)).StdioClientTransport;
  const transport = isUrl ? new http(new URL(target[0])) : new stdio({ command: target[0], args: target.slice(1) });
  if (!old && mode !== "legacy") options.versionNegotiation = { mode: mode === "auto" ? "auto" : { pin: mode } };
  const client = new Client(info, options);
  if (old) {
    const { ElicitRequestSchema } = await load("@modelcontextprotocol/sdk/types.js");
    client.setRequestHandler(ElicitRequestSchema, elicit);
  } else {
    client.setRequestHandler("elicitation/create", elicit);
  }
  await client.connect(transport);
  return client;
}

const done = {};
let asked = 0, steps = 0;
const client = await connect(async () => { asked++; return { action: "accept", content: answer }; });
const call = (name, args, options) => old ? client.callTool({ name, arguments: args }, undefined, options)
                                          : client.callTool({ name, arguments: args }, options);
const { tools } = await client.listTools();
done.list = tools.map((tool) => tool.name).join() === "search_tools,get_tool_details,write_call";
const found = await call("search_tools", { query: "is it going to rain?" }, { onprogress: () => steps++ });
done.search = found.structuredContent.tools[0].name.includes("skycast");
done.progress = steps > 0;
const written = await call("write_call", { request: "open an issue", tool: "branchwork__create_issue" });
done.call = JSON.stringify(written.structuredContent.call.arguments) === JSON.stringify(answer) && asked > 0;
const stop = new AbortController();
const cancelled = call("search_tools", { query: "a search that nobody waits for" }, { signal: stop.signal })
  .then(() => false, () => true);
stop.abort();
done.cancel = await cancelled && !(await call("get_tool_details", { names: ["goodtable__book_table"] })).isError;
const read = await client.readResource({ uri: "whichtool://tools/goodtable/book_table" });
done.resource = read.contents[0].text.includes("book_table");
const revision = old ? client.transport?.protocolVersion ?? "2025-11-25" : client.getNegotiatedProtocolVersion?.() ?? "";
console.log(JSON.stringify({ client: old ? "typescript sdk" : "typescript", mode, revision, ...done }));
await client.close();
process.exit(Object.values(done).every(Boolean) ? 0 : 1);
