// Checks the declarations: tsc compiles this file, and nothing runs it.
import {toolSearchTool as hostedSearch} from '@openai/agents-openai';
import {defineTool} from '@github/copilot-sdk';
import {Agent} from '@mastra/core/agent';
import {toolSearch} from 'ai';
import {createAgent} from 'langchain';
import {Client, startServer, ToolSearch, WhichtoolError} from 'whichtool';
import {search} from 'whichtool/ai';
import {toolSearchTool} from 'whichtool/copilot';
import {toolSelection as langchainSelection} from 'whichtool/langchain';
import {toolSelection as mastraSelection} from 'whichtool/mastra';
import {clientSearch} from 'whichtool/openai-agents';

export async function useEverything(client: Client): Promise<string[]> {
  const found = await client.find({query: 'rain', k: 3, filter: {exclude: ['delete_*']}, format: 'openai'});
  const probability: number | null = found.hits[0].probability;
  const decided = await client.decide({input: 'rain', model: 'default', questions: [{type: 'predicate', instructions: 'a'}]});
  const added: number = (await client.addTools('[]', {provider: 'sky'})).added;
  const server = await startServer({model: 'whichtool-static-v1'});
  const metrics: string = await server.client.metrics({signal: AbortSignal.timeout(1000)});
  await server.close();
  // @ts-expect-error: a misspelt member
  await client.find({qery: 'rain'});
  // @ts-expect-error: the provider is required
  await client.removeProvider({});
  const error = new WhichtoolError('no');
  return [String(probability), decided.answers[0].type, String(added), metrics, error.code];
}

export const shared = new ToolSearch({k: 3});
export const hooks = [
  toolSearch({search: search(shared), maxResults: 3}),
  hostedSearch(clientSearch({url: 'http://127.0.0.1:8642'})),
  defineTool('tool_search_tool', toolSearchTool(shared)),
];
export const middleware = createAgent({model: 'openai:gpt', tools: [], middleware: [langchainSelection({always: ['a']})]});
export const agent = new Agent({id: 'a', name: 'a', instructions: '', model: 'openai/gpt', inputProcessors: [mastraSelection()]});
