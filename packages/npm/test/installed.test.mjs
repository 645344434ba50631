// Tests of the installed packages. `.ci/check-packages` copies this file into the folder in which it installed them.
import { spawn, spawnSync } from "node:child_process";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { check } from "paymaster-conformance";

const here = dirname(fileURLToPath(import.meta.url));
const installed = join(here, "node_modules/paymaster-conformance");
const run = (command, ...args) => spawnSync(process.execPath, [join(installed, `bin/${command}.js`), ...args], { encoding: "utf8" });

test("a paymaster that breaks a rule has a report with this rule", async () => {
    const server = spawn(
        process.execPath,
        [join(installed, "bin/paymaster-reference-server.js"), "--listen", "127.0.0.1:0", "--fault", process.env.FAULT],
        { stdio: ["ignore", "pipe", "ignore"] },
    );
    try {
        const line = await new Promise((resolve, reject) => {
            createInterface({ input: server.stdout }).once("line", resolve);
            server.once("exit", () => reject(new Error("the reference server ended")));
        });
        const url = line.match(/http:\/\/\S+/)[0];
        const report = await check({ url, headers: { "x-key": "value" }, args: ["--cases", "60"] });
        assert.equal(report.exit_code, 1, report.verdict);
        const failed = report.rules.filter((rule) => rule.verdict === "failed").map((rule) => rule.id);
        assert.ok(failed.includes(process.env.CLAUSE), failed.join());
    } finally {
        server.kill("SIGTERM");
    }
});

test("wrong options and arguments reject with the message of the command", async () => {
    await assert.rejects(check({}), /`url` must be the URL/);
    await assert.rejects(check({ url: " " }), /`url` must be the URL/);
    await assert.rejects(check({ url: "embedded", headers: { "x-key": undefined } }), /the header x-key has no value/);
    await assert.rejects(check({ url: "embedded", args: ["--no-such-flag"] }), /--no-such-flag/);
    await assert.rejects(check({ url: "embedded", profile: "missing.toml" }), /missing\.toml/);
    await assert.rejects(check({ url: "embedded", headers: { a: "b\nc: d" } }), /line break/);
    await assert.rejects(check({ url: "embedded", signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("a target that does not answer has a report, or an error that says so", async () => {
    const outcome = await check({ url: "http://127.0.0.1:1/" }).then((report) => report.conclusion, (error) => error.message);
    assert.match(outcome, /could.not.test|connect|refused/i);
});

test("the commands print version, commit and target, and hand exit codes on", () => {
    for (const command of ["paymaster-conformance", "paymaster-reference-server", "paymaster-loadtest"]) {
        const { stdout, status } = run(command, "--version");
        assert.equal(status, 0);
        assert.match(stdout, new RegExp(`^${command} \\d+\\.\\d+\\.\\d+ \\((commit \\w+|debug build), [\\w-]+\\)\\n$`));
    }
    assert.equal(run("paymaster-conformance", "--no-such-flag").status, 2);
});

test("the types have only members that the schema of the report requires", () => {
    const types = readFileSync(join(installed, "index.d.ts"), "utf8");
    const schema = JSON.parse(readFileSync(process.env.SCHEMA, "utf8"));
    for (const [name, required] of [["Report", schema.required], ["Rule", schema.$defs.rule.required], ["Defect", schema.$defs.defect.required]]) {
        const body = types.match(new RegExp(`interface ${name} \\{\n([^]*?)\n\\}`))[1];
        const members = [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, member]) => member);
        assert.ok(members.length > 2, name);
        assert.deepEqual(members.filter((member) => !required.includes(member)), [], name);
    }
});
