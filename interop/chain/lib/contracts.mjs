// A development chain with the contracts of eth-infinitism's account-abstraction v0.6, as their package ships them compiled.

import { createRequire } from "node:module";

import {
  BaseError,
  ContractFunctionRevertedError,
  concat,
  createPublicClient,
  createTestClient,
  createWalletClient,
  encodeFunctionData,
  hexToBytes,
  http,
  parseEther,
  parseEventLogs,
  toHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";

import { start } from "../../lib/server.mjs";

const require = createRequire(import.meta.url);
const artifact = (name) => require(`@account-abstraction/contracts/artifacts/${name}.json`);
const ENTRY_POINT = artifact("EntryPoint");
const VERIFYING_PAYMASTER = artifact("VerifyingPaymaster");
const SIMPLE_ACCOUNT = artifact("SimpleAccount");
const FACTORY = artifact("SimpleAccountFactory");

// TEST KEYS, known to everyone: accounts of anvil's default mnemonic. They deploy and bundle, own the account, and sign for the
// paymaster.
const BUNDLER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const OWNER_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const SIGNER_KEY = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";

/** Emits nothing, returns nothing, adds one to its first slot: SLOAD(0) + 1, SSTORE(0). */
const COUNTER_CODE = "0x60005460010160005500";
const COUNTER = "0x00000000000000000000000000000000000c0de5";

/** Starts anvil on a free port of this machine; it prints which. */
export async function startAnvil() {
  // The package's own bin decides which build of anvil this machine needs.
  const bin = require.resolve("@foundry-rs/anvil/bin.mjs");
  const args = [bin, "--host", "127.0.0.1", "--port", "0", "--chain-id", String(foundry.id)];
  const anvil = await start("anvil", process.execPath, args, /Listening on (\S+)/);
  return { ...anvil, url: `http://${anvil.url}` };
}

/** Deploys everything and puts the paymaster in funds. */
export async function deployAll(url) {
  const transport = http(url);
  const node = createPublicClient({ chain: foundry, transport, pollingInterval: 20 });
  const test = createTestClient({ chain: foundry, mode: "anvil", transport });
  const bundler = privateKeyToAccount(BUNDLER_KEY);
  const wallet = createWalletClient({ account: bundler, chain: foundry, transport });
  const mined = async (hash) => {
    const receipt = await node.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`transaction ${hash} failed`);
    return receipt;
  };
  const deploy = async ({ abi, bytecode }, args) =>
    (await mined(await wallet.deployContract({ abi, bytecode, args }))).contractAddress;

  const signer = privateKeyToAccount(SIGNER_KEY);
  const owner = privateKeyToAccount(OWNER_KEY);
  const entryPoint = await deploy(ENTRY_POINT, []);
  const paymaster = await deploy(VERIFYING_PAYMASTER, [entryPoint, signer.address]);
  const factory = await deploy(FACTORY, [entryPoint]);
  const deposit = { address: paymaster, abi: VERIFYING_PAYMASTER.abi, functionName: "deposit" };
  await mined(await wallet.writeContract({ ...deposit, value: parseEther("10") }));
  await test.setCode({ address: COUNTER, bytecode: COUNTER_CODE });
  const creation = { abi: FACTORY.abi, args: [owner.address, 0n] };
  const sender = await node.readContract({ ...creation, address: factory, functionName: "getAddress" });

  const atEntryPoint = { address: entryPoint, abi: ENTRY_POINT.abi };
  const handleOps = (operation) => ({ ...atEntryPoint, functionName: "handleOps", args: [[operation], bundler.address] });
  const reasonOf = (error) => {
    const revert = error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
    const { errorName, args } = revert?.data ?? {};
    return errorName === "FailedOp" ? args[1] : (errorName ?? error.shortMessage ?? error.message);
  };

  const chain = {
    id: foundry.id,
    url,
    entryPoint,
    paymaster,
    sender,
    signerKey: SIGNER_KEY,
    /** An operation of the account that makes one call; the first one deploys it. */
    async draft() {
      const deployed = (await node.getCode({ address: sender })) !== undefined;
      const fees = await node.estimateFeesPerGas();
      return {
        sender,
        nonce: await node.readContract({ ...atEntryPoint, functionName: "getNonce", args: [sender, 0n] }),
        initCode: deployed
          ? "0x"
          : concat([factory, encodeFunctionData({ ...creation, functionName: "createAccount" })]),
        callData: encodeFunctionData({ abi: SIMPLE_ACCOUNT.abi, functionName: "execute", args: [COUNTER, 0n, "0x"] }),
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
      const args = [{ ...operation, signature: "0x" }];
      const hash = await node.readContract({ ...atEntryPoint, functionName: "getUserOpHash", args });
      return { ...operation, signature: await owner.signMessage({ message: { raw: hexToBytes(hash) } }) };
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
      const outcome = await chain.simulate(operation);
      if (!outcome.success) return outcome;
      const receipt = await mined(await wallet.writeContract({ ...handleOps(operation), gas: 3_000_000n }));
      const [event] = parseEventLogs({ abi: ENTRY_POINT.abi, logs: receipt.logs, eventName: "UserOperationEvent" });
      const { success, paymaster: payer, actualGasCost } = event.args;
      const paid = payer.toLowerCase() === paymaster.toLowerCase();
      const reason = paid ? "the call of the operation failed" : `paid by ${payer}`;
      return { success: success && paid, reason, block: receipt.blockNumber, cost: actualGasCost };
    },
    senderNonce: () =>
      node.readContract({ address: paymaster, abi: VERIFYING_PAYMASTER.abi, functionName: "senderNonce", args: [sender] }),
    /** How many calls the account has made. */
    counted: async () => Number(BigInt((await node.getStorageAt({ address: COUNTER, slot: toHex(0) })) ?? "0x0")),
    /** Turns the chain's clock forward. */
    async turnClock(seconds) {
      await test.increaseTime({ seconds });
      await test.mine({ blocks: 1 });
    },
  };
  return chain;
}
