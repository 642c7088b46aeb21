// A thin client of `detlint server`: starts it, hands over the settings, and stops it. All else is the server's.

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions } from "vscode-languageclient/node";

import { commandOf, failure, optionsOf, type Settings } from "./settings";

const SECTION = "detlint";
const RESTARTS = [`${SECTION}.command`, `${SECTION}.interpreter`];

let client: LanguageClient | undefined;

function settings(): Settings {
  const given = vscode.workspace.getConfiguration(SECTION);
  return {
    command: given.get<string[]>("command") ?? [],
    interpreter: given.get<string>("interpreter") ?? "",
    profile: given.get<string>("profile") ?? "",
    targets: given.get<string[]>("targets") ?? [],
    configuration: given.get<string>("configuration") ?? "",
    showNotes: given.get<boolean | null>("showNotes") ?? null,
  };
}

async function start(): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const command = commandOf(settings(), folder);
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "python" },
      { notebook: "jupyter-notebook", language: "python" },
    ],
    initializationOptions: optionsOf(settings()),
  };
  client = new LanguageClient(SECTION, "detlint", { command: command.program, args: command.arguments, options: { cwd: folder } }, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    void vscode.window.showErrorMessage(failure(command, error));
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function changed(event: vscode.ConfigurationChangeEvent): Promise<void> {
  if (!event.affectsConfiguration(SECTION)) {
    return;
  }
  if (client === undefined || RESTARTS.some((name) => event.affectsConfiguration(name))) {
    await stop();
    await start();
  } else {
    await client.sendNotification("workspace/didChangeConfiguration", { settings: { detlint: optionsOf(settings()) } });
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const restart = vscode.commands.registerCommand(`${SECTION}.restart`, async () => {
    await stop();
    await start();
  });
  context.subscriptions.push(restart, vscode.workspace.onDidChangeConfiguration(changed));
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}
