// langchain.js: a middleware of LangChain.js that shows each model call the tools that the conversation needs.
import {createMiddleware} from 'langchain';
import {toJsonSchema} from '@langchain/core/utils/json_schema';

import {searchOf, turnsOf} from './search.js';

const ROLES = {human: 'user', ai: 'assistant'};

function turnOf(message) {
  return {role: ROLES[message.type] ?? message.type, content: message.content};
}

function definitionOf({name, description, schema}) {
  return {name, description, parameters: schema ? toJsonSchema(schema) : undefined};
}

/**
 * Returns a middleware for `createAgent({middleware})`.
 *
 * @param {import('./langchain.js').ToolSelectionOptions} options always: names of tools that the model always sees.
 */
export function toolSelection({always = [], ...options} = {}) {
  const selector = searchOf(options.search ?? options);
  return createMiddleware({
    name: 'WhichtoolToolSelection',
    async wrapModelCall(request, handler) {
      // Tools that the provider runs have no name to search for; the model always sees them.
      const isSearched = (tool) => typeof tool.name === 'string' && 'schema' in tool && !always.includes(tool.name);
      const searched = request.tools.filter(isSearched);
      const turns = turnsOf(request.messages.map(turnOf));
      if (searched.length <= selector.k || turns.length === 0) return handler(request);
      const found = await selector.select(turns, searched.map(definitionOf));
      const chosen = found.map((name) => searched.find((tool) => tool.name === name));
      return handler({...request, tools: [...request.tools.filter((tool) => !isSearched(tool)), ...chosen]});
    },
  });
}
