// ai.js: the search of the Vercel AI SDK's toolSearch.
import {searchOf} from './search.js';

/**
 * Returns a function for `toolSearch({search})`.
 *
 * @param {import('./search.js').ToolSearchOptions | import('./search.js').ToolSearch} options
 */
export function search(options) {
  const selector = searchOf(options);
  return ({query, tools}) => selector.select(query, tools);
}
