// Judges services that others wrote, and compares the broken rules with the list of `expected.json`, each entry of which was checked by hand
// against the text of ERC-7677 and with one request by cURL.
//
// `node run.mjs --conformance PATH [--write]`; `--write` writes the list, and the reports into reports/. Exit codes as in ../lib/script.mjs.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { concat, createPublicClient, createWalletClient, getCreate2Address, http, pad } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";

import { guarded } from "../lib/script.mjs";
import { has, setting, start } from "../lib/server.mjs";
import { Table } from "../lib/table.mjs";

const require = createRequire(import.meta.url);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const EXPECTED = here("expected.json");

/** The deployer of contracts at addresses that follow from their code, which anvil has from its start. */
const CREATE2 = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
/** The salts with which the EntryPoints have their published addresses. */
const SALTS = {
  "0.6": pad("0x0", { size: 32 }),
  0.7: "0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3",
  0.8: "0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9",
};
// A TEST KEY, known to everyone: the first account of anvil's default mnemonic.
const DEPLOYER = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");

async function startNode() {
  const bin = require.resolve("@foundry-rs/anvil/bin.mjs");
  const args = [bin, "--host", "127.0.0.1", "--port", "0", "--chain-id", String(foundry.id)];
  const anvil = await start("anvil", process.execPath, args, /Listening on (\S+)/);
  const url = `http://${anvil.url}`;
  const node = createPublicClient({ chain: foundry, transport: http(url), pollingInterval: 20 });
  const wallet = createWalletClient({ chain: foundry, transport: http(url), account: DEPLOYER });
  for (const [version, salt] of Object.entries(SALTS)) {
    const { bytecode } = require(`entry-point-${version.replace(".", "")}/artifacts/EntryPoint.json`);
    const hash = await wallet.sendTransaction({ to: CREATE2, data: concat([salt, bytecode]), gas: 15_000_000n });
    await node.waitForTransactionReceipt({ hash });
    const address = getCreate2Address({ from: CREATE2, salt, bytecode });
    assert.ok(await node.getCode({ address }), `EntryPoint ${version} has no code`);
  }
  return { ...anvil, url };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function startMock(node, survive) {
  const args = ["--import", here("loopback.mjs"), here("mock.mjs"), node.url, String(await freePort())];
  const environment = survive ? { ...process.env, SURVIVE: "1" } : process.env;
  return start("the mock paymaster", process.execPath, args, /listening on (\S+)/, { env: environment });
}

/** The broken rules of a run, with the verdict's exit code. */
function judge(binary, url, version, report) {
  const folder = mkdtempSync(join(tmpdir(), "foreign-"));
  const profile = join(folder, "paymaster.toml");
  writeFileSync(profile, `spec = "erc-7677"\n[service]\nentry-points = ["${version}"]\nchain-id = ${foundry.id}\n`);
  // Few requests at a time: the service is for tests, and asks its node for each.
  const args = [url, "--config", profile, "--jobs", "4", "--cases", "40", "--report", `json=${report}`];
  const done = spawnSync(binary, args, { cwd: folder, encoding: "utf8" });
  assert.ok([0, 1, 4].includes(done.status), `exit code ${done.status}:\n${done.stdout}${done.stderr}`);
  const { rules } = JSON.parse(readFileSync(report, "utf8"));
  const broken = rules.filter((rule) => rule.verdict === "failed" || rule.verdict === "flaky").map((rule) => rule.id);
  return { exit: done.status, broken: broken.sort() };
}

await guarded(async () => {
  const binary = setting("--conformance", "PAYMASTER_CONFORMANCE");
  if (!binary) throw new Error("give --conformance PATH");
  const table = new Table("@pimlico/mock-paymaster 0.0.7 on anvil 1.7.1");
  const expected = has("--write") ? {} : JSON.parse(readFileSync(EXPECTED, "utf8"));
  const reports = has("--write") ? here("reports") : mkdtempSync(join(tmpdir(), "foreign-reports-"));
  mkdirSync(reports, { recursive: true });
  const node = await startNode();
  try {
    for (const version of Object.keys(SALTS).sort()) {
      const mock = await startMock(node, true);
      const name = `mock-paymaster ${version}`;
      try {
        await table.check(`${name}, kept alive`, () => {
          const found = judge(binary, mock.url, version, join(reports, `mock-paymaster-${version}.json`));
          if (has("--write")) expected[name] = found;
          assert.deepEqual(found, expected[name]);
          return `exit ${found.exit}, broken: ${found.broken.join(", ") || "nothing"}`;
        });
      } finally {
        await mock.stop();
      }
    }
  } finally {
    await node.stop();
  }
  if (has("--write")) writeFileSync(EXPECTED, `${JSON.stringify(expected, null, 2)}\n`);
  table.finish();
});
