// copilot.js: a tool in place of the Copilot SDK's tool search.
import {searchOf} from './search.js';

const NAME = 'tool_search_tool';

/**
 * Returns a tool for `createSession({tools})`.
 *
 * @param {import('./search.js').ToolSearchOptions | import('./search.js').ToolSearch} options
 */
export function toolSearchTool(options) {
  const selector = searchOf(options);
  return {
    name: NAME,
    description: 'Finds tools for a task and loads them. Describe in words what the tool must do.',
    parameters: {
      type: 'object',
      properties: {query: {type: 'string', description: 'What the tool must do, in plain words.'}},
      required: ['query'],
    },
    overridesBuiltInTool: true,
    skipPermission: true,
    defer: 'never',
    async handler({query}, {availableTools = []}) {
      const tools = availableTools.filter((tool) => tool.name !== NAME);
      const described = tools.map(({name, description, input_schema: parameters}) => ({name, description, parameters}));
      const names = await selector.select(query, described);
      const text = names.length > 0 ? `Available now: ${names.join(', ')}` : 'No tool fits.';
      return {textResultForLlm: text, resultType: 'success', toolReferences: names};
    },
  };
}
