// `paymaster-conformance check --rpc-url --entry-point` against servers on that chain: what a chain accepts passes, what it refuses
// is found.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { setting } from "../../lib/server.mjs";

const RULE = "on-chain.accepted";
/** Enough for the rule, whose requests do not grow with it. */
const CASES = "5";
const TIMEOUT_MS = 5 * 60 * 1000;

/** Runs the check; gives its exit code, the outcome of the rule and its findings. */
async function check(url, args) {
  const folder = mkdtempSync(join(tmpdir(), "paymaster-chain-"));
  try {
    const report = join(folder, "report.json");
    const all = ["check", url, "--cases", CASES, "--report", `json=${report}`, "--replay-dir", join(folder, "replays"), ...args(folder)];
    const binary = resolve(setting("--conformance", "PAYMASTER_CONFORMANCE"));
    // Not spawnSync: somebody has to read meanwhile what the servers say.
    const { code, said } = await new Promise((tell) => {
      execFile(binary, all, { cwd: folder, maxBuffer: Infinity, timeout: TIMEOUT_MS }, (error, stdout, stderr) =>
        tell({ code: error ? error.code : 0, said: `${stdout}${stderr}` }),
      );
    });
    if (![0, 1, 4].includes(code)) return { code, said };
    const { rules, findings } = JSON.parse(readFileSync(report, "utf8"));
    return {
      code,
      said,
      outcome: rules.find(({ id }) => id === RULE),
      findings: findings.filter(({ rule }) => rule === RULE),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A profile that vouches for an operation of the account, whose nonce at the paymaster is not 0. */
function profile(folder, operation) {
  const path = join(folder, "paymaster.toml");
  const lines = ["sender", "nonce", "initCode", "callData"].map((name) => `${name} = "${operation[name]}"`);
  writeFileSync(path, `[operations]\naccepts = "listed"\n\n[[operations.sponsorable]]\n${lines.join("\n")}\n`);
  return path;
}

/** Adds the checks of the feature to the table. */
export async function checkOnChain(table, { chain, server, startServer, argumentsFor, servers }) {
  const on = ["--rpc-url", chain.url, "--entry-point", chain.entryPoint];
  const start = async (more) => {
    const started = await startServer(more);
    servers.push(started);
    return started.url;
  };
  const draft = await chain.draft();
  const listed = (folder) => [...on, "--config", profile(folder, draft)];

  await table.check("check: any operation, each of a new sender", async () => {
    const { outcome, findings, said } = await check(server.url, () => [...on, "--allow-incomplete"]);
    assert.equal(outcome?.verdict, "passed", said);
    assert.deepEqual(findings, []);
    return `accepted ${outcome.held} times`;
  });
  await table.check("check: an operation of an account that was sponsored before", async () => {
    const { outcome, said } = await check(server.url, listed);
    assert.equal(outcome?.verdict, "passed", said);
    return `accepted ${outcome.held} times`;
  });
  await table.check("check: the same, by a server that does not know the chain", async () => {
    const url = await start(argumentsFor({}));
    const { code, outcome, findings, said } = await check(url, listed);
    assert.equal(outcome?.verdict, "failed", said);
    assert.match(findings[0].actual, /AA34/);
    assert.notEqual(code, 1, "it only warns");
    assert.equal((await check(url, (folder) => [...listed(folder), "--strict"])).code, 1);
    return findings[0].actual;
  });
  await table.check("check: a server of another chain", async () => {
    const { outcome, findings, said } = await check(await start(argumentsFor({ "--chain-id": "1" })), () => on);
    assert.equal(outcome?.verdict, "failed", said);
    return findings[0].actual;
  });
  await table.check("check: a paymaster that is not deployed", async () => {
    const other = { "--sponsorship-paymaster": "0x00000000000000000000000000000000000000aa" };
    const { outcome, findings, said } = await check(await start(argumentsFor(other)), () => on);
    assert.equal(outcome?.verdict, "failed", said);
    return findings[0].actual;
  });
  await table.check("check: nothing of it unless asked", async () => {
    const { outcome } = await check(server.url, () => ["--allow-incomplete"]);
    assert.equal(outcome, undefined);
  });
  await table.check("check: no EntryPoint at that address, or no chain", async () => {
    const wrong = await check(server.url, () => ["--rpc-url", chain.url, "--entry-point", chain.sender.replace(/.$/, "0")]);
    assert.equal(wrong.code, 3, wrong.said);
    const nobody = await check(server.url, () => ["--rpc-url", "http://127.0.0.1:1", "--entry-point", chain.entryPoint]);
    assert.equal(nobody.code, 3, nobody.said);
    return wrong.said.trim();
  });
}
