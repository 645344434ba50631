// A development chain: anvil with EntryPoint 0.6, 0.7 and 0.8 at their published addresses, as their packages ship them compiled.

import { createRequire } from "node:module";

import {
  concat,
  createPublicClient,
  createTestClient,
  createWalletClient,
  encodeFunctionData,
  getCreate2Address,
  hexToBytes,
  http,
  pad,
  parseEther,
  toHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";

import { start } from "./server.mjs";

const require = createRequire(import.meta.url);

/** A compiled contract of the package for a version of EntryPoint. */
export const artifact = (version, name) => require(`entry-point-${version.replace(".", "")}/artifacts/${name}.json`);

// TEST KEYS, known to everyone: accounts of anvil's default mnemonic. They deploy and bundle, own the accounts, and sign for the
// paymasters.
const BUNDLER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
export const OWNER_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
export const SIGNER_KEY = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";
export const OWNER = privateKeyToAccount(OWNER_KEY);
export const SIGNER = privateKeyToAccount(SIGNER_KEY).address;

/** The deployer of contracts at addresses that follow from their code, which anvil has from its start. */
const CREATE2 = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
/** The salts with which the EntryPoints have their published addresses. */
const SALTS = {
  "0.6": pad("0x0", { size: 32 }),
  0.7: "0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3",
  0.8: "0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9",
};
export const VERSIONS = Object.keys(SALTS).sort();

/** Emits nothing, returns nothing, adds one to its first slot: SLOAD(0) + 1, SSTORE(0). */
const COUNTER_CODE = "0x60005460010160005500";
const COUNTER = "0x00000000000000000000000000000000000c0de5";

/** Starts anvil on a free port of this machine, and deploys the EntryPoints and the counter. */
export async function startChain(id = foundry.id) {
  const its = { ...foundry, id };
  // The package's own bin decides which build of anvil this machine needs.
  const bin = require.resolve("@foundry-rs/anvil/bin.mjs");
  const args = [bin, "--host", "127.0.0.1", "--port", "0", "--chain-id", String(id)];
  const anvil = await start("anvil", process.execPath, args, /Listening on (\S+)/);
  const url = `http://${anvil.url}`;
  const transport = http(url);
  const node = createPublicClient({ chain: its, transport, pollingInterval: 20 });
  const test = createTestClient({ chain: its, mode: "anvil", transport });
  const bundler = privateKeyToAccount(BUNDLER_KEY);
  const wallet = createWalletClient({ account: bundler, chain: its, transport });
  const mined = async (hash) => {
    const receipt = await node.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`transaction ${hash} failed`);
    return receipt;
  };
  const chain = {
    ...anvil,
    id,
    url,
    node,
    test,
    wallet,
    bundler,
    mined,
    entryPoints: {},
    /** Deploys a contract at the address that follows from its code. */
    async create2(bytecode, salt = SALTS["0.6"]) {
      await mined(await wallet.sendTransaction({ to: CREATE2, data: concat([salt, bytecode]), gas: 15_000_000n }));
      const address = getCreate2Address({ from: CREATE2, salt, bytecode });
      if (!(await node.getCode({ address }))) throw new Error(`no code at ${address}`);
      return address;
    },
    async deploy({ abi, bytecode }, args) {
      return (await mined(await wallet.deployContract({ abi, bytecode, args }))).contractAddress;
    },
    /** Gives a paymaster a deposit in the EntryPoint. */
    async fund(version, paymaster) {
      const deposit = { address: chain.entryPoints[version], abi: artifact(version, "EntryPoint").abi, functionName: "depositTo" };
      await mined(await wallet.writeContract({ ...deposit, args: [paymaster], value: parseEther("10") }));
    },
    /** How many calls the accounts have made. */
    counted: async () => Number(BigInt((await node.getStorageAt({ address: COUNTER, slot: toHex(0) })) ?? "0x0")),
    /** The SimpleAccount of the owner with this index, which its first operation deploys. It can call the counter. */
    async account(version, factory, index = 0n) {
      const entryPoint = { address: chain.entryPoints[version], abi: artifact(version, "EntryPoint").abi };
      const creation = { abi: artifact(version, "SimpleAccountFactory").abi, args: [OWNER.address, index] };
      const sender = await node.readContract({ ...creation, address: factory, functionName: "getAddress" });
      const factoryData = encodeFunctionData({ ...creation, functionName: "createAccount" });
      const initCode = concat([factory, factoryData]);
      const isDeployed = async () => (await node.getCode({ address: sender })) !== undefined;
      return {
        sender,
        factory,
        factoryData,
        initCode,
        isDeployed,
        /** The members of an operation that deploy the account, as long as it has no code. */
        async creation() {
          if (version === "0.6") return { initCode: (await isDeployed()) ? "0x" : initCode };
          return (await isDeployed()) ? {} : { factory, factoryData };
        },
        nonce: (key = 0n) => node.readContract({ ...entryPoint, functionName: "getNonce", args: [sender, key] }),
        execute: (to, value, data) =>
          encodeFunctionData({ abi: artifact(version, "SimpleAccount").abi, functionName: "execute", args: [to, value, data] }),
        hash: (packed) => node.readContract({ ...entryPoint, functionName: "getUserOpHash", args: [packed] }),
        /** What the account accepts: since 0.8 the owner signs the hash itself. */
        sign: (hash) => (version === "0.8" ? OWNER.sign({ hash }) : OWNER.signMessage({ message: { raw: hexToBytes(hash) } })),
      };
    },
    /** The call of every operation. */
    call: { to: COUNTER, value: 0n, data: "0x" },
  };
  for (const version of VERSIONS) {
    chain.entryPoints[version] = await chain.create2(artifact(version, "EntryPoint").bytecode, SALTS[version]);
  }
  await test.setCode({ address: COUNTER, bytecode: COUNTER_CODE });
  return chain;
}
