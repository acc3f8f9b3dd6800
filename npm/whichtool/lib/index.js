export {Client} from './client.js';
export {WhichtoolError} from './http.js';
export {startServer} from './server.js';
export {ToolSearch} from './search.js';
