import type {ToolSearch, ToolSearchOptions} from './search.js';

interface FoundTools {
  textResultForLlm: string;
  resultType: 'success';
  toolReferences: string[];
}

/** Returns a tool for `createSession({tools})` that replaces the Copilot SDK's tool search. */
export function toolSearchTool(options?: ToolSearchOptions | ToolSearch): {
  name: 'tool_search_tool';
  description: string;
  parameters: Record<string, unknown>;
  overridesBuiltInTool: true;
  skipPermission: true;
  defer: 'never';
  handler(args: any, invocation: {availableTools?: any[]}): Promise<FoundTools>;
};
