// Starts what others wrote, as published, each at a free port of this machine.

import { fileURLToPath } from "node:url";

import { start } from "../lib/server.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
// TEST KEYS, known to everyone: two further accounts of anvil's default mnemonic.
const BUNDLER_KEYS = [
  "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
  "0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
];

function startBound(what, script, args, environment = {}) {
  const all = ["--import", here("loopback.mjs"), here(script), ...args];
  return start(what, process.execPath, all, /listening on (\S+)/, { env: { ...process.env, ...environment } });
}

/** The paymaster service; one that survives goes on after an unsupported token. */
export function startMock(chain, survive) {
  return startBound("the mock paymaster", "mock.mjs", [chain.url], survive ? { SURVIVE: "1" } : {});
}

/** The bundler. */
export function startBundler(chain) {
  const entryPoints = Object.values(chain.entryPoints).join(",");
  const keys = ["--executor-private-keys", BUNDLER_KEYS[0], "--utility-private-key", BUNDLER_KEYS[1]];
  // In its safe mode it simulates with tracers that anvil does not have.
  const mode = ["--safe-mode", "false", "--log-level", "warn"];
  const args = ["--port", "0", "--rpc-url", chain.url, "--entrypoints", entryPoints, ...keys, ...mode];
  return startBound("alto", "node_modules/@pimlico/alto/esm/cli/alto.js", args);
}
