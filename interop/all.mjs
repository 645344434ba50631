// Every client, one after the other; then each against servers that are broken on purpose, which it must notice.
//
// `node all.mjs [--server PATH] [--conformance PATH]`. Exit codes as in lib/script.mjs.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { allArguments } from "./lib/server.mjs";

const SCRIPTS = ["light/account-4.mjs", "paymaster-4.mjs", "paymaster-3.mjs", "sdk.mjs"];

/** Faults of the reference server that a client which reads answers cannot overlook. */
const FAULTS = [
  "mode-member-missing",
  "quote-paymaster-missing",
  "sponsored-data-missing",
  "absent-token-served",
  "unsupported-token-gets-0x",
  "refusal-as-error",
];
/** Further ones for single clients: 3.1.4 takes any `result` key for success. */
const FAULTS_OF = { "paymaster-3.mjs": ["error-and-null-result"] };

const ok = 0;
const failed = 1;

function run(script, args, quiet) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const done = spawnSync(process.execPath, [path, ...allArguments(), ...args], { stdio: quiet ? "pipe" : "inherit" });
  return { code: done.status, said: quiet ? `${done.stdout}${done.stderr}` : "" };
}

let worst = ok;
for (const script of SCRIPTS) worst = Math.max(worst, run(script, [], false).code ?? 3);

console.log("Broken servers, each of which must fail the script");
for (const script of SCRIPTS) {
  for (const fault of [...FAULTS, ...(FAULTS_OF[script] ?? [])]) {
    const { code, said } = run(script, ["--", "--fault", fault], true);
    const noticed = code === failed;
    const note = noticed ? /FAILED {2}(.*)/.exec(said)?.[1].replace(/\s{2,}/, ": ") : `exit code ${code}\n${said}`;
    console.log(`  ${noticed ? "ok    " : "FAILED"}  ${`${script} with ${fault}`.padEnd(55)}  ${note}`);
    if (!noticed) worst = Math.max(worst, code === ok ? failed : (code ?? 3));
  }
}
process.exitCode = worst;
