// Two faults of ERC-7677 that the selftest of ../chain does not have: a stub in a token without its exchange rate, for which the contract reverts
// (SingletonPaymasterV7, as @pimlico/mock-paymaster 0.0.7 deploys it), and data for another chain than the request names, which takes two
// chains. Each service is judged without its fault too.
//
// `node faults.mjs --conformance PATH [--server PATH]`. Exit codes as in ../lib/script.mjs.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

import { privateKeyToAccount } from "viem/accounts";

import { SIGNER_KEY, startChain } from "../lib/anvil.mjs";
import { deployPaymaster } from "../lib/paymaster.mjs";
import { reportOf } from "../lib/report.mjs";
import { TOKENS } from "../lib/sample.mjs";
import { guarded } from "../lib/script.mjs";
import { setting, startServer } from "../lib/server.mjs";
import { Table } from "../lib/table.mjs";
import { startMock } from "./start.mjs";

const VERSION = "0.7";
// The signer of the package, whose key is in its source.
const MOCK_KEY = `0x${"b".repeat(64)}`;
const OTHER_CHAIN = 8453;
const JSON_TEXT = { "content-type": "application/json" };
const SENDER = "0x1306b01bc3e4ad202612d3843387e94737673f53";
const AMOUNTS = ["callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas", "maxPriorityFeePerGas"];
/** Where the exchange rate is in the hex digits of data in a token: behind mode, flags, times, token and the gas of postOp. */
const RATE = { start: 2 + 2 * 50, end: 2 + 2 * 82 };

await guarded(async () => {
  const table = new Table("Faults that take a token contract, or two chains");
  const folder = mkdtempSync(join(tmpdir(), "paymaster-faults-"));
  const services = [];
  const started = async (starting) => services[services.push(await starting) - 1];
  /** The reference server with this contract and these settings. */
  const serve = (key, paymaster, settings, args = []) => {
    const path = join(folder, `${services.length}.toml`);
    const signing = `[signing]\nkey = "${key}"\nchain_id = 31337\n`;
    writeFileSync(path, `${signing}[paymaster_data]\nentry_points = ["${VERSION}"]\npaymaster_07 = "${paymaster}"\n${settings}`);
    return started(startServer(["--config", path, ...args]));
  };
  try {
    const chain = await started(startChain());
    const other = await started(startChain(OTHER_CHAIN));
    const { paymaster } = await deployPaymaster(chain, VERSION);
    assert.equal((await deployPaymaster(other, VERSION)).paymaster, paymaster);
    const ofOne = await serve(SIGNER_KEY, paymaster, "", ["--variant", "foreign-chain-served"]);
    for (const { id, url } of [chain, other]) {
      const found = id === OTHER_CHAIN ? "failed" : "passed";
      await table.check([`data are signed for chain 31337, and chain ${id} is asked for`, VERSION], () =>
        judged(ofOne.url, url, "data.accepted", found, `chain-id = ${id}\n`),
      );
    }
    const mock = await started(startMock(chain, true));
    const singleton = await serve(MOCK_KEY, await paymasterOf(mock.url, chain), 'layout = "singleton"\n');
    const signer = privateKeyToAccount(MOCK_KEY).address;
    const contract = `[contract]\nkind = { "${VERSION}" = "singleton-${VERSION}" }\nsigner = "${signer}"\n`;
    const profile = `chain-id = 31337\ncontext = { token = "${Object.values(TOKENS)[0].address}" }\n${contract}`;
    await table.check(["a stub in a token", VERSION], () => judged(singleton.url, chain.url, "stub.simulates", "passed", profile));
    const cut = await started(withoutRate(singleton.url));
    await table.check(["a stub in a token without its exchange rate", VERSION], () =>
      judged(cut.url, chain.url, "stub.simulates", "failed", profile),
    );
  } finally {
    for (const service of services.reverse()) await service.stop();
    rmSync(folder, { recursive: true });
  }
  table.finish();
});

/** Judges a service by one rule, with its chain, and compares the verdict. */
async function judged(url, node, rule, verdict, profile) {
  const binary = setting("--conformance", "PAYMASTER_CONFORMANCE");
  if (!binary) throw new Error("give --conformance PATH");
  const lines = `spec = "erc-7677"\n[service]\nentry-points = ["${VERSION}"]\n${profile}`;
  const { said, report } = await reportOf(binary, [url, "--rpc-url", node, "--rule", rule, "--cases", "24", "--no-shrink"], lines);
  assert.equal(report?.rules.find(({ id }) => id === rule)?.verdict, verdict, said);
  return `${rule}: ${verdict}`;
}

/** The contract that the mock has deployed. */
async function paymasterOf(url, chain) {
  const operation = { sender: SENDER, nonce: "0x0", callData: "0x", signature: "0x" };
  for (const member of AMOUNTS) operation[member] = "0x1";
  const params = [operation, chain.entryPoints[VERSION], "0x7a69", {}];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "pm_getPaymasterStubData", params });
  const answer = await (await fetch(url, { method: "POST", headers: JSON_TEXT, body })).json();
  assert.ok(answer.result, JSON.stringify(answer));
  return answer.result.paymaster;
}

/** The service behind `upstream`, without the exchange rate in stubs. */
async function withoutRate(upstream) {
  const server = createServer(async (request, response) => {
    const answer = await fetch(upstream, { method: "POST", headers: JSON_TEXT, body: await buffer(request) });
    let text = await answer.text();
    const stub = /"paymasterData":"(0x03[0-9a-f]{360,})"/.exec(text)?.[1];
    if (stub && text.includes('"isFinal"')) text = text.replace(stub, stub.slice(0, RATE.start) + stub.slice(RATE.end));
    response.writeHead(answer.status, JSON_TEXT).end(text);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const stop = () => new Promise((closed) => server.close(closed).closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}/`, stop };
}
