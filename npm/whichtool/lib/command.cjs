// command.cjs: finds the command of this platform in the installed packages. CommonJS, because it loads faster than a
// module, and each start of the command through npx waits for it.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const program = process.platform === 'win32' ? 'whichtool.exe' : 'whichtool';

// Returns the path of a file in an installed package, or null.
function resolveFile(file) {
  try {
    return require.resolve(file);
  } catch {
    return null;
  }
}

// Returns the path of the command. WHICHTOOL_COMMAND names another one.
function findCommand() {
  if (process.env.WHICHTOOL_COMMAND) return process.env.WHICHTOOL_COMMAND;
  const platform = `${process.platform}-${process.arch}`;
  const found = resolveFile(`@whichtool/${platform}/bin/${program}`) ?? resolveFile(`@whichtool/${platform}-musl/bin/${program}`);
  if (found) return found;
  throw new Error(
    `the package @whichtool/${platform}, which has the command for this platform, is not installed. ` +
      'If npm was run with --omit=optional, install again without it. If no such package exists, build whichtool from ' +
      'its source, and set WHICHTOOL_COMMAND to the path of the command.',
  );
}

// Returns the environment of the command: that of this process, with the models of the package whichtool-minilm.
function commandEnvironment(command) {
  const models = process.env.WHICHTOOL_MANIFESTS ? null : resolveFile('whichtool-minilm/package.json');
  return models ? {...process.env, WHICHTOOL_MANIFESTS: path.join(path.dirname(models), 'models')} : process.env;
}

function dataFolder() {
  return path.join(process.env.XDG_DATA_HOME || path.join(require('node:os').homedir(), '.local', 'share'), 'whichtool');
}

// Replaces a file in one step, because clients may start it at the same time.
function copyProgram(from, to) {
  const unfinished = `${to}.unfinished-${process.pid}`;
  fs.mkdirSync(path.dirname(to), {recursive: true});
  fs.copyFileSync(from, unfinished);
  fs.chmodSync(unfinished, 0o755);
  fs.renameSync(unfinished, to);
}

// True if both files have the same bytes.
function isSameFile(one, other) {
  const size = (file) => fs.statSync(file, {throwIfNoEntry: false})?.size;
  return size(one) === size(other) && fs.readFileSync(one).equals(fs.readFileSync(other));
}

// Returns the path of the command to run. `mcp init` and `mcp undo` write this path into the files of clients, but npx
// keeps packages in a cache that may be emptied. For these two, the command and its models are copied to the user's
// data folder, and the copy runs.
function keepCommand(command, words) {
  const writesPath = words[0] === 'mcp' && ['init', 'undo'].includes(words[1]);
  if (!writesPath || process.platform === 'win32' || !command.split(path.sep).includes('_npx')) return command;
  const kept = path.join(dataFolder(), 'bin', program);
  if (!isSameFile(command, kept)) copyProgram(command, kept);
  const models = resolveFile('whichtool-minilm/package.json');
  if (models) {
    fs.cpSync(path.join(path.dirname(models), 'models'), path.join(dataFolder(), 'models'), {recursive: true, force: false});
  }
  return kept;
}

module.exports = {commandEnvironment, findCommand, keepCommand};
