"use strict";
const { existsSync } = require("node:fs");
const { dirname, join } = require("node:path");

/** The path of a command in the package of this platform, which npm installs as an optional dependency. */
exports.binary = function binary(command) {
    // Only glibc has a version in the report of Node.
    const musl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
    const platform = `${process.platform}-${process.arch}${musl ? "-musl" : ""}`;
    const name = `@paymaster-conformance/${platform}`;
    let manifest;
    try {
        manifest = require.resolve(`${name}/package.json`);
    } catch {
        const own = require("./package.json");
        const remedy =
            own.optionalDependencies && name in own.optionalDependencies
                ? `Install again without --omit=optional or --no-optional, on the platform that runs it, or install ${name}.`
                : "There are no binaries for this platform: build them with cargo.";
        throw new Error(`paymaster-conformance: the package ${name} is not installed. ${remedy}`);
    }
    const file = join(dirname(manifest), "bin", process.platform === "win32" ? `${command}.exe` : command);
    if (!existsSync(file)) throw new Error(`paymaster-conformance: ${file} is missing. Install ${name} again.`);
    return file;
};
