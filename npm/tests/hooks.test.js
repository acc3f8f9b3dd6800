// Runs the loop of an agent in each framework, with a fake model in place of a language model. WHICHTOOL_COMMAND names
// the command. A test whose framework is not installed is skipped by name.
import assert from 'node:assert/strict';
import {EventEmitter} from 'node:events';
import {createRequire} from 'node:module';
import {after, before, test} from 'node:test';

import {ToolSearch} from 'whichtool';

import {REQUEST, TOOLS} from './office.js';

const require = createRequire(import.meta.url);
const MODEL = 'whichtool-static-v1';

// Imports a framework, or skips the test.
async function need(t, name) {
  try {
    require.resolve(name);
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') {
      t.skip(`${name} is not installed`);
      return null;
    }
  }
  return import(name);
}

// The model saw few tools at a time, found the weather, and called it with the city.
function assertFound(shown, called) {
  assert.deepEqual(called, ['Oslo']);
  assert.ok(shown.some((names) => names.includes('get_weather')), 'the model never saw get_weather');
  assert.ok(Math.max(...shown.map((names) => names.length)) < 8, 'the model saw too many tools');
}

let search;
before(() => {
  search = new ToolSearch({model: MODEL, k: 3});
});
after(() => search.close());

test('ai: toolSearch finds deferred tools', async (t) => {
  const ai = await need(t, 'ai');
  if (!ai) return;
  const {MockLanguageModelV4} = await import('ai/test');
  const hook = await import('whichtool/ai');
  const called = [];
  const shown = [];
  const usage = {inputTokens: {total: 1, noCache: 1}, outputTokens: {total: 1, text: 1}};
  const call = (toolName, input) => ({
    content: [{type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input)}],
    finishReason: {unified: 'tool-calls'},
    usage,
    warnings: [],
  });
  const answers = [
    call('search', {query: REQUEST}),
    call('get_weather', {city: 'Oslo'}),
    {content: [{type: 'text', text: 'Take an umbrella.'}], finishReason: {unified: 'stop'}, usage, warnings: []},
  ];
  const model = new MockLanguageModelV4({
    doGenerate: async ({tools}) => {
      shown.push(tools.map((tool) => tool.name));
      return answers[shown.length - 1];
    },
  });
  const tools = {search: ai.toolSearch({search: hook.search(search), maxResults: 3})};
  for (const {name, description, parameters} of TOOLS) {
    const execute = async ({city}) => {
      called.push(city);
      return `Rain in ${city}`;
    };
    tools[name] = ai.tool({description, inputSchema: ai.jsonSchema(parameters), execute, deferLoading: true});
  }
  const result = await ai.generateText({model, tools, prompt: REQUEST, stopWhen: ai.isStepCount(4)});
  assert.equal(result.text, 'Take an umbrella.');
  assertFound(shown, called);
  assert.ok(!shown[0].includes('get_weather'));
});

test('openai-agents: the runner executes the search in the client', async (t) => {
  const agents = await need(t, '@openai/agents-core');
  const openai = await need(t, '@openai/agents-openai');
  if (!agents || !openai) return;
  const hook = await import('whichtool/openai-agents');
  const called = [];
  const shown = [];
  const answers = [
    [{type: 'tool_search_call', id: 's', call_id: 's', execution: 'client', status: 'completed', arguments: {query: REQUEST}}],
    [{type: 'function_call', id: 'f', callId: 'f', name: 'get_weather', status: 'completed', arguments: '{"city": "Oslo"}'}],
    [{type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [{type: 'output_text', text: 'Take an umbrella.'}]}],
  ];
  const model = {
    async getResponse({input}) {
      const found = input.filter((item) => item.type === 'tool_search_output').flatMap((item) => item.tools);
      shown.push(found.map((tool) => tool.name));
      return {usage: new agents.Usage(), output: answers[shown.length - 1]};
    },
  };
  const tools = TOOLS.map(({name, description, parameters}) =>
    agents.tool({
      name,
      description,
      parameters: {...parameters, additionalProperties: false},
      strict: true,
      deferLoading: true,
      execute: async ({city}) => {
        called.push(city);
        return `Rain in ${city}`;
      },
    }),
  );
  agents.setTracingDisabled(true);
  const agent = new agents.Agent({name: 'assistant', model, tools: [openai.toolSearchTool(hook.clientSearch(search)), ...tools]});
  const result = await new agents.Runner({tracingDisabled: true}).run(agent, REQUEST);
  assert.equal(result.finalOutput, 'Take an umbrella.');
  assertFound(shown, called);
});

