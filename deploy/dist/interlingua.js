#!/usr/bin/env node
// Starts the program that the package of this platform carries, with the same arguments, streams and end.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const carrier = `interlingua-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${carrier}/bin/interlingua`);
} catch {
  console.error(`error: there is no package ${carrier}: npm has no program for this platform, or left out optional dependencies`);
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to the child too, and the hub takes a second one for impatience. A supervisor sends its signal to this
// process alone.
process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: cannot start ${program}: ${error.code}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
