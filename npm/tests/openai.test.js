// The official client of OpenAI's API asks for decisions and embeddings.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {test} from 'node:test';

test('openai: decisions and embeddings', async (t) => {
  const {default: OpenAI} = await import('openai').catch(() => ({}));
  if (!OpenAI) return t.skip('openai is not installed');
  const folder = mkdtempSync(path.join(tmpdir(), 'whichtool-test-'));
  const words = ['-s', `${folder}/tools.wt`, 'serve', '-q', '--json', '--listen', '127.0.0.1:0', '--until-eof'];
  const command = process.env.WHICHTOOL_COMMAND ?? 'node_modules/.bin/whichtool';
  const server = spawn(command, [...words, '--model', 'whichtool-static-v1']);
  try {
    const [line] = await new Promise((resolve) => createInterface({input: server.stdout}).once('line', (...all) => resolve(all)));
    const client = new OpenAI({baseURL: `${JSON.parse(line).listening}/v1`, apiKey: 'none', maxRetries: 0});
    const choices = [{value: 'get_weather', description: 'Forecast of the weather'}, {value: 'send_email'}, {value: false}];
    const questions = [
      {type: 'choice', name: 'tool', instructions: 'Which tool?', choices},
      {type: 'predicate', instructions: 'Forecast of the weather'},
    ];
    const decided = await client.decisions.create({model: 'default', input: 'will it rain?', questions});
    assert.equal(decided.answers[0].choice, 'get_weather');
    assert.equal(decided.answers[0].probabilities.length, 3);
    assert.equal(decided.answers[1].type, 'predicate');
    const embedded = await client.embeddings.create({model: 'default', input: ['rain']});
    assert.equal(embedded.data[0].index, 0);
    await assert.rejects(client.decisions.create({model: 'gpt-6-luna', input: 'a', questions}), {status: 404});
  } finally {
    server.stdin.end();
    await new Promise((resolve) => server.once('close', resolve));
    rmSync(folder, {recursive: true});
  }
});
