import type {ToolSearch, ToolSearchOptions} from './search.js';

/** Returns a function for `toolSearch({search})` of the AI SDK. */
export function search(
  options?: ToolSearchOptions | ToolSearch,
): (options: {query: string; tools: Array<{name: string; description?: string}>}) => Promise<string[]>;
