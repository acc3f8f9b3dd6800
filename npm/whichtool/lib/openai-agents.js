// openai-agents.js: tool search that the OpenAI Agents SDK runs in the client.
import {searchOf} from './search.js';

// Returns the words of a call, whose arguments may be JSON text.
function queryOf(call) {
  let asked = call.arguments;
  if (typeof asked === 'string') {
    try {
      asked = JSON.parse(asked);
    } catch {
      return asked;
    }
  }
  return typeof asked?.query === 'string' ? asked.query : '';
}

/**
 * Returns options for `toolSearchTool`. The search chooses among the agent's function tools with `deferLoading: true`.
 *
 * @param {import('./search.js').ToolSearchOptions | import('./search.js').ToolSearch} options
 */
export function clientSearch(options) {
  const selector = searchOf(options);
  return {
    execution: 'client',
    description: 'Finds tools for a task and loads them.',
    parameters: {
      type: 'object',
      properties: {query: {type: 'string', description: 'What the tool must do, in plain words.'}},
      required: ['query'],
      additionalProperties: false,
    },
    async execute({availableTools, toolCall}) {
      const deferred = availableTools.filter((tool) => tool.type === 'function' && tool.deferLoading);
      const names = await selector.select(queryOf(toolCall), deferred);
      return names.map((name) => deferred.find((tool) => tool.name === name));
    },
  };
}
