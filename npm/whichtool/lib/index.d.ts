export * from './client.js';
export {WhichtoolError} from './http.js';
export type {ConnectionOptions, RequestOptions} from './http.js';
export {startServer} from './server.js';
export type {Server, ServerOptions} from './server.js';
export {ToolSearch} from './search.js';
export type {Message, ToolDefinition, ToolSearchOptions} from './search.js';
