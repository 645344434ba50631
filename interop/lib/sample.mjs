// What the clients are given to ask about. The tokens and the refused sender are those of the server's default configuration.

/** A well-formed operation of an account that exists. */
export const OPERATION = Object.freeze({
  sender: "0x1306b01bC3e4AD202612D3843387e94737673F53",
  nonce: "0x2a",
  initCode: "0x",
  callData: "0xb61d27f6",
  callGasLimit: "100000",
  verificationGasLimit: "200000",
  preVerificationGas: "50000",
  maxFeePerGas: "20000000000",
  maxPriorityFeePerGas: "1500000000",
});

/** The account that the server's default policy does not sponsor. */
export const REFUSED_SENDER = "0x00000000000000000000000000000000deadbeef";

/** Supported tokens, by symbol. */
export const TOKENS = Object.freeze({
  USDC: { address: "0xda5289fcaaf71d52a80a254da614a192b693e977", decimals: 6 },
  DAI: { address: "0x27a44456bedb94dbd59d0f0a14fe977c777fc5c3", decimals: 18 },
});

/** How many tokens the server supports by default. */
export const SUPPORTED_TOKENS = 4;

/** A token that the server does not support. */
export const UNSUPPORTED_TOKEN = "0x1111111111111111111111111111111111111111";

/** `paymasterAndData` of a paymaster: its address, the terms (2 or 4 words) and a signature of 65 bytes. */
export const SPONSORED_DATA = /^0x[0-9a-f]{40}[0-9a-f]{128}[0-9a-f]{130}$/;
export const TOKEN_DATA = /^0x[0-9a-f]{40}[0-9a-f]{256}[0-9a-f]{130}$/;

/** `0x` and the hex digits of an ERC-20 `approve(spender, amount)`, put together by hand. */
export function approval(spender, amount) {
  const word = (digits) => digits.padStart(64, "0");
  return `0x095ea7b3${word(spender.slice(2).toLowerCase())}${word(amount.toString(16))}`;
}

/** The smallest whole number of a token's units that is not below `fee`, a decimal fraction of the token. */
export function unitsAtLeast(fee, decimals) {
  return BigInt(Math.ceil(fee * 10 ** decimals));
}
