// What the extension makes of its settings. Nothing here needs an editor.

import * as path from "node:path";

/** The settings, by their names without `detlint.`. */
export interface Settings {
  command: string[];
  interpreter: string;
  profile: string;
  targets: string[];
  configuration: string;
  showNotes: boolean | null;
}

/** The program that is the server, and what it is started with. */
export interface Command {
  program: string;
  arguments: string[];
}

const USUAL = ["detlint", "server"];
/** A program by its name alone is looked for on the PATH; what has a separator is a file of the workspace. */
const IS_FILE = /[\\/]/;

/** How the server is started: by `command`, else by `interpreter`, else as it is found on the PATH. */
export function commandOf(settings: Settings, folder: string | undefined): Command {
  const [program, ...rest] = settings.command;
  if (program !== undefined) {
    return { program: fileOf(program, folder), arguments: rest };
  }
  if (settings.interpreter) {
    return { program: fileOf(settings.interpreter, folder), arguments: ["-m", "detlint", "server"] };
  }
  return { program: USUAL[0]!, arguments: USUAL.slice(1) };
}

function fileOf(name: string, folder: string | undefined): string {
  const full = name.replace(/\$\{workspaceFolder\}/g, folder ?? "");
  return IS_FILE.test(full) && folder !== undefined ? path.resolve(folder, full) : full;
}

/** What the server is told: only what somebody has set, for else the project's configuration counts. */
export function optionsOf(settings: Settings): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  if (settings.profile) {
    options["profile"] = settings.profile;
  }
  if (settings.targets.length) {
    options["targets"] = settings.targets;
  }
  if (settings.configuration) {
    options["configuration"] = settings.configuration;
  }
  if (settings.showNotes !== null) {
    options["show-notes"] = settings.showNotes;
  }
  return options;
}

/** What is said when the server doesn't start. */
export function failure(command: Command, error: unknown): string {
  const asked = [command.program, ...command.arguments].join(" ");
  const why = error instanceof Error ? error.message : String(error);
  return `detlint: \`${asked}\` does not start (${why}). Install it with \`python -m pip install "detlint[server]"\`, or set detlint.interpreter.`;
}
