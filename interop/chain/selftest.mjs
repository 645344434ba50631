// The selftest of the rules about a chain: reference servers with faults that a contract shows, and lawful ones, against anvil with the
// paymasters of the reference implementation for EntryPoint 0.6 to 0.9.
//
// `node selftest.mjs --conformance PATH`; what follows `--` goes to the selftest. Exit codes as in ../lib/script.mjs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { SIGNER_KEY, VERSIONS, startChain } from "../lib/anvil.mjs";
import { deployPaymaster } from "../lib/paymaster.mjs";
import { guarded } from "../lib/script.mjs";
import { argumentsForOthers, setting } from "../lib/server.mjs";
import { Table } from "../lib/table.mjs";

/** The published address of EntryPoint 0.9, whose package has no salt: the paymaster's contract only compares it. */
const ENTRY_POINT_09 = "0x433709009B8330FDa32311DF1C2AFA402eD8D009";

await guarded(async () => {
  const conformance = setting("--conformance", "PAYMASTER_CONFORMANCE");
  if (!conformance) throw new Error("give --conformance PATH");
  const chain = await startChain();
  const folder = mkdtempSync(join(tmpdir(), "paymaster-selftest-"));
  const table = new Table("The rules about a chain, against broken and lawful servers");
  try {
    chain.entryPoints["0.9"] = ENTRY_POINT_09;
    const paymasters = {};
    for (const version of [...VERSIONS, "0.9"]) {
      ({ paymaster: paymasters[version] } = await deployPaymaster(chain, version));
    }
    const config = join(folder, "server.toml");
    writeFileSync(config, configuration(chain.id, paymasters));
    const args = ["selftest", "--rpc-url", chain.url, "--entry-point", chain.entryPoints["0.6"], "--server-config", config];
    await table.check("selftest --rpc-url", async () => {
      const { code, said } = await run(conformance, [...args, ...argumentsForOthers()]);
      assert.equal(code, 0, said);
      return said.split("\n", 1)[0];
    });
  } finally {
    rmSync(folder, { recursive: true });
    await chain.stop();
  }
  table.finish();
});

/** The reference server with these paymasters. */
function configuration(chainId, paymasters) {
  const keys = ["0.7", "0.8", "0.9"].map((version) => `paymaster_${version.replace(".", "")} = "${paymasters[version]}"`);
  const signing = `key = "${SIGNER_KEY}"\nchain_id = ${chainId}\nsponsorship_paymaster = "${paymasters["0.6"]}"`;
  return `# No contract reads the server's token data.\ntokens = []\n\n[signing]\n${signing}\n\n[paymaster_data]\n${keys.join("\n")}\n`;
}

/** Runs a program to its end. */
function run(command, args) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (data) => (said += data));
  return new Promise((tell, fail) => {
    child.once("error", fail);
    child.once("close", (code) => tell({ code, said }));
  });
}
