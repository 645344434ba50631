"use strict";
const { spawn } = require("node:child_process");
const { mkdtemp, readFile, rm } = require("node:fs/promises");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { binary } = require("./binary.js");

/** The most characters of error output that an error keeps. */
const MAX_ERROR_OUTPUT = 8192;

exports.check = async function check(options) {
    const { url, profile, headers = {}, args = [], cwd, signal } = options ?? {};
    // Without a URL the embedded reference server would be judged, and pass.
    if (typeof url !== "string" || url.trim() === "") {
        throw new TypeError('check: `url` must be the URL of a paymaster, or "embedded" for the embedded reference server');
    }
    const folder = await mkdtemp(join(tmpdir(), "paymaster-conformance-"));
    try {
        const file = join(folder, "report.json");
        const line = ["check", "--report", `json=${file}`];
        if (profile !== undefined) line.push("--config", profile);
        // URL and headers go through the environment: other users of the machine can read arguments.
        const env = { ...process.env };
        delete env.PAYMASTER_URL;
        if (url !== "embedded") env.PAYMASTER_URL = url;
        const missing = Object.keys(headers).find((name) => typeof headers[name] !== "string" || headers[name].trim() === "");
        if (missing !== undefined) throw new TypeError(`check: the header ${missing} has no value`);
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
        const broken = lines.find((header) => /[\r\n]/.test(header));
        if (broken !== undefined) throw new TypeError("check: a header must not contain a line break");
        if (lines.length > 0) env.PAYMASTER_HEADERS = lines.join("\n");
        const { code, errors } = await run(binary("paymaster-conformance"), [...line, ...args], { cwd, env, signal });
        if (code === 2) throw new Error(errors || "check: wrong usage or configuration");
        try {
            return JSON.parse(await readFile(file, "utf8"));
        } catch (cause) {
            throw new Error(errors || `check: the run ended with code ${code} and wrote no report`, { cause });
        }
    } finally {
        await rm(folder, { recursive: true, force: true });
    }
};

/** The exit code and the error output of a process. */
function run(file, args, options) {
    return new Promise((resolve, reject) => {
        const child = spawn(file, args, { ...options, stdio: ["ignore", "ignore", "pipe"], windowsHide: true });
        let errors = "";
        child.stderr.setEncoding("utf8");
        child.stderr.on("data", (text) => {
            errors = (errors + text).slice(-MAX_ERROR_OUTPUT);
        });
        child.on("error", reject);
        child.on("close", (code) => resolve({ code, errors: errors.trim() }));
    });
}
