// `paymaster-conformance proxy` between a client and the server: every request that the client sends must be one of our schemas,
// and every answer must conform.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { REFUSED_SENDER, TOKENS, UNSUPPORTED_TOKEN } from "./sample.mjs";
import { setting, start } from "./server.mjs";

/** What is known of the server: the rules about tokens and sponsored operations want to be told. */
const PROFILE = `[tokens]
supported = [${Object.values(TOKENS).map(({ address, decimals }) => `{ address = "${address}", decimals = ${decimals} }`)}]
unsupported = ["${UNSUPPORTED_TOKEN}"]

[operations]
accepts = "any"
refused-senders = ["${REFUSED_SENDER}"]
`;

/** What is known of a server of ERC-7677: the contract of each version of EntryPoint, and who signs for all of them. */
export function profileErc7677(kinds, signer) {
  const versions = Object.keys(kinds).sort();
  return `spec = "erc-7677"

[service]
entry-points = ${JSON.stringify(versions)}
chain-id = 31337

[operations]
accepts = "any"
refused = [{ sender = "${REFUSED_SENDER}" }]

[contract]
kind = { ${versions.map((version) => `"${version}" = "${kinds[version]}"`).join(", ")} }
signer = "${signer}"
`;
}

/** Starts a proxy on a free port, in front of `upstream`, which `profile` describes. */
export async function startProxy(upstream, profile = PROFILE) {
  const folder = mkdtempSync(join(tmpdir(), "paymaster-proxy-"));
  const path = join(folder, "report.json");
  const binary = resolve(setting("--conformance", "PAYMASTER_CONFORMANCE"));
  const fixed = ["--listen", "127.0.0.1:0", "--strict", "--allow-incomplete", "--replay-dir", join(folder, "replays")];
  writeFileSync(join(folder, "paymaster.toml"), profile);
  const args = ["proxy", "--upstream", upstream, ...fixed, "--report", `json=${path}`];
  const { url, child, said, stop } = await start("the proxy", binary, args, /listening on (http:\S+?)\/? /, { cwd: folder });
  const finished = async () => {
    await stop();
    return JSON.parse(readFileSync(path, "utf8"));
  };
  const heldOf = (rules) => rules.filter((rule) => rule.held > 0).length;
  return {
    url,
    /** Stops the proxy; gives what it found in a few words. Any violation is an error. */
    async verdict() {
      const { recorded, findings, rules, conclusion } = await finished();
      assert.deepEqual(findings, []);
      assert.equal(child.exitCode, 0, conclusion);
      return `proxy: ${conclusion}, ${heldOf(rules)} rules held in ${recorded.exchanges} exchanges`;
    },
    /** Stops the proxy and adds what it found to the table. */
    async check(table, outside) {
      const { recorded, reached, findings, rules } = await finished();
      const valid = Object.values(reached).reduce((sum, each) => sum + each.results + each.errors + each.unreadable, 0);
      const requests = recorded.exchanges;
      await table.check("through the proxy: requests are valid against our schemas", () => {
        assert.ok(valid > 0);
        assert.equal(requests - valid, outside, `${requests} requests, of which ${valid} are valid`);
        return `${valid} of ${requests}; ${outside} leave out a mode or a token on purpose`;
      });
      await table.check("through the proxy: every answer conforms", () => {
        assert.equal(child.exitCode, 0, said());
        assert.deepEqual(findings, []);
        const held = heldOf(rules);
        assert.ok(held > 40, `only ${held} rules were exercised`);
        return `${held} rules were exercised, and held`;
      });
    },
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