test('copilot: the tool replaces the built-in search of a session', async (t) => {
  const copilot = await need(t, '@github/copilot-sdk');
  if (!copilot) return;
  const hook = await import('whichtool/copilot');
  const tool = copilot.defineTool('tool_search_tool', hook.toolSearchTool(search));
  assert.equal(tool.overridesBuiltInTool, true);
  assert.equal(tool.defer, 'never');
  // The session gives the tool the list of the runtime, and sends its result back.
  const sent = [];
  const connection = new EventEmitter();
  connection.sendRequest = async (method, parameters) => {
    sent.push({method, ...parameters});
    if (method !== 'session.tools.getCurrentMetadata') return {};
    return {tools: TOOLS.map(({name, description, parameters: schema}) => ({name, description, input_schema: schema}))};
  };
  const session = new copilot.CopilotSession('session', connection);
  session.registerTools([tool]);
  session._dispatchEvent({
    type: 'external_tool.requested',
    data: {requestId: 'r', sessionId: 'session', toolCallId: 'c', toolName: 'tool_search_tool', arguments: {query: REQUEST}},
  });
  while (!sent.some(({method}) => method === 'session.tools.handlePendingToolCall')) await new Promise((resolve) => setTimeout(resolve, 5));
  const {result} = sent.at(-1);
  assert.equal(result.resultType, 'success');
  assert.equal(result.toolReferences[0], 'get_weather');
  assert.equal(result.toolReferences.length, 3);
});

test('langchain: the middleware selects the tools of each model call', async (t) => {
  const langchain = await need(t, 'langchain');
  if (!langchain) return;
  const {FakeToolCallingModel} = await import('langchain');
  const hook = await import('whichtool/langchain');
  const called = [];
  const shown = [];
  class Model extends FakeToolCallingModel {
    bindTools(tools) {
      shown.push(tools.map((tool) => tool.name));
      return super.bindTools(tools);
    }
  }
  const model = new Model({toolCalls: [[{name: 'get_weather', args: {city: 'Oslo'}, id: '1'}], []]});
  const tools = TOOLS.map(({name, description, parameters}) =>
    langchain.tool(
      ({city}) => {
        called.push(city);
        return `Rain in ${city}`;
      },
      {name, description, schema: parameters},
    ),
  );
  const middleware = [hook.toolSelection({search, always: ['send_email']})];
  const agent = langchain.createAgent({model, tools, middleware});
  await agent.invoke({messages: [{role: 'user', content: REQUEST}]});
  assertFound(shown, called);
  assert.ok(shown.every((names) => names.includes('send_email')));
});

test('mastra: the processor selects the tools of each step', async (t) => {
  const agents = await need(t, '@mastra/core/agent');
  if (!agents) return;
  const {createTool} = await import('@mastra/core/tools');
  const {MastraLanguageModelV2Mock} = await import('@mastra/core/test-utils/llm-mock');
  const {z} = await import('zod');
  const hook = await import('whichtool/mastra');
  const called = [];
  const shown = [];
  const usage = {inputTokens: 1, outputTokens: 1, totalTokens: 2};
  const answers = [
    {content: [{type: 'tool-call', toolCallId: '1', toolName: 'get_weather', input: '{"city":"Oslo"}'}], finishReason: 'tool-calls', usage, warnings: []},
    {content: [{type: 'text', text: 'Take an umbrella.'}], finishReason: 'stop', usage, warnings: []},
  ];
  const model = new MastraLanguageModelV2Mock({
    doGenerate: async ({tools}) => {
      shown.push(tools.map((tool) => tool.name));
      return answers[shown.length - 1];
    },
  });
  const tools = {};
  for (const {name, description, argument} of TOOLS) {
    const execute = async ({city}) => {
      called.push(city);
      return {text: `Rain in ${city}`};
    };
    tools[name] = createTool({id: name, description, inputSchema: z.object({[argument]: z.string()}), execute});
  }
  const inputProcessors = [hook.toolSelection({search, always: ['send_email']})];
  const agent = new agents.Agent({id: 'assistant', name: 'assistant', instructions: 'Help.', model, tools, inputProcessors});
  const result = await agent.generate(REQUEST);
  assert.equal(result.text, 'Take an umbrella.');
  assertFound(shown, called);
  assert.ok(shown.every((names) => names.includes('send_email')));
});
