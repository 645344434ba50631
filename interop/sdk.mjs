// @biconomy/sdk 0.0.29 with viem 2.21.54, unmodified, against the reference server.
//
// Of the two methods its own actions send only quotes in ERC20 mode. The others go through the same client's `request`: its
// transport, envelope and reading of errors.

import assert from "node:assert/strict";

import { against } from "./lib/script.mjs";
import {
  OPERATION,
  REFUSED_SENDER,
  SPONSORED_DATA,
  SUPPORTED_TOKENS,
  TOKENS,
  TOKEN_DATA,
  UNSUPPORTED_TOKEN,
  approval,
  unitsAtLeast,
} from "./lib/sample.mjs";
import { rejection, show } from "./lib/table.mjs";

import {
  biconomySponsoredPaymasterContext,
  createBicoPaymasterClient,
  toBiconomyTokenPaymasterContext,
} from "@biconomy/sdk";
import { encodeFunctionData, erc20Abi } from "viem";

/** The operation as the client's quotes send it: no initCode, amounts as decimal strings. */
const { initCode, ...DECIMAL } = { ...OPERATION, nonce: "42" };
/** The operation as a user of the client has it. */
const TYPED = Object.fromEntries(
  Object.entries(DECIMAL).map(([name, value]) => [name, /^[0-9]+$/.test(value) ? BigInt(value) : value]),
);

/** The one that names no token; a call of ERC-7677 is not judged here. */
const OUTSIDE_THE_SCHEMAS = 1;

await against("@biconomy/sdk 0.0.29", [], { outside: OUTSIDE_THE_SCHEMAS }, async (table, url) => {
  const client = createBicoPaymasterClient({ paymasterUrl: `${url}/api/v2/31337/a-key` });
  const quotes = (tokenList) => client.getTokenPaymasterQuotes({ userOp: TYPED, tokenList });
  const request = (method, mode, change = {}) => client.request({ method, params: [{ ...DECIMAL, ...change }, mode] });
  let answer;

  await table.check("quote, ERC20, token list", async () => {
    answer = await quotes([TOKENS.USDC.address, TOKENS.DAI.address, UNSUPPORTED_TOKEN]);
    assert.equal(answer.mode, "ERC20");
    assert.deepEqual(answer.feeQuotes.map((each) => each.symbol), ["USDC", "DAI"]);
    assert.deepEqual(answer.unsupportedTokens, [UNSUPPORTED_TOKEN]);
    return `USDC,DAI; unsupported: ${answer.unsupportedTokens}`;
  });
  await table.check("quote, ERC20, empty list asks for all tokens", async () =>
    assert.equal((await quotes([])).feeQuotes.length, SUPPORTED_TOKENS),
  );
  await table.check("quote, SPONSORED", async () => {
    const result = await request("pm_getFeeQuoteOrData", biconomySponsoredPaymasterContext);
    assert.equal(result.mode, "SPONSORED");
    assert.match(result.paymasterAndData, SPONSORED_DATA);
  });
  await table.check("approval built from a quote", async () => {
    const [{ maxGasFee, decimal }] = answer.feeQuotes;
    const amount = unitsAtLeast(maxGasFee, decimal);
    const args = [answer.paymasterAddress, amount];
    assert.equal(encodeFunctionData({ functionName: "approve", abi: erc20Abi, args }), approval(...args));
    return `approve(${args.join(", ")})`;
  });
  await table.check("sponsor, SPONSORED", async () => {
    const result = await request("pm_sponsorUserOperation", biconomySponsoredPaymasterContext);
    assert.match(result.paymasterAndData, SPONSORED_DATA);
    assert.equal(BigInt(result.preVerificationGas), 50000n);
    return show(result.paymasterAndData);
  });
  await table.check("sponsor, ERC20", async () => {
    const context = toBiconomyTokenPaymasterContext({ feeTokenAddress: TOKENS.USDC.address });
    const result = await request("pm_sponsorUserOperation", context);
    assert.match(result.paymasterAndData, TOKEN_DATA);
    assert.equal(result.paymasterAndData.slice(0, 42), answer.paymasterAddress);
    return show(result.paymasterAndData);
  });
  await table.check("sponsor, ERC20, token absent", async () => {
    const error = await rejection(request("pm_sponsorUserOperation", toBiconomyTokenPaymasterContext({})));
    assert.match(error.message, /no token to pay in/);
    assert.equal(error.walk((cause) => cause.code === -32001)?.code, -32001);
    return error.details;
  });
  await table.check("sponsor, ERC20, token not supported", async () => {
    const context = toBiconomyTokenPaymasterContext({ feeTokenAddress: UNSUPPORTED_TOKEN });
    const error = await rejection(request("pm_sponsorUserOperation", context));
    assert.match(error.message, /token not supported/);
    return error.details;
  });
  await table.check("an operation that is not sponsored", async () => {
    const change = { sender: REFUSED_SENDER };
    for (const method of ["pm_sponsorUserOperation", "pm_getFeeQuoteOrData"]) {
      const result = await request(method, biconomySponsoredPaymasterContext, change);
      assert.equal(result.paymasterAndData, "0x");
    }
    return "0x";
  });
  await table.check("pm_getPaymasterData (ERC-7677) at the same URL", async () => {
    const more = { initCode, chainId: 31337, entryPointAddress: "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789" };
    const result = await client.getPaymasterData({ ...TYPED, ...more });
    assert.match(result.paymasterAndData, SPONSORED_DATA);
    return show(result.paymasterAndData);
  });
});
