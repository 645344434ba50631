// Judges services that others wrote, and compares the broken rules with the list of `expected.json` for each EntryPoint, each entry of which
// was checked by hand against the text of ERC-7677 and with one request by cURL.
//
// `node run.mjs --conformance PATH [--write]`; `--write` writes the list, the reports into reports/, and docs/compatibility.md. Exit codes
// as in ../lib/script.mjs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";

import { VERSIONS, startChain } from "../lib/anvil.mjs";
import { reportOf } from "../lib/report.mjs";
import { guarded } from "../lib/script.mjs";
import { has, setting } from "../lib/server.mjs";
import { Table } from "../lib/table.mjs";
import { startMock } from "./start.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const EXPECTED = here("expected.json");
const PAGE = here("../../docs/compatibility.md");
const HEAD = `# Compatibility

Services of ERC-7677 and what was found, by \`node interop/foreign/run.mjs --write\`: the reference server, and @pimlico/mock-paymaster 0.0.7 for
three EntryPoints, kept alive after an unsupported token (as published, such a token ends its process), with its contracts asked on a chain.
Whether \`stub-and-data.zero-bytes\` is broken by the mock is chance: its stub has 12 zero bytes, its data 8 and those of the signature.
The mock passes unknown methods on to a bundler; it had none, so \`json-rpc.method-not-found\` says nothing of it.
`;

// The signer of the package, whose key is in its source.
const SIGNER = privateKeyToAccount(`0x${"b".repeat(64)}`).address;

/** The report of a run against the service, with its exit code; with a chain, the contract is asked as well. */
function judge(binary, url, version, { jobs, chain }) {
  const lines = ['spec = "erc-7677"', "[service]", `entry-points = ["${version}"]`, `chain-id = ${foundry.id}`];
  // Its contract for 0.8 is not the published one of that version: what it signs is what the one for 0.7 does.
  if (chain && version !== "0.8") lines.push("[contract]", `kind = { "${version}" = "singleton-${version}" }`, `signer = "${SIGNER}"`);
  const args = [url, "--jobs", String(jobs), "--cases", "40", ...(chain ? ["--rpc-url", chain.url] : [])];
  return judged(binary, args, `${lines.join("\n")}\n`);
}

async function judged(binary, args, profile) {
  const { code, said, report } = await reportOf(binary, args, profile);
  assert.ok([0, 1, 4].includes(code), `exit code ${code}:\n${said}`);
  return { exit: code, report };
}

/** Rules that chance decides: the zero bytes of eight signatures. */
const SOMETIMES = ["stub-and-data.zero-bytes"];
/** The service passes unknown methods on to a bundler, and has none here. */
const OURS = ["json-rpc.method-not-found"];

function broken(report) {
  const rules = report.rules.filter((rule) => ["failed", "flaky"].includes(rule.verdict)).map((rule) => rule.id);
  return rules.filter((id) => ![...SOMETIMES, ...OURS].includes(id)).sort();
}

await guarded(async () => {
  const binary = setting("--conformance", "PAYMASTER_CONFORMANCE");
  if (!binary) throw new Error("give --conformance PATH");
  const table = new Table("Services of ERC-7677 on anvil 1.7.1");
  const expected = has("--write") ? {} : JSON.parse(readFileSync(EXPECTED, "utf8"));
  const chain = await startChain();
  const check = async (how, version, survive, look) => {
    const mock = await startMock(chain, survive);
    try {
      await table.check([`@pimlico/mock-paymaster 0.0.7, ${how}`, version], async () => {
        // The service is for tests, and asks its node for each request. One at a time shows which request ended it.
        const found = await judge(binary, mock.url, version, survive ? { jobs: 4, chain } : { jobs: 1 });
        assert.equal(found.exit, 1);
        const rules = broken(found.report);
        return `broken: ${rules.join(", ")}${await look(rules, found, mock)}`;
      });
    } finally {
      await mock.stop();
    }
  };
  try {
    for (const version of VERSIONS) {
      await check("kept alive, on its chain", version, true, (rules, found) => {
        if (has("--write")) {
          expected[version] = rules;
          keep(`mock-paymaster-${version}`, found);
        }
        assert.deepEqual(rules, expected[version]);
        return "";
      });
      await check("as published", version, false, async (rules, { report }, mock) => {
        // What the request that ended the service left to be judged depends on the order of requests.
        const others = rules.filter((rule) => !expected[version].includes(rule));
        assert.deepEqual(others, ["answer.http-message"], "it ended at a request");
        // The probe with a token, or the stub and data with one.
        assert.match(report.cut_short ?? "", /an unsupported token in the context|stub-and-data \(the (stub|data) request\)/);
        return `; the service: ${await mock.gone} after an unsupported token`;
      });
    }
  } finally {
    await chain.stop();
  }
  if (has("--write")) {
    writeFileSync(EXPECTED, `${JSON.stringify(expected, null, 2)}\n`);
    keep("reference-server", await judged(binary, ["--spec", "erc-7677", "--jobs", "4"]));
  }
  await table.check("docs/compatibility.md is made of the kept reports", () => {
    const page = compatibility(binary);
    if (has("--write")) writeFileSync(PAGE, page);
    assert.equal(readFileSync(PAGE, "utf8"), page);
  });
  table.finish();
});

/** The page of `matrix` with the kept reports. */
function compatibility(binary) {
  const folder = mkdtempSync(join(tmpdir(), "foreign-"));
  const names = ["reference-server", ...VERSIONS.map((version) => `mock-paymaster-${version}`)];
  const reports = names.map((name) => join(here("reports"), `${name}.json`));
  try {
    execFileSync(resolve(binary), ["matrix", ...reports, "-o", "page.md"], { cwd: folder, stdio: "ignore" });
    return `${HEAD}\n${readFileSync(join(folder, "page.md"), "utf8")}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Keeps of a report what `matrix` reads. Requests and answers are long, and the page shows none of them. */
function keep(name, { report }) {
  const { findings, defects, ...rest } = report;
  const short = { ...rest, target: name, took_ms: 0, findings: [], defects: [] };
  mkdirSync(here("reports"), { recursive: true });
  writeFileSync(join(here("reports"), `${name}.json`), `${JSON.stringify(short, null, 1)}\n`);
}
