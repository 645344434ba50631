// The reference server's paymasterAndData on a real chain: anvil with EntryPoint v0.6, VerifyingPaymaster and SimpleAccountFactory.
//
// What the contracts are and how they are deployed: lib/contracts.mjs. `node chain.mjs [--server PATH] [--conformance PATH]`; exit
// codes as in ../lib/script.mjs.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

import { startChain } from "../lib/anvil.mjs";
import { setting, startServer } from "../lib/server.mjs";
import { guarded } from "../lib/script.mjs";
import { Table } from "../lib/table.mjs";
import { checkOnChain } from "./lib/conformance.mjs";
import { deployAll } from "./lib/contracts.mjs";
import { sponsorOf } from "./lib/sponsor.mjs";

/** Long enough that no slow machine is late; the chain's clock is turned, nobody waits. */
const EXPIRY_SECONDS = 3600;

/** How EntryPoint says that an operation was refused. */
function refusedWith(code) {
  return (outcome) => {
    assert.equal(outcome.success, false);
    assert.match(outcome.reason, new RegExp(`^${code} `));
    return outcome.reason;
  };
}

function succeeded(outcome) {
  assert.equal(outcome.success, true, outcome.reason);
  return `block ${outcome.block}, paid by the paymaster: ${outcome.cost} wei`;
}

await guarded(async () => {
  const anvil = await startChain();
  const table = new Table("paymasterAndData of the reference server on anvil 1.7.1, EntryPoint v0.6", "0.6");
  const servers = [];
  try {
    const chain = await deployAll(anvil);
    const own = {
      "--config": fileURLToPath(new URL("server.toml", import.meta.url)),
      "--chain-id": String(chain.id),
      "--sponsorship-paymaster": chain.paymaster,
      "--signing-key": chain.signerKey,
    };
    const argumentsFor = (other) => Object.entries({ ...own, ...other }).flat();
    const server = await startServer(argumentsFor({ "--chain-rpc": anvil.url }));
    servers.push(server);
    const sponsor = sponsorOf(chain, server.url, EXPIRY_SECONDS);

    await table.check("an operation that deploys its account is sponsored and handled", async () =>
      succeeded(await chain.handle(await sponsor.next())),
    );
    await table.check("a second operation of the same sender", async () => {
      assert.equal(await chain.senderNonce(), 1n);
      return succeeded(await chain.handle(await sponsor.next()));
    });
    await table.check("the account did what the operations said", async () => {
      assert.equal(await chain.counted(), 2);
      return "2 calls";
    });
    for (const limit of ["callGasLimit", "verificationGasLimit", "preVerificationGas"]) {
      await table.check(`${limit} changed after sponsoring`, async () => {
        const operation = await sponsor.next();
        operation[limit] += 1n;
        return refusedWith("AA34")(await chain.handle(await chain.signed(operation)));
      });
    }
    await table.check("paymasterAndData of an earlier operation", async () => {
      const operation = await sponsor.next();
      succeeded(await chain.handle(operation));
      const later = { ...(await sponsor.next()), paymasterAndData: operation.paymasterAndData };
      return refusedWith("AA34")(await chain.handle(await chain.signed(later)));
    });
    await table.check("a server that does not know the chain signs for the nonce 0", async () => {
      const blind = await startServer(argumentsFor({}));
      servers.push(blind);
      const operation = await sponsorOf(chain, blind.url, EXPIRY_SECONDS).next();
      return refusedWith("AA34")(await chain.handle(operation));
    });
    if (setting("--conformance", "PAYMASTER_CONFORMANCE")) {
      await checkOnChain(table, { chain, server, startServer, argumentsFor, servers });
    }
    await table.check("after expiryDuration", async () => {
      const operation = await sponsor.next();
      assert.equal((await chain.simulate(operation)).success, true);
      await chain.turnClock(EXPIRY_SECONDS + 60);
      return refusedWith("AA32")(await chain.handle(operation));
    });
    await table.check("a chain that does not answer is a JSON-RPC error", async () => {
      await anvil.stop();
      const { error } = await sponsor.ask();
      assert.equal(error.code, -32003);
      assert.match(error.message, /^chain not available: .*no connection/);
      return error.message;
    });
  } finally {
    for (const server of servers) await server.stop();
    await anvil.stop();
  }
  table.finish();
});
