// search.js: what the hooks share: the search among the tool objects of a framework.
import {createHash} from 'node:crypto';

import {Client} from './client.js';
import {startServer} from './server.js';

/** Number of sets of tools that a server of this process keeps. Frameworks show each user a different set. */
export const KEPT_SETS = 8;

const USUAL_K = 5;
const SPARE = 10; // hits of a shared catalogue that are read for each wanted tool, because it may have other tools
const K_MAX = 1000; // limit of /v1/find

function definitionOf({name, description, parameters}) {
  return {name, description: description ?? '', parameters: parameters ?? {type: 'object', properties: {}}};
}

/**
 * Finds the tools that a request needs among the tools of the caller.
 *
 * By default, it starts a server for this process, and imports each set of tools the first time that it is seen. With
 * `url`, it asks a running server, whose catalogue has the tools already; its other tools are passed over.
 */
export class ToolSearch {
  /** @param {import('./search.js').ToolSearchOptions} options */
  constructor({url, key, client, k = USUAL_K, ...server} = {}) {
    this.k = k;
    this._client = client ?? (url ? new Client({url, key}) : null);
    this._serverOptions = server;
    this._server = null;
    this._sets = new Map(); // provider of a set: promise of its import; the set used last comes last
  }

  /**
   * Returns the names of the tools that the request needs most, best first.
   *
   * @param {string | object[]} request words, or the messages of a conversation
   * @param {{name: string, description?: string, parameters?: object}[]} tools
   * @param {number} k
   */
  async select(request, tools, k = this.k) {
    if (tools.length === 0 || request.length === 0) return [];
    const asked = typeof request === 'string' ? {query: request} : {messages: request};
    return this._client ? this._selectShared(asked, tools, k) : this._selectOwn(asked, tools, k);
  }

  /** Ends the server that this search has started. */
  async close() {
    const server = this._server;
    this._server = null;
    this._sets.clear();
    if (server) await (await server).close();
  }

  async _selectShared(asked, tools, k) {
    const wanted = new Set(tools.map((tool) => tool.name));
    const {hits} = await this._client.find({...asked, k: Math.min(k * SPARE, K_MAX)});
    const names = hits.map((hit) => (wanted.has(hit.name) ? hit.name : hit.export_name));
    return [...new Set(names)].filter((name) => wanted.has(name)).slice(0, k);
  }

  async _selectOwn(asked, tools, k) {
    this._server ??= startServer(this._serverOptions);
    const {client} = await this._server;
    const source = JSON.stringify(tools.map(definitionOf));
    const provider = `set-${createHash('sha256').update(source).digest('hex').slice(0, 16)}`;
    await this._import(client, provider, source);
    const {hits} = await client.find({...asked, k: Math.min(k, K_MAX), filter: {providers: [provider]}});
    return hits.map((hit) => hit.name);
  }

  // Imports a set once, and removes the set that was not used for longest.
  async _import(client, provider, source) {
    const imported = this._sets.get(provider) ?? client.addTools(source, {provider, format: 'openai'});
    this._sets.delete(provider);
    this._sets.set(provider, imported);
    try {
      await imported;
    } catch (error) {
      this._sets.delete(provider);
      throw error;
    }
    if (this._sets.size <= KEPT_SETS) return;
    const [oldest] = this._sets.keys();
    this._sets.delete(oldest);
    await client.removeProvider({provider: oldest});
  }
}

/** Returns options as a search; a search is returned as it is, so that hooks can share one. */
export function searchOf(options = {}) {
  return options instanceof ToolSearch ? options : new ToolSearch(options);
}

const TURNS_READ = 20; // the search reads only the end of a conversation

// Returns the text of a message's content: a string, or parts with texts.
function textOf(content) {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof part === 'string' ? part : typeof part?.text === 'string' ? part.text : '')).join('\n').trim();
}

/** Returns the last turns of users and assistants that have words, as messages for the search. */
export function turnsOf(messages) {
  const turns = messages.map(({role, content}) => ({role, content: textOf(content)}));
  const spoken = turns.filter(({role, content}) => content && (role === 'user' || role === 'assistant')).slice(-TURNS_READ);
  return spoken.some(({role}) => role === 'user') ? spoken : [];
}
