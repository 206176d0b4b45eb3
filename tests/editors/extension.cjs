// Starts the extension with stand-ins for VS Code and its client, and prints what it would start: node extension.cjs FILE COMMAND.
const Module = require('module');

const [file, command] = process.argv.slice(2);
const told = { started: 0, stopped: 0, errors: [] };
class LanguageClient {
  constructor(id, name, server, client) {
    Object.assign(told, { id, server: { ...server, options: server.options }, selector: client.documentSelector });
  }
  async start() {
    told.started += 1;
    if (told.server.command === 'missing') throw new Error('spawn missing ENOENT');
    this.running = true;
  }
  async stop() {
    told.stopped += 1;
  }
  isRunning() {
    return Boolean(this.running);
  }
}
const commands = {};
const stand_ins = {
  vscode: {
    workspace: {
      getConfiguration: () => ({ get: () => JSON.parse(command) }),
      workspaceFolders: [{ uri: { fsPath: '/project' } }],
      createFileSystemWatcher: (glob) => glob,
    },
    window: { showErrorMessage: (text) => told.errors.push(text) },
    commands: { registerCommand: (name, run) => (commands[name] = run) },
  },
  'vscode-languageclient/node': { LanguageClient, TransportKind: { stdio: 0 } },
};
const load = Module._load;
Module._load = (name, ...rest) => stand_ins[name] ?? load(name, ...rest);

async function main() {
  const extension = require(file);
  await extension.activate({ subscriptions: [] });
  await commands['specc.restart']();
  await extension.deactivate();
  process.stdout.write(JSON.stringify(told));
}

main();
