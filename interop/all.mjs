// Everything of this folder, one after the other: clients and services that others wrote, and the server's signatures on a chain; then the
// clients against servers that are broken on purpose, which they must notice. Installs the packages that are missing, and prints a table
// of everything at the end.
//
// `node all.mjs [--server PATH] [--conformance PATH] [--loadtest PATH]`; without the last, the script that loads services is skipped.
// Exit codes as in lib/script.mjs.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { allArguments, setting } from "./lib/server.mjs";
import { printRows } from "./lib/table.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
/** The folders with packages of their own. */
const FOLDERS = [".", "light", "foreign"];

/** Faults of the reference server that a client which reads answers cannot overlook. */
const FEE_QUOTE_FAULTS = [
  "mode-member-missing",
  "quote-paymaster-missing",
  "sponsored-data-missing",
  "absent-token-served",
  "unsupported-token-gets-0x",
  "refusal-as-error",
];
/** The scripts, each with the faults that it must notice: 3.1.4 takes any `result` key for success; a chain refuses signatures. */
const SCRIPTS = {
  "light/account-4.mjs": FEE_QUOTE_FAULTS,
  "paymaster-4.mjs": FEE_QUOTE_FAULTS,
  "paymaster-3.mjs": [...FEE_QUOTE_FAULTS, "error-and-null-result"],
  "sdk.mjs": FEE_QUOTE_FAULTS,
  "chain/chain.mjs": [],
  "chain/selftest.mjs": [],
  "light/viem.mjs": ["stub-07-as-06", "data-without-prefix", "sponsorable-data-refused", "refusal-code-text"],
  "foreign/clients.mjs": ["signature-of-another-digest"],
  "foreign/faults.mjs": [],
  "foreign/run.mjs": [],
};
const LOAD = "foreign/load.mjs";

const failed = 1;
const couldNotTest = 3;

for (const folder of FOLDERS.filter((folder) => !existsSync(here(`${folder}/node_modules`)))) {
  // In the folder itself, where npm finds its .npmrc.
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", args, { cwd: here(folder), stdio: "inherit" });
  if (status !== 0) process.exit(couldNotTest);
}

const folder = mkdtempSync(join(tmpdir(), "paymaster-interop-"));
const summary = join(folder, "summary.ndjson");

function run(script, args, options) {
  const command = [here(script), ...allArguments(), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: "utf8", ...options });
  return { code: status ?? couldNotTest, said: `${stdout}${stderr}` };
}

const rows = [];
if (setting("--loadtest", "PAYMASTER_LOADTEST")) SCRIPTS[LOAD] = [];
else rows.push({ cells: [LOAD, ""], state: "skipped", note: "give --loadtest PATH" });
try {
  const env = { ...process.env, PAYMASTER_INTEROP_SUMMARY: summary };
  for (const script of Object.keys(SCRIPTS)) {
    const { code } = run(script, [], { env, stdio: "inherit" });
    if (code > failed) rows.push({ cells: [script, ""], state: "failed", note: `could not test: exit code ${code}` });
  }
  const lines = existsSync(summary) ? readFileSync(summary, "utf8").trimEnd().split("\n") : [];
  rows.unshift(...lines.map((line) => JSON.parse(line)));
} finally {
  rmSync(folder, { recursive: true });
}
for (const [script, faults] of Object.entries(SCRIPTS)) {
  for (const fault of faults) {
    const { code, said } = run(script, ["--", "--fault", fault]);
    const noticed = code === failed;
    const note = noticed ? `noticed: ${/FAILED {2}(.*)/.exec(said)?.[1].replace(/\s{2,}/, ": ")}` : `exit code ${code}\n${said}`;
    rows.push({ cells: [`${script} with ${fault}`, ""], state: noticed ? "ok" : "failed", note });
  }
}
console.log("Who, EntryPoint, verdict; below, broken servers, each of which must fail the script");
printRows(rows);
process.exitCode = rows.some(({ state }) => state === "failed") ? failed : 0;
