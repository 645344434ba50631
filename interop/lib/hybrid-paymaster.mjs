// The checks for clients that have the BiconomyPaymaster class: account 4.x, paymaster 4.x and 3.1.x share its methods.

import assert from "node:assert/strict";

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
} from "./sample.mjs";
import { rejection, show } from "./table.mjs";

/** How many requests of `drive` the schemas refuse: the quote without a mode, and the sponsorship without a token. */
export const OUTSIDE_THE_SCHEMAS = 2;

/** The gas limits that the server returns: those of the operation. */
const LIMITS = { callGasLimit: 100000, verificationGasLimit: 200000, preVerificationGas: "50000" };

function sponsored(answer) {
  assert.match(answer.paymasterAndData, SPONSORED_DATA);
  const { callGasLimit, verificationGasLimit, preVerificationGas } = answer;
  assert.deepEqual({ callGasLimit, verificationGasLimit, preVerificationGas }, LIMITS);
  return show(answer.paymasterAndData);
}

/**
 * Drives a paymaster object of the client. `told(error)` gives what of the service's own words reaches a user of the client:
 * some versions keep them only for some HTTP statuses.
 */
export async function drive(table, paymaster, { told, hasApprovalValue }) {
  let quote;
  let spender;
  const quotes = (data) => paymaster.getPaymasterFeeQuotesOrData({ ...OPERATION }, data);
  const sponsor = (data, change = {}) => paymaster.getPaymasterAndData({ ...OPERATION, ...change }, data);
  const symbols = (answer) => answer.feeQuotes.map((each) => each.symbol);

  await table.check("quote, SPONSORED", async () =>
    sponsored(await quotes({ mode: "SPONSORED", expiryDuration: 300, calculateGasLimits: true })),
  );
  await table.check("quote, ERC20, preferred token and list", async () => {
    const answer = await quotes({
      mode: "ERC20",
      preferredToken: TOKENS.USDC.address,
      tokenList: [TOKENS.DAI.address, UNSUPPORTED_TOKEN],
    });
    assert.deepEqual(symbols(answer), ["USDC", "DAI"]);
    assert.match(answer.tokenPaymasterAddress, /^0x[0-9a-f]{40}$/);
    for (const each of answer.feeQuotes) {
      assert.ok(each.maxGasFee > 0 && each.maxGasFeeUSD > 0 && each.validUntil > 1_600_000_000, show(each));
      assert.equal(each.decimal, TOKENS[each.symbol].decimals);
    }
    [quote] = answer.feeQuotes;
    spender = answer.tokenPaymasterAddress;
    return `${symbols(answer)}, ${quote.maxGasFee} ${quote.symbol}`;
  });
  await table.check("quote, ERC20, empty list asks for all tokens", async () => {
    const answer = await quotes({ mode: "ERC20", tokenList: [] });
    assert.equal(answer.feeQuotes.length, SUPPORTED_TOKENS);
    return String(symbols(answer));
  });
  await table.check("quote, ERC20, only an unsupported token", async () => {
    const answer = await quotes({ mode: "ERC20", tokenList: [UNSUPPORTED_TOKEN] });
    assert.deepEqual(answer.feeQuotes, []);
    return "no quotes, no error";
  });
  await table.check("quote without a mode", async () => {
    const answer = await quotes({ tokenList: [TOKENS.USDC.address] });
    assert.deepEqual(symbols(answer), ["USDC"]);
  });
  await table.check("approval built from a quote", async () => {
    const built = await paymaster.buildTokenApprovalTransaction({ feeQuote: quote, spender });
    assert.equal(built.to, quote.tokenAddress);
    assert.equal(built.data, approval(spender, unitsAtLeast(quote.maxGasFee, quote.decimal)));
    assert.ok(hasApprovalValue(built.value), show(built));
    return `approve(${spender}, ${unitsAtLeast(quote.maxGasFee, quote.decimal)})`;
  });
  await table.check("sponsor, SPONSORED", async () =>
    sponsored(await sponsor({ mode: "SPONSORED", expiryDuration: 300, webhookData: {} })),
  );
  await table.check("sponsor, SPONSORED, gas limits left to the service", async () => {
    const absent = { callGasLimit: undefined, verificationGasLimit: undefined, preVerificationGas: undefined };
    const answer = await sponsor({ mode: "SPONSORED", calculateGasLimits: true }, absent);
    assert.match(answer.paymasterAndData, SPONSORED_DATA);
    assert.ok(answer.callGasLimit > 0 && answer.verificationGasLimit > 0, show(answer));
    assert.match(answer.preVerificationGas, /^[1-9][0-9]*$/);
    return `${answer.callGasLimit}, ${answer.verificationGasLimit}, ${answer.preVerificationGas}`;
  });
  await table.check("sponsor, ERC20", async () => {
    const answer = await sponsor({ mode: "ERC20", feeTokenAddress: quote.tokenAddress });
    assert.match(answer.paymasterAndData, TOKEN_DATA);
    assert.equal(answer.paymasterAndData.slice(0, 42), spender.toLowerCase());
    return show(answer.paymasterAndData);
  });
  await table.check("sponsor, ERC20, token absent", async () => {
    const words = told(await rejection(sponsor({ mode: "ERC20" })));
    assert.match(words, /no token to pay in/);
    return words;
  });
  await table.check("sponsor, ERC20, token not supported", async () => {
    const words = told(await rejection(sponsor({ mode: "ERC20", feeTokenAddress: UNSUPPORTED_TOKEN })));
    assert.match(words, /token not supported/);
    return words;
  });
  await table.check("an operation that is not sponsored", async () => {
    const change = { sender: REFUSED_SENDER };
    const answer = await sponsor({ mode: "SPONSORED" }, change);
    assert.equal(answer.paymasterAndData, "0x");
    const quoted = await paymaster.getPaymasterFeeQuotesOrData({ ...OPERATION, ...change }, { mode: "SPONSORED" });
    assert.equal(quoted.paymasterAndData, "0x");
    return "0x";
  });
  await table.check("concurrent calls, which share an id", async () => {
    const tokens = Object.keys(TOKENS);
    const asked = Array.from({ length: 20 }, (_, index) => tokens[index % tokens.length]);
    const answers = await Promise.all(
      asked.map((symbol) => quotes({ mode: "ERC20", preferredToken: TOKENS[symbol].address })),
    );
    assert.deepEqual(answers.map((answer) => symbols(answer)), asked.map((symbol) => [symbol]));
    return `${asked.length} answers, each for its own token`;
  });
}
