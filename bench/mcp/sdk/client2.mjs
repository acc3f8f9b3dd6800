// A client of bench/sdk_matrix.py by the TypeScript SDK @modelcontextprotocol/client, 2.x; reports as client.py does:
//     node bench/mcp/sdk/client2.mjs NODE_MODULES legacy|auto|REVISION PROGRAM ARGUMENT...
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, mode, command, ...args] = process.argv.slice(2);
const require = createRequire(`${modules}/x.js`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/client${name}`)).href);
const { Client } = await load("");
const { StdioClientTransport } = await load("/stdio");

const versionNegotiation = { mode: mode === "legacy" || mode === "auto" ? mode : { pin: mode } };
const capabilities = { sampling: {}, roots: {}, elicitation: {} };
const client = new Client({ name: "matrix", version: "1" }, { capabilities, versionNegotiation });
client.setRequestHandler("sampling/createMessage", async () => ({
    role: "assistant",
    content: { type: "text", text: "yes" },
    model: "none",
}));
client.setRequestHandler("roots/list", async () => ({ roots: [{ uri: "file:///ada" }] }));
client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { name: "Ada" } }));

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const call = async (name, input = {}, options) =>
    (await client.callTool({ name, arguments: input }, options)).content[0].text;

const checks = {
    tools: async () =>
        (await client.listTools()).tools.some((tool) => tool.name === "add") && (await call("add", { a: 2, b: 3 })) === "5",
    resources: async () =>
        (await client.readResource({ uri: "sdk://text" })).contents[0].text === "a text of the server",
    prompts: async () =>
        JSON.stringify(await client.getPrompt({ name: "hello", arguments: { name: "Ada" } })).includes("Say hello to Ada."),
    elicitation: async () => (await call("ask_user")) === "Hello, Ada!",
    sampling: async () => (await call("sample")) === "The model says yes",
    roots: async () => (await call("roots")).startsWith("roots: file:///ada"),
    progress: async () => {
        const heard = [];
        await call("progress", {}, { onprogress: (progress) => heard.push(progress.progress) });
        return heard.join() === "1,2,3";
    },
    cancel: async () => {
        const before = await call("count_cancels");
        const controller = new AbortController();
        const waiting = call("wait", {}, { signal: controller.signal }).catch(() => "cancelled");
        await pause(500);
        controller.abort();
        await waiting;
        for (let i = 0; i < 50; i++) {
            if ((await call("count_cancels")) !== before) return true;
            await pause(100);
        }
        return false;
    },
};

await client.connect(new StdioClientTransport({ command, args }));
const report = {};
for (const [name, check] of Object.entries(checks)) {
    try {
        report[name] = await check();
    } catch (error) {
        console.error(`${name}: ${error}`);
        report[name] = false;
    }
}
await client.close();
console.log(JSON.stringify(report));
process.exit(0);
