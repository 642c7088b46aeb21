// What the extension makes of its settings.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";

const { commandOf, failure, optionsOf } = createRequire(import.meta.url)("../dist/settings.js");
const NONE = { command: [], interpreter: "", profile: "", targets: [], configuration: "", showNotes: null };
const FOLDER = path.resolve("/work space");

test("the server is looked for on the PATH", () => {
  assert.deepEqual(commandOf(NONE, FOLDER), { program: "detlint", arguments: ["server"] });
});

test("an interpreter of the workspace runs the module", () => {
  const expected = { program: path.join(FOLDER, ".venv", "bin", "python"), arguments: ["-m", "detlint", "server"] };
  assert.deepEqual(commandOf({ ...NONE, interpreter: ".venv/bin/python" }, FOLDER), expected);
  assert.deepEqual(commandOf({ ...NONE, interpreter: "${workspaceFolder}/.venv/bin/python" }, FOLDER), expected);
  assert.equal(commandOf({ ...NONE, interpreter: "python3" }, FOLDER).program, "python3");
  assert.equal(commandOf({ ...NONE, interpreter: ".venv/bin/python" }, undefined).program, ".venv/bin/python");
});

test("a command comes before an interpreter", () => {
  const settings = { ...NONE, command: ["uv", "run", "detlint", "server"], interpreter: "python3" };
  assert.deepEqual(commandOf(settings, FOLDER), { program: "uv", arguments: ["run", "detlint", "server"] });
});

test("the server is told only what is set", () => {
  assert.deepEqual(optionsOf(NONE), {});
  const all = { ...NONE, profile: "align", targets: ["ascend"], configuration: "lint.toml", showNotes: false };
  const told = { profile: "align", targets: ["ascend"], configuration: "lint.toml", "show-notes": false };
  assert.deepEqual(optionsOf(all), told);
});

test("a server that does not start is told with its command, and what to do", () => {
  const said = failure({ program: "detlint", arguments: ["server"] }, new Error("ENOENT"));
  assert.match(said, /`detlint server` does not start \(ENOENT\)/);
  assert.match(said, /pip install/);
});
