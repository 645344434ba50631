// Loads @pimlico/mock-paymaster and the reference server with the same requests of ERC-7677, one after the other, several times, and prints
// how much longer the mock takes: ratios of one run.
//
// `node load.mjs --loadtest PATH [--server PATH] [--write]`; `--write` writes the table into docs/load-testing.md.
// Exit codes as in ../lib/script.mjs.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";

import { startChain } from "../lib/anvil.mjs";
import { reportOf } from "../lib/report.mjs";
import { guarded } from "../lib/script.mjs";
import { has, setting, startServer } from "../lib/server.mjs";
import { Table } from "../lib/table.mjs";
import { startMock } from "./start.mjs";

const PAGE = new URL("../../docs/load-testing.md", import.meta.url);
const PLACE = /(<!-- load of ERC-7677 -->\n)[^]*(<!-- end of load of ERC-7677 -->)/;
const VERSION = "0.7";
const ROUNDS = 3;
const LABELS = ["stub", "data"];
const ARGS = ["--spec", "erc-7677", "--users", "4", "--duration", "10s", ...LABELS.flatMap((label) => ["--weight", `${label}=1`])];

await guarded(async () => {
  const binary = setting("--loadtest", "PAYMASTER_LOADTEST");
  if (!binary) throw new Error("give --loadtest PATH");
  const table = new Table("Services of ERC-7677 under load");
  const chain = await startChain();
  const services = [];
  try {
    services.push(await startMock(chain, true), await startServer());
    const profile = `[service]\nentry-points = ["${VERSION}"]\nchain-id = ${chain.id}\n`;
    await table.check(["@pimlico/mock-paymaster 0.0.7 and the reference server, under load", VERSION], async () => {
      const text = await compared(binary, services, profile);
      console.log(text);
      if (has("--write")) writeFileSync(PAGE, readFileSync(PAGE, "utf8").replace(PLACE, `$1${text}$2`));
    });
  } finally {
    for (const service of [...services, chain]) await service.stop();
  }
  table.finish();
});

/** A table of how much longer the first service takes than the second. */
async function compared(binary, services, profile) {
  const ratios = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [mock, own] = [await load(binary, services[0].url, profile), await load(binary, services[1].url, profile)];
    ratios.push(mock.map((latency, at) => latency / own[at]));
  }
  const rows = LABELS.flatMap((label) => ["p50", "p95"].map((percentile) => `${label}, ${percentile}`));
  const cells = rows.map((row, at) => {
    const sorted = ratios.map((round) => round[at]).sort((one, other) => one - other);
    return `| ${row} | ${sorted[Math.floor(ROUNDS / 2)].toFixed(1)} | ${sorted[0].toFixed(1)} to ${sorted.at(-1).toFixed(1)} |`;
  });
  const head = `| latency, EntryPoint ${VERSION} | mock, of the reference server's | in ${ROUNDS} rounds |\n|---|---|---|\n`;
  return `${head}${cells.join("\n")}\n`;
}

/** The latencies of each scenario, where every answer was right. */
async function load(binary, url, profile) {
  const { code, said, report } = await reportOf(binary, [url, ...ARGS], profile);
  assert.equal(code, 0, said);
  return LABELS.flatMap((label) => ["p50", "p95"].map((percentile) => report.derived.labels[label]["latency-ms"][percentile]));
}
