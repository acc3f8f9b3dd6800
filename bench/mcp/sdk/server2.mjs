// The server of bench/sdk_matrix.py by the TypeScript SDK @modelcontextprotocol/server, 2.x, which speaks both eras:
//     node bench/mcp/sdk/server2.mjs NODE_MODULES
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.argv[2]}/x.js`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/server${name}`)).href);
const { Server, inputRequired, acceptedContent } = await load("");
const { serveStdio } = await load("/stdio");

const text = (words) => ({ content: [{ type: "text", text: words }] });
const numbers = { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a", "b"] };
const person = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
let cancels = 0;

// Asks the client for one thing and answers once the client has sent it.
const ask = (ctx, request, answer) => {
    const given = ctx.mcpReq.inputResponses?.q;
    return given ? text(answer(given)) : inputRequired({ inputRequests: { q: request } });
};

const tools = {
    add: async ({ a, b }) => text(String(a + b)),
    progress: async (_, ctx, meta) => {
        for (const progress of [1, 2, 3]) {
            const params = { progressToken: meta.progressToken, progress, total: 3 };
            await ctx.mcpReq.notify({ method: "notifications/progress", params });
            await new Promise((done) => setTimeout(done, 50)); // a client drops what comes together with the result
        }
        return text("done");
    },
    wait: (_, ctx) =>
        new Promise((resolve) => {
            const timer = setTimeout(() => resolve(text("waited")), 60000);
            ctx.mcpReq.signal.addEventListener("abort", () => {
                cancels += 1;
                clearTimeout(timer);
                resolve(text("cancelled"));
            });
        }),
    count_cancels: async () => text(String(cancels)),
    ask_user: async (_, ctx) =>
        ask(
            ctx,
            inputRequired.elicit({ message: "What is your name?", requestedSchema: person }),
            () => `Hello, ${acceptedContent(ctx.mcpReq.inputResponses, "q")?.name}!`,
        ),
    sample: async (_, ctx) => {
        const messages = [{ role: "user", content: { type: "text", text: "Say yes." } }];
        const said = ({ content }) => `The model says ${(Array.isArray(content) ? content[0] : content).text}`;
        return ask(ctx, inputRequired.createMessage({ messages, maxTokens: 9 }), said);
    },
    roots: async (_, ctx) =>
        ask(ctx, inputRequired.listRoots(), ({ roots }) => "roots: " + roots.map((root) => root.uri).join(" ")),
};

serveStdio(() => {
    const server = new Server(
        { name: "sdk", version: "1" },
        { capabilities: { tools: {}, resources: {}, prompts: {} } },
    );
    server.setRequestHandler("tools/list", async () => ({
        tools: Object.keys(tools).map((name) => ({
            name,
            description: `The tool ${name}.`,
            inputSchema: name === "add" ? numbers : { type: "object" },
        })),
    }));
    server.setRequestHandler("tools/call", async ({ params }, ctx) =>
        tools[params.name](params.arguments, ctx, params._meta ?? ctx.mcpReq._meta),
    );
    server.setRequestHandler("resources/list", async () => ({ resources: [{ uri: "sdk://text", name: "text" }] }));
    server.setRequestHandler("resources/read", async ({ params }) => ({
        contents: [{ uri: params.uri, text: "a text of the server" }],
    }));
    server.setRequestHandler("prompts/list", async () => ({
        prompts: [{ name: "hello", arguments: [{ name: "name", required: true }] }],
    }));
    server.setRequestHandler("prompts/get", async ({ params }) => ({
        messages: [{ role: "user", content: { type: "text", text: `Say hello to ${params.arguments.name}.` } }],
    }));
    return server;
});
