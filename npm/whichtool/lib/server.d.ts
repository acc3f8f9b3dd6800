import type {Client} from './client.js';

export interface ServerOptions {
  /** Path of the command. Default: that of the installed package for this platform. */
  command?: string;
  /** Store with a catalogue. Default: an empty one, which is deleted at the end. */
  store?: string;
  /** Name of the encoder. */
  model?: string;
  /** More arguments of `whichtool serve`. */
  args?: string[];
}

export interface Server {
  readonly url: string;
  readonly client: Client;
  /** Stops the server. */
  close(): Promise<void>;
}

/** Starts a server on a Unix socket that only this user can open. It ends with `close`, or with this process. */
export function startServer(options?: ServerOptions): Promise<Server>;
