// Lists and calls tools by the TypeScript SDKs of MCP, as call_tools.py does by Python's.
//
//     node call_tools.mjs MODULES MODE CALLS URL | MODULES MODE CALLS COMMAND...
//
// MODULES: as of typescript_client.mjs. MODE: sdk (1.x, legacy), or legacy, auto or a revision of the client 2.x.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, mode, text, ...target] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const isUrl = target[0].startsWith("http");
const old = mode === "sdk";

async function connect() {
  const options = { capabilities: {} };
  const base = old ? "@modelcontextprotocol/sdk/client" : "@modelcontextprotocol/client";
  const { Client, ...rest } = await load(old ? `${base}/index.js` : base);
  const http = old ? (await load(`${base}/streamableHttp.js`)).StreamableHTTPClientTransport : rest.StreamableHTTPClientTransport;
  const stdio = (await load(old ? `${base}/stdio.js` : `${base}/stdio`)).StdioClientTransport;
  const transport = isUrl ? new http(new URL(target[0])) : new stdio({ command: target[0], args: target.slice(1) });
  if (!old && mode !== "legacy") options.versionNegotiation = { mode: mode === "auto" ? "auto" : { pin: mode } };
  const client = new Client({ name: "bench", version: "1" }, options);
  await client.connect(transport);
  return client;
}

const client = await connect();
let listed = 0, cursor;
do {
  const page = await client.listTools({ cursor });
  listed += page.tools.length;
  cursor = page.nextCursor;
} while (cursor);
const said = {};
for (const [name, args] of Object.entries(JSON.parse(text))) {
  const result = await client.callTool({ name, arguments: args });
  said[name] = result.isError ? null : (result.content[0]?.text ?? "").slice(0, 200);
}
const revision = old ? "2025-11-25" : client.getNegotiatedProtocolVersion?.() ?? "";
console.log(JSON.stringify({ revision, listed, said }));
await client.close();
process.exit(0);
