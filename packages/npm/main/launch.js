"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { binary } = require("./binary.js");

/** Exit code for a missing binary: the code for wrong usage or configuration. */
const USAGE = 2;

/** Runs a command in place of this process: same arguments, streams, signals and exit code. */
exports.launch = function launch(command) {
    let file;
    try {
        file = binary(command);
    } catch (error) {
        console.error(error.message);
        process.exitCode = USAGE;
        return;
    }
    const child = spawn(file, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
    // A terminal sends Ctrl-C to the command too, which then writes its report: wait for it.
    process.on("SIGINT", () => {});
    for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
    child.on("error", (error) => {
        console.error(`paymaster-conformance: cannot run ${file}: ${error.message}`);
        process.exitCode = USAGE;
    });
    child.on("exit", (code, signal) => {
        process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
    });
};
