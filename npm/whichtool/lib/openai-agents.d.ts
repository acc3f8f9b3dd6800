import type {ToolSearch, ToolSearchOptions} from './search.js';

/** Returns options for `toolSearchTool` of the OpenAI Agents SDK. */
export function clientSearch(options?: ToolSearchOptions | ToolSearch): {
  execution: 'client';
  description: string;
  parameters: Record<string, unknown>;
  execute(args: {availableTools: any[]; toolCall: any}): Promise<any[]>;
};
