/** An error of the server, or of the way to it. */
export class WhichtoolError extends Error {
  /** A code of docs/serving.md, or "unreachable". */
  readonly code: string;
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** JSON pointer of the invalid value. */
  readonly pointer?: string;
}

export interface ConnectionOptions {
  /** Address of the server, or unix:PATH for a Unix socket. Default: http://127.0.0.1:8642 */
  url?: string;
  /** API key, if the server requires one. */
  key?: string;
  /** Replaces the global fetch. */
  fetch?: typeof fetch;
}

export interface RequestOptions {
  /** Cancels the request; the server then stops working on it. */
  signal?: AbortSignal;
}

export class Connection {
  constructor(options?: ConnectionOptions);
  readonly url: string;
}
