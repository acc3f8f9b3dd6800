// The server of bench/sdk_matrix.py by the TypeScript SDK @modelcontextprotocol/sdk, 1.0 to 1.x:
//     node bench/mcp/sdk/server1.mjs NODE_MODULES
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.argv[2]}/x.js`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)).href);
const { Server } = await load("server/index.js");
const { StdioServerTransport } = await load("server/stdio.js");
const types = await load("types.js");

const server = new Server(
    { name: "sdk", version: "1" },
    { capabilities: { tools: {}, resources: {}, prompts: {} } },
);
const text = (words) => ({ content: [{ type: "text", text: words }] });
const numbers = { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a", "b"] };
let cancels = 0;

const tools = {
    add: async ({ a, b }) => text(String(a + b)),
    progress: async (_, extra, meta) => {
        for (const progress of [1, 2, 3]) {
            await server.notification({
                method: "notifications/progress",
                params: { progressToken: meta.progressToken, progress, total: 3 },
            });
            await new Promise((done) => setTimeout(done, 50)); // a client drops what comes together with the result
        }
        return text("done");
    },
    wait: (_, extra) =>
        new Promise((resolve) => {
            const timer = setTimeout(() => resolve(text("waited")), 60000);
            extra?.signal?.addEventListener("abort", () => {
                cancels += 1;
                clearTimeout(timer);
                resolve(text("cancelled"));
            });
        }),
    count_cancels: async () => text(String(cancels)),
    ask_user: async () => {
        const answer = await server.elicitInput({
            message: "What is your name?",
            requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        });
        return text(`Hello, ${answer.content.name}!`);
    },
    sample: async () => {
        const answer = await server.createMessage({
            messages: [{ role: "user", content: { type: "text", text: "Say yes." } }],
            maxTokens: 9,
        });
        return text(`The model says ${answer.content.text}`);
    },
    roots: async () => text("roots: " + (await server.listRoots()).roots.map((root) => root.uri).join(" ")),
};

server.setRequestHandler(types.ListToolsRequestSchema, async () => ({
    tools: Object.keys(tools).map((name) => ({
        name,
        description: `The tool ${name}.`,
        inputSchema: name === "add" ? numbers : { type: "object" },
    })),
}));
server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) =>
    tools[params.name](params.arguments, extra, params._meta),
);
server.setRequestHandler(types.ListResourcesRequestSchema, async () => ({
    resources: [{ uri: "sdk://text", name: "text" }],
}));
server.setRequestHandler(types.ReadResourceRequestSchema, async ({ params }) => ({
    contents: [{ uri: params.uri, text: "a text of the server" }],
}));
server.setRequestHandler(types.ListPromptsRequestSchema, async () => ({
    prompts: [{ name: "hello", arguments: [{ name: "name", required: true }] }],
}));
server.setRequestHandler(types.GetPromptRequestSchema, async ({ params }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Say hello to ${params.arguments.name}.` } }],
}));
await server.connect(new StdioServerTransport());
