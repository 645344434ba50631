// Asks the paymaster service over HTTP to sponsor the account's next operation.

const AMOUNTS = ["nonce", "callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas", "maxPriorityFeePerGas"];

/** Sponsors operations of the account at `url`, each for so many seconds. */
export function sponsorOf(chain, url, seconds) {
  let id = 0;
  let last;
  /** The answer for the account's next operation, as it came, and the operation. */
  async function ask() {
    const operation = await chain.draft().catch(() => last);
    last = operation;
    const { paymasterAndData, signature, ...partial } = operation;
    for (const name of AMOUNTS) partial[name] = `0x${operation[name].toString(16)}`;
    const mode = {
      mode: "SPONSORED",
      calculateGasLimits: true,
      expiryDuration: seconds,
      sponsorshipInfo: { webhookData: {}, smartAccountInfo: { name: "INFINITISM", version: "1.0.0" } },
    };
    id += 1;
    const request = { jsonrpc: "2.0", id, method: "pm_sponsorUserOperation", params: [partial, mode] };
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(request) });
    return { operation, ...(await response.json()) };
  }
  /** The account's next operation, sponsored with the limits of the answer, and signed by its owner. */
  async function next() {
    const { operation, result, error } = await ask();
    if (error) throw new Error(`not sponsored: ${error.message}`);
    return chain.signed({
      ...operation,
      paymasterAndData: result.paymasterAndData,
      callGasLimit: BigInt(result.callGasLimit),
      verificationGasLimit: BigInt(result.verificationGasLimit),
      preVerificationGas: BigInt(result.preVerificationGas),
    });
  }
  return { ask, next };
}
