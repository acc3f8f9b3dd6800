import type {ToolSearch, ToolSearchOptions} from './search.js';

export interface ToolSelectionOptions extends ToolSearchOptions {
  /** Names of tools that the model always sees. */
  always?: string[];
  /** A search that other hooks use as well. */
  search?: ToolSearch;
}

/** Returns an input processor of Mastra that shows each step the tools that the conversation needs. */
export function toolSelection(options?: ToolSelectionOptions): {
  readonly id: 'whichtool';
  readonly name: string;
  processInputStep(args: {messages: any[]; tools?: Record<string, unknown>}): Promise<{tools: Record<string, unknown>} | undefined>;
};
