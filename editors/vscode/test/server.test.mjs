// The real server, over standard input and output, with what the extension tells it. `DETLINT_PYTHON` is a Python that has
// detlint[server].

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const rpc = require("vscode-jsonrpc/node");
const { commandOf, optionsOf } = require("../dist/settings.js");
const NONE = { command: [], interpreter: "", profile: "", targets: [], configuration: "", showNotes: null };
const INTERPRETER = process.env.DETLINT_PYTHON ?? "python3";
const CODE = "import torch\n\n\ndef main():\n    print(torch.rand(3))\n\n\nmain()\n";

/** Runs the server for a file, and gives what comes of `asked`. */
async function served(text, settings, asked) {
  const folder = await mkdtemp(path.join(os.tmpdir(), "detlint-"));
  const file = path.join(folder, "train.py");
  await writeFile(path.join(folder, "pyproject.toml"), "");
  await writeFile(file, text);
  const command = commandOf({ ...NONE, interpreter: INTERPRETER }, undefined);
  const server = spawn(command.program, command.arguments, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(server.stdout, server.stdin);
  const uri = pathToFileURL(file).href;
  const diagnostics = new Promise((resolve) => {
    connection.onNotification("textDocument/publishDiagnostics", (sent) => sent.uri === uri && resolve(sent.diagnostics));
  });
  connection.onRequest("client/registerCapability", () => null);
  connection.onRequest("window/workDoneProgress/create", () => null);
  connection.listen();
  try {
    const root = pathToFileURL(folder).href;
    const capabilities = {
      textDocument: {
        publishDiagnostics: { relatedInformation: true },
        codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "source.fixAll"] } } },
      },
    };
    const told = { processId: process.pid, rootUri: root, workspaceFolders: [{ uri: root, name: "it" }] };
    await connection.sendRequest("initialize", { ...told, capabilities, initializationOptions: optionsOf(settings) });
    await connection.sendNotification("initialized", {});
    await connection.sendNotification("textDocument/didOpen", {
      textDocument: { uri, languageId: "python", version: 1, text },
    });
    const result = await asked(await diagnostics, connection, uri);
    await connection.sendRequest("shutdown");
    await connection.sendNotification("exit");
    return result;
  } finally {
    connection.dispose();
    server.kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

test("a finding is shown, and has a quick fix that seeds the run", { timeout: 120_000 }, async () => {
  await served(CODE, NONE, async (diagnostics, connection, uri) => {
    const found = diagnostics.find((each) => each.code === "DET104");
    assert.ok(found, JSON.stringify(diagnostics));
    const actions = await connection.sendRequest("textDocument/codeAction", {
      textDocument: { uri }, range: found.range, context: { diagnostics: [found], only: ["quickfix"] },
    });
    const fix = actions.find((each) => /manual_seed/.test(JSON.stringify(each)));
    assert.ok(fix, JSON.stringify(actions));
    const edits = fix.edit ?? (await connection.sendRequest("codeAction/resolve", fix)).edit;
    assert.match(JSON.stringify(edits), /torch\.manual_seed\(0\)/);
  });
});

test("the profile is the one that is set", { timeout: 120_000 }, async () => {
  const text = "import torch\n\ntorch.manual_seed(0)\nprint(torch.nn.Dropout(0.5))\n";
  const severities = async (settings) =>
    served(text, settings, (found) => found.filter((each) => each.code === "DET201").map((each) => each.severity));
  assert.deepEqual(await severities(NONE), []);
  assert.deepEqual(await severities({ ...NONE, profile: "align" }), [1]);
});
