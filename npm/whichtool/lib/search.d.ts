import type {Client} from './client.js';
import type {ServerOptions} from './server.js';

export interface ToolSearchOptions extends ServerOptions {
  /** Address of a running server whose catalogue has the tools. Default: a server of this process. */
  url?: string;
  /** API key of that server. */
  key?: string;
  /** Client in place of url and key. */
  client?: Client;
  /** Maximum number of tools. Default: 5. */
  k?: number;
}

export interface ToolDefinition {
  name: string;
  description?: string;
  /** JSON Schema of the arguments. */
  parameters?: object;
}

export interface Message {
  role: string;
  content: unknown;
}

/** Finds the tools that a request needs among the tools of the caller. */
export class ToolSearch {
  constructor(options?: ToolSearchOptions);
  readonly k: number;
  /** Returns the names of the tools that the request needs most, best first. */
  select(request: string | Message[], tools: readonly ToolDefinition[], k?: number): Promise<string[]>;
  /** Ends the server that this search has started. */
  close(): Promise<void>;
}
