// The client of the HTTP API. Written by tools/js-client; do not edit.
import {Connection} from './http.js';

export class Client extends Connection {
  find(body, options) {
    return this._request('POST', '/v1/find', {body, ...options});
  }

  pick(body, options) {
    return this._request('POST', '/v1/pick', {body, ...options});
  }

  call(body, options) {
    return this._request('POST', '/v1/call', {body, ...options});
  }

  listTools(query, options) {
    return this._request('GET', '/v1/tools', {query, ...options});
  }

  addTools(source, query, options) {
    return this._request('POST', '/v1/tools', {query, body: source, ...options});
  }

  removeProvider(query, options) {
    return this._request('DELETE', '/v1/tools', {query, ...options});
  }

  getTool(id, query, options) {
    return this._request('GET', `/v1/tools/${encodeURIComponent(id)}`, {query, ...options});
  }

  removeTool(id, options) {
    return this._request('DELETE', `/v1/tools/${encodeURIComponent(id)}`, {...options});
  }

  embed(body, options) {
    return this._request('POST', '/v1/embeddings', {body, ...options});
  }

  rerank(body, options) {
    return this._request('POST', '/v1/rerank', {body, ...options});
  }

  rerankV2(body, options) {
    return this._request('POST', '/v2/rerank', {body, ...options});
  }

  decide(body, options) {
    return this._request('POST', '/v1/decisions', {body, ...options});
  }

  systemOne(body, options) {
    return this._request('POST', '/v1/systemone', {body, ...options});
  }

  listRecipes(options) {
    return this._request('GET', '/v1/recipes', {...options});
  }

  status(options) {
    return this._request('GET', '/v1/status', {...options});
  }

  metrics(options) {
    return this._request('GET', '/metrics', {isText: true, ...options});
  }

  health(options) {
    return this._request('GET', '/health', {...options});
  }

  healthz(options) {
    return this._request('GET', '/healthz', {...options});
  }

  readyz(options) {
    return this._request('GET', '/readyz', {...options});
  }

  openapi(options) {
    return this._request('GET', '/openapi.json', {...options});
  }

  recordUsage(source, query, options) {
    return this._request('POST', '/v1/usage', {query, body: source, ...options});
  }

  applyUsageSegment(source, query, options) {
    return this._request('POST', '/v1/usage/segments', {query, body: source, ...options});
  }
}
