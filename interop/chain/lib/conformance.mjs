// `paymaster-conformance check --rpc-url --entry-point` against servers on that chain: what a chain accepts passes, what it refuses
// is found.

import assert from "node:assert/strict";

import { reportOf } from "../../lib/report.mjs";
import { setting } from "../../lib/server.mjs";

const RULE = "on-chain.accepted";
/** Enough for the rule, whose requests do not grow with it. */
const CASES = "5";

/** Runs the check; gives its exit code, the outcome of the rule and its findings. */
async function check(url, args, profile) {
  const binary = setting("--conformance", "PAYMASTER_CONFORMANCE");
  const { code, said, report } = await reportOf(binary, ["check", url, "--cases", CASES, ...args], profile);
  if (![0, 1, 4].includes(code)) return { code, said };
  const outcome = report.rules.find(({ id }) => id === RULE);
  return { code, said, outcome, findings: report.findings.filter(({ rule }) => rule === RULE) };
}

/** A profile that vouches for an operation of the account, whose nonce at the paymaster is not 0. */
function profileWith(operation) {
  const lines = ["sender", "nonce", "initCode", "callData"].map((name) => `${name} = "${operation[name]}"`);
  return `[operations]\naccepts = "listed"\n\n[[operations.sponsorable]]\n${lines.join("\n")}\n`;
}

/** Adds the checks of the feature to the table. */
export async function checkOnChain(table, { chain, server, startServer, argumentsFor, servers }) {
  const on = ["--rpc-url", chain.url, "--entry-point", chain.entryPoint];
  const start = async (more) => {
    const started = await startServer(more);
    servers.push(started);
    return started.url;
  };
  const listed = profileWith(await chain.draft());

  await table.check("check: any operation, each of a new sender", async () => {
    const { outcome, findings, said } = await check(server.url, [...on, "--allow-incomplete"]);
    assert.equal(outcome?.verdict, "passed", said);
    assert.deepEqual(findings, []);
    return `accepted ${outcome.held} times`;
  });
  await table.check("check: an operation of an account that was sponsored before", async () => {
    const { outcome, said } = await check(server.url, on, listed);
    assert.equal(outcome?.verdict, "passed", said);
    return `accepted ${outcome.held} times`;
  });
  await table.check("check: the same, by a server that does not know the chain", async () => {
    const url = await start(argumentsFor({}));
    const { code, outcome, findings, said } = await check(url, on, listed);
    assert.equal(outcome?.verdict, "failed", said);
    assert.match(findings[0].actual, /AA34/);
    assert.equal(code, 1, "what a chain refuses fails the run");
    return findings[0].actual;
  });
  await table.check("check: a server of another chain", async () => {
    const { outcome, findings, said } = await check(await start(argumentsFor({ "--chain-id": "1" })), on);
    assert.equal(outcome?.verdict, "failed", said);
    return findings[0].actual;
  });
  await table.check("check: a paymaster that is not deployed", async () => {
    const other = { "--sponsorship-paymaster": "0x00000000000000000000000000000000000000aa" };
    const { outcome, findings, said } = await check(await start(argumentsFor(other)), on);
    assert.equal(outcome?.verdict, "failed", said);
    return findings[0].actual;
  });
  await table.check("check: nothing of it unless asked", async () => {
    const { outcome } = await check(server.url, ["--allow-incomplete"]);
    assert.equal(outcome, undefined);
  });
  await table.check("check: no EntryPoint at that address, or no chain", async () => {
    const wrong = await check(server.url, ["--rpc-url", chain.url, "--entry-point", chain.sender.replace(/.$/, "0")]);
    assert.equal(wrong.code, 3, wrong.said);
    const nobody = await check(server.url, ["--rpc-url", "http://127.0.0.1:1", "--entry-point", chain.entryPoint]);
    assert.equal(nobody.code, 3, nobody.said);
    return wrong.said.trim();
  });
}
