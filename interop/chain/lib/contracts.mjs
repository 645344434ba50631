// VerifyingPaymaster and an account of eth-infinitism's account-abstraction v0.6 on a development chain.

import { BaseError, ContractFunctionRevertedError, parseEventLogs } from "viem";

import { SIGNER, SIGNER_KEY, artifact } from "../../lib/anvil.mjs";

const VERSION = "0.6";
const ENTRY_POINT = artifact(VERSION, "EntryPoint");
const VERIFYING_PAYMASTER = artifact(VERSION, "VerifyingPaymaster");

/** Deploys everything and puts the paymaster in funds. */
export async function deployAll(chain) {
  const { node, test, bundler } = chain;
  const entryPoint = chain.entryPoints[VERSION];
  const paymaster = await chain.deploy(VERIFYING_PAYMASTER, [entryPoint, SIGNER]);
  await chain.fund(VERSION, paymaster);
  const account = await chain.account(VERSION, await chain.deploy(artifact(VERSION, "SimpleAccountFactory"), [entryPoint]));
  const { sender } = account;

  const atEntryPoint = { address: entryPoint, abi: ENTRY_POINT.abi };
  const handleOps = (operation) => ({ ...atEntryPoint, functionName: "handleOps", args: [[operation], bundler.address] });
  const reasonOf = (error) => {
    const revert = error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
    const { errorName, args } = revert?.data ?? {};
    return errorName === "FailedOp" ? args[1] : (errorName ?? error.shortMessage ?? error.message);
  };

  const contracts = {
    ...chain,
    entryPoint,
    paymaster,
    sender,
    signerKey: SIGNER_KEY,
    /** An operation of the account that makes one call; the first one deploys it. */
    async draft() {
      const deployed = await account.isDeployed();
      const fees = await node.estimateFeesPerGas();
      return {
        sender,
        nonce: await account.nonce(),
        ...(await account.creation()),
        callData: account.execute(chain.call.to, chain.call.value, chain.call.data),
        callGasLimit: 100_000n,
        verificationGasLimit: deployed ? 150_000n : 600_000n,
        preVerificationGas: 60_000n,
        maxFeePerGas: fees.maxFeePerGas,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
        paymasterAndData: "0x",
        signature: "0x",
      };
    },
    /** The operation with the owner's signature. */
    async signed(operation) {
      return { ...operation, signature: await account.sign(await account.hash({ ...operation, signature: "0x" })) };
    },
    /** What a bundler would find by calling handleOps: whether it goes through, and if not, EntryPoint's reason. */
    async simulate(operation) {
      try {
        await node.simulateContract({ ...handleOps(operation), account: bundler });
        return { success: true };
      } catch (error) {
        return { success: false, reason: reasonOf(error) };
      }
    },
    /** Sends the operation through handleOps. */
    async handle(operation) {
      const outcome = await contracts.simulate(operation);
      if (!outcome.success) return outcome;
      const receipt = await chain.mined(await chain.wallet.writeContract({ ...handleOps(operation), gas: 3_000_000n }));
      const [event] = parseEventLogs({ abi: ENTRY_POINT.abi, logs: receipt.logs, eventName: "UserOperationEvent" });
      const { success, paymaster: payer, actualGasCost } = event.args;
      const paid = payer.toLowerCase() === paymaster.toLowerCase();
      const reason = paid ? "the call of the operation failed" : `paid by ${payer}`;
      return { success: success && paid, reason, block: receipt.blockNumber, cost: actualGasCost };
    },
    senderNonce: () =>
      node.readContract({ address: paymaster, abi: VERIFYING_PAYMASTER.abi, functionName: "senderNonce", args: [sender] }),
    /** Turns the chain's clock forward. */
    async turnClock(seconds) {
      await test.increaseTime({ seconds });
      await test.mine({ blocks: 1 });
    },
  };
  return contracts;
}
