// server.js: starts `whichtool serve` for this process alone.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';

import {Client} from './client.js';
import {WhichtoolError} from './http.js';

const {commandEnvironment, findCommand} = createRequire(import.meta.url)('./command.cjs');

// Waits for the line with which the server says that it accepts requests. Returns its address.
function awaitAddress(child, command) {
  return new Promise((resolve, reject) => {
    const lines = createInterface({input: child.stdout});
    lines.once('line', (line) => resolve(JSON.parse(line).listening));
    child.once('error', (cause) => reject(new WhichtoolError(`cannot start ${command}: ${cause.message}`, {cause})));
    child.once('exit', (code) => reject(new WhichtoolError(`${command} ended with code ${code} before it listened`)));
  });
}

// Lets this process end although the child runs. The child then ends, because its standard input ends.
function unreference(child) {
  child.unref();
  child.stdin.unref();
  child.stdout.unref();
}

/**
 * Starts a server on a Unix socket that only this user can open, with a catalogue of its own unless `store` names one.
 * The server ends when `close` is called, or with this process.
 *
 * @param {{command?: string, store?: string, model?: string, args?: string[]}} options
 */
export async function startServer({command = findCommand(), store, model, args = []} = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'whichtool-'));
  const words = ['-s', store ?? path.join(folder, 'tools.wt'), 'serve', '--json', '-q', '--until-eof'];
  words.push('--listen', `unix:${path.join(folder, 'socket')}`, ...(model ? ['--model', model] : []), ...args);
  const child = spawn(command, words, {stdio: ['pipe', 'pipe', 'inherit'], env: commandEnvironment(command)});
  const ended = new Promise((resolve) => child.once('close', resolve));
  // If the server still writes into the folder, removing fails. It is tried for two seconds at most.
  const removeFolder = () => rmSync(folder, {recursive: true, force: true, maxRetries: 8, retryDelay: 50});
  const removeAtExit = () => {
    try {
      removeFolder();
    } catch {
      // A folder that is left in the folder of temporary files must not make this process fail.
    }
  };
  process.once('exit', removeAtExit);
  const close = async () => {
    child.ref();
    child.stdin.end();
    await ended;
    process.removeListener('exit', removeAtExit);
    removeFolder();
  };
  try {
    const url = await awaitAddress(child, command);
    unreference(child);
    return {url, client: new Client({url}), close};
  } catch (error) {
    process.removeListener('exit', removeAtExit);
    removeFolder();
    throw error;
  }
}
