// Starts `specc lsp` and connects VS Code to it.
const path = require('path');
const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

function server() {
  const [command, ...args] = vscode.workspace.getConfiguration('specc').get('command');
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const isRelative = command.includes('/') || command.includes('\\');
  return {
    command: isRelative && folder && !path.isAbsolute(command) ? path.join(folder, command) : command,
    args,
    transport: TransportKind.stdio,
    options: { cwd: folder },
  };
}

async function start() {
  client = new LanguageClient('specc', 'specc', server(), {
    documentSelector: [{ language: 'specc' }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher('**/{*.specc,specc.toml,pyproject.toml}') },
  });
  try {
    await client.start();
  } catch (error) {
    const told = `specc: the language server does not start (${error.message}). pip install 'specc-compiler[lsp]', or set specc.command.`;
    vscode.window.showErrorMessage(told);
  }
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand('specc.restart', async () => {
      await deactivate();
      await start();
    }),
  );
  await start();
}

async function deactivate() {
  const running = client;
  client = undefined;
  if (running?.isRunning()) await running.stop();
}

module.exports = { activate, deactivate };
