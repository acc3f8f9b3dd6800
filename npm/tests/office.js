// office.js: tools of an office, for the tests of the hooks. They are those of the Python tests, whose file
// tests/e2e/test_npm.sh copies here.
import {readFileSync} from 'node:fs';

export const REQUEST = 'will it rain in Oslo tomorrow?';

const described = JSON.parse(readFileSync(new URL('office.json', import.meta.url), 'utf8'));

/** The tools; get_weather is the one that REQUEST needs. */
export const TOOLS = Object.entries(described).map(([name, description]) => {
  const argument = name === 'get_weather' ? 'city' : 'text';
  return {
    name, description, argument,
    parameters: {type: 'object', properties: {[argument]: {type: 'string'}}, required: [argument]},
  };
});
