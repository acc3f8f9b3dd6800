// http.js: sends requests to the HTTP API. client.js, which is generated, has a method for each route.
import http from 'node:http';

/** An error of the server, or of the way to it. */
export class WhichtoolError extends Error {
  /**
   * @param {string} message
   * @param {{code?: string, status?: number, pointer?: string, cause?: unknown}} details
   */
  constructor(message, {code = 'unreachable', status = 0, pointer, cause} = {}) {
    super(message, {cause});
    this.name = 'WhichtoolError';
    this.code = code;
    this.status = status;
    this.pointer = pointer;
  }
}

// The agent of each socket, which keeps connections. Idle connections do not keep the process running.
const agents = new Map();

function agentOf(socketPath) {
  if (!agents.has(socketPath)) agents.set(socketPath, new http.Agent({keepAlive: true, socketPath}));
  return agents.get(socketPath);
}

// fetch has no Unix sockets.
function sendOverSocket(socketPath, target, {method, headers, body, signal}) {
  return new Promise((resolve, reject) => {
    const options = {method, path: target, signal, agent: agentOf(socketPath), socketPath};
    options.headers = {...headers, host: 'localhost', 'content-length': Buffer.byteLength(body ?? '')};
    const request = http.request(options, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => {
        resolve({status: answer.statusCode, text: async () => Buffer.concat(parts).toString('utf8')});
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

function queryOf(parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters ?? {})) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  return text ? `?${text}` : '';
}

function parseAnswer(text, isText) {
  if (isText) return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new WhichtoolError('the server answered with something other than JSON', {code: 'malformed', cause});
  }
}

function errorOf(status, text) {
  let error;
  try {
    error = JSON.parse(text).error;
  } catch {
    // A proxy answers with a page.
  }
  if (typeof error?.message === 'string') return new WhichtoolError(error.message, {...error, status});
  return new WhichtoolError(`the server answered with status ${status}`, {code: 'http', status});
}

/** The connection to a server. */
export class Connection {
  /**
   * @param {{url?: string, key?: string, fetch?: typeof fetch}} options url: the server's address, or unix:PATH for a
   * Unix socket. key: the API key, if the server requires one.
   */
  constructor({url = 'http://127.0.0.1:8642', key, fetch: send = globalThis.fetch} = {}) {
    this.url = url.replace(/\/+$/, '');
    this._headers = key ? {authorization: `Bearer ${key}`} : {};
    this._send = this.url.startsWith('unix:')
      ? (target, request) => sendOverSocket(this.url.slice('unix:'.length), target, request)
      : (target, request) => send(this.url + target, request);
  }

  /** @protected */
  async _request(method, path, {query, body, isText = false, signal} = {}) {
    const request = {method, headers: {...this._headers}, signal};
    if (body !== undefined) {
      request.headers['content-type'] = 'application/json';
      request.body = typeof body === 'string' ? body : JSON.stringify(body);
    }
    let answer, text;
    try {
      answer = await this._send(path + queryOf(query), request);
      text = await answer.text();
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new WhichtoolError(`cannot reach whichtool at ${this.url}: ${cause.cause?.message ?? cause.message}`, {cause});
    }
    if (answer.status >= 300) throw errorOf(answer.status, text);
    return parseAnswer(text, isText);
  }
}
