// mastra.js: a processor of Mastra that shows each step of an agent the tools that the conversation needs.
import {searchOf, turnsOf} from './search.js';

function definitionOf(name, {description, inputSchema, parameters}) {
  const schema = inputSchema ?? parameters;
  const json = schema?.['~standard']?.jsonSchema?.input?.({target: 'draft-07'}) ?? schema?.jsonSchema;
  return {name, description, parameters: typeof json?.type === 'string' ? json : undefined};
}

// Returns a message of Mastra's list as role and content.
function turnOf({role, content}) {
  return {role, content: content?.parts ?? content};
}

/**
 * Returns an input processor for `new Agent({inputProcessors})`.
 *
 * @param {import('./mastra.js').ToolSelectionOptions} options always: names of tools that the model always sees.
 */
export function toolSelection({always = [], ...options} = {}) {
  const selector = searchOf(options.search ?? options);
  return {
    id: 'whichtool',
    name: 'Tools chosen by whichtool',
    async processInputStep({messages, tools = {}}) {
      const searched = Object.entries(tools).filter(([name]) => !always.includes(name));
      const turns = turnsOf(messages.map(turnOf));
      if (searched.length <= selector.k || turns.length === 0) return undefined;
      const found = await selector.select(turns, searched.map(([name, tool]) => definitionOf(name, tool)));
      return {tools: Object.fromEntries([...always, ...found].filter((name) => name in tools).map((name) => [name, tools[name]]))};
    },
  };
}
