// Asks the paymaster service over HTTP to sponsor the account's next operation.

const AMOUNTS = ["nonce", "callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas", "maxPriorityFeePerGas"];

export class Sponsor {
  #chain;
  #url;
  #seconds;
  #id = 0;

  constructor(chain, url, seconds) {
    this.#chain = chain;
    this.#url = url;
    this.#seconds = seconds;
  }

  /** The answer for the account's next operation, as it came, and the operation. */
  async ask() {
    const operation = await this.#chain.draft().catch(() => this.#last);
    this.#last = operation;
    const { paymasterAndData, signature, ...partial } = operation;
    for (const name of AMOUNTS) partial[name] = `0x${operation[name].toString(16)}`;
    const mode = {
      mode: "SPONSORED",
      calculateGasLimits: true,
      expiryDuration: this.#seconds,
      sponsorshipInfo: { webhookData: {}, smartAccountInfo: { name: "INFINITISM", version: "1.0.0" } },
    };
    const request = { jsonrpc: "2.0", id: ++this.#id, method: "pm_sponsorUserOperation", params: [partial, mode] };
    const headers = { "content-type": "application/json" };
    const response = await fetch(this.#url, { method: "POST", headers, body: JSON.stringify(request) });
    return { operation, ...(await response.json()) };
  }

  #last;

  /** The account's next operation, sponsored with the limits of the answer, and signed by its owner. */
  async next() {
    const { operation, result, error } = await this.ask();
    if (error) throw new Error(`not sponsored: ${error.message}`);
    return this.#chain.signed({
      ...operation,
      paymasterAndData: result.paymasterAndData,
      callGasLimit: BigInt(result.callGasLimit),
      verificationGasLimit: BigInt(result.verificationGasLimit),
      preVerificationGas: BigInt(result.preVerificationGas),
    });
  }
}
