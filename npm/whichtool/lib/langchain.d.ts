import type {AgentMiddleware} from 'langchain';

import type {ToolSearch, ToolSearchOptions} from './search.js';

export interface ToolSelectionOptions extends ToolSearchOptions {
  /** Names of tools that the model always sees. */
  always?: string[];
  /** A search that other hooks use as well. */
  search?: ToolSearch;
}

/** Returns a middleware of LangChain.js that shows each model call the tools that the conversation needs. */
export function toolSelection(options?: ToolSelectionOptions): AgentMiddleware;
