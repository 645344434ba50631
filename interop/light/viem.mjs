// viem 2.57.20, unmodified, against the methods of ERC-7677 of the reference server: it prepares operations, for which no chain is
// needed. foreign/clients.mjs gets its operations into blocks. A light one, run by .ci/run.

import assert from "node:assert/strict";

import { profileErc7677 } from "../lib/proxy.mjs";
import { REFUSED_SENDER } from "../lib/sample.mjs";
import { against } from "../lib/script.mjs";
import { rejection, show } from "../lib/table.mjs";
import { viemAccount } from "../lib/viem-account.mjs";

import { createClient, custom, http } from "viem-2.57";
import * as accountAbstraction from "viem-2.57/account-abstraction";
import { foundry } from "viem-2.57/chains";

/** The end of the server's default paymaster of each version, and the kind of its layout. */
const VERSIONS = { "0.6": ["789", "verifying-0.6"], 0.7: ["707", "verifying-0.7"], 0.8: ["708", "verifying-0.7"] };
/** The address of the server's test key. */
const SIGNER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
/** What a bundler estimates, which is more than nothing for the paymaster too; the server's own limits have to win. */
const ESTIMATE = {
  callGasLimit: "0x186a0",
  verificationGasLimit: "0x30d40",
  preVerificationGas: "0xc350",
  paymasterVerificationGasLimit: "0x1",
  paymasterPostOpGasLimit: "0x1",
};
/** A node where every account has code, and a bundler that estimates. */
const transport = custom({
  async request({ method }) {
    const answers = { eth_chainId: "0x7a69", eth_getCode: "0x00", eth_estimateUserOperationGas: ESTIMATE };
    assert.ok(method in answers, `${method} was not expected`);
    return answers[method];
  },
});
const FEES = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

const kinds = Object.fromEntries(Object.entries(VERSIONS).map(([version, [, kind]]) => [version, kind]));

await against("viem 2.57.20", [], { profile: profileErc7677(kinds, SIGNER) }, async (table, url) => {
  const client = createClient({ chain: foundry, transport });
  const prepare = async (version, sender) => {
    const name = version.replace(".", "");
    const account = { sender, nonce: async () => 42n, execute: () => "0xb61d27f6" };
    const entryPoint = accountAbstraction[`entryPoint${name}Address`];
    const abi = accountAbstraction[`entryPoint${name}Abi`];
    const paymaster = accountAbstraction.createPaymasterClient({ transport: http(url) });
    const bundler = accountAbstraction.createBundlerClient({
      account: await viemAccount(accountAbstraction, { client, version, abi, entryPoint, account }),
      client,
      chain: foundry,
      transport,
      paymaster,
    });
    return bundler.prepareUserOperation({ calls: [{ to: sender, value: 0n, data: "0x" }], ...FEES });
  };
  for (const [version, [end]] of Object.entries(VERSIONS)) {
    await table.check([`viem 2.57.20, no chain`, version], async () => {
      const operation = await prepare(version, "0x1306b01bC3e4AD202612D3843387e94737673F53");
      const data = operation.paymasterAndData ?? operation.paymaster + operation.paymasterData.slice(2);
      // The paymaster, its window of two words, and a signature of 65 bytes.
      assert.match(data, new RegExp(`^0x00000f79b7faf42eebadba19acc07cd08af44${end}[0-9a-f]{128}[0-9a-f]{130}$`, "i"));
      if (version !== "0.6") {
        const { paymasterVerificationGasLimit, paymasterPostOpGasLimit } = operation;
        assert.deepEqual([paymasterVerificationGasLimit, paymasterPostOpGasLimit], [100_000n, 50_000n]);
      }
      return show(data);
    });
    await table.check(`EntryPoint ${version}, a sender that is refused`, async () => {
      const error = await rejection(prepare(version, REFUSED_SENDER));
      const { code, details } = error.walk((cause) => typeof cause.code === "number");
      assert.equal(code, -32004, details);
      return details;
    });
  }
});
