#!/usr/bin/env node
// Starts the command of this platform, and ends as the command ends.
'use strict';

const {commandEnvironment, findCommand, keepCommand} = require('../lib/command.cjs');

// Replaces this process, so that the client's signals and pipes reach the command itself. Node 22.15 or later, not on
// Windows.
function replaceProcess(command, environment) {
  process.execve(command, [command, ...process.argv.slice(2)], environment);
}

// Runs the command as a child, and passes signals and the exit code on.
function runChild(command, environment) {
  const {spawn} = require('node:child_process');
  const {isatty} = require('node:tty');
  const child = spawn(command, process.argv.slice(2), {stdio: 'inherit', env: environment});
  // The terminal sends Ctrl-C to the child as well, and a second SIGINT would end a server at once.
  const forwarded = isatty(0) ? ['SIGTERM'] : ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => forwarded.includes(signal) && child.kill(signal));
  }
  child.on('error', (error) => {
    console.error(`whichtool: cannot start ${command}: ${error.message}`);
    process.exit(6);
  });
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

try {
  const command = keepCommand(findCommand(), process.argv.slice(2));
  const environment = commandEnvironment(command);
  (process.execve ? replaceProcess : runChild)(command, environment);
} catch (error) {
  console.error(`whichtool: ${error.message}`);
  process.exit(6);
}
