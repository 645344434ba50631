// Published clients of ERC-7677, unmodified, against the reference server: their operations go through a published bundler into a block
// of a development chain, and the paymaster of the server's signatures pays. Between client and server stands `paymaster-conformance
// proxy`.
//
// `node clients.mjs --conformance PATH [--server PATH]`; exit codes as in ../lib/script.mjs.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createSmartAccountClient as aaSdkClient, erc7677Middleware, getEntryPoint, split, toSmartContractAccount } from "@aa-sdk/core";
import { GenericFeeEstimator, PimlicoFeeEstimator } from "@safe-global/relay-kit";
import { Bundler, CandidePaymaster, createUserOperationHash } from "abstractionkit";
import { createSmartAccountClient } from "permissionless";
import { toSimpleSmartAccount } from "permissionless/accounts";
import { createClient, http, numberToHex, parseAbiItem } from "viem";
import * as accountAbstraction from "viem/account-abstraction";
import { estimateFeesPerGas } from "viem/actions";
import { foundry } from "viem/chains";

import { OWNER, SIGNER, SIGNER_KEY, VERSIONS, artifact, startChain } from "../lib/anvil.mjs";
import { answers } from "../lib/network.mjs";
import { deployPaymaster } from "../lib/paymaster.mjs";
import { profileErc7677, startProxy } from "../lib/proxy.mjs";
import { TOKENS } from "../lib/sample.mjs";
import { guarded } from "../lib/script.mjs";
import { setting, startServer } from "../lib/server.mjs";
import { Table } from "../lib/table.mjs";
import { DUMMY_SIGNATURE, viemAccount } from "../lib/viem-account.mjs";
import { startBundler } from "./start.mjs";

const HANDLED = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);
const INCLUSION_TIMEOUT_MS = 30_000;

/** Each client: how it sends one operation, whose hash it gives; and for which EntryPoints it can not, with the reason. */
const CLIENTS = [
  {
    name: "viem 2.57.20",
    async send({ chain, version, account, bundler, paymaster, client }) {
      const abi = accountAbstraction[`entryPoint${version.replace(".", "")}Abi`];
      const entryPoint = chain.entryPoints[version];
      const smartAccount = await viemAccount(accountAbstraction, { client, version, abi, entryPoint, account });
      const transport = http(bundler);
      const sender = accountAbstraction.createBundlerClient({ account: smartAccount, client, chain: foundry, transport, paymaster });
      return sender.sendUserOperation({ calls: [chain.call] });
    },
  },
  {
    name: "permissionless 0.4.1",
    async send({ chain, version, account, index, bundler, paymaster, client }) {
      const smartAccount = await toSimpleSmartAccount({
        client,
        owner: OWNER,
        entryPoint: { address: chain.entryPoints[version], version },
        factoryAddress: account.factory,
        index,
      });
      const bundlerTransport = http(bundler);
      const sender = createSmartAccountClient({ account: smartAccount, client, chain: foundry, bundlerTransport, paymaster });
      return sender.sendUserOperation({ calls: [chain.call] });
    },
  },
  {
    name: "@aa-sdk/core 4.88.5",
    not: { 0.8: "it knows EntryPoint 0.6 and 0.7 only" },
    async send({ chain, version, account, bundler, url }) {
      const overrides = [
        { methods: ["eth_sendUserOperation", "eth_estimateUserOperationGas", "eth_getUserOperationReceipt"], transport: http(bundler) },
        { methods: ["pm_getPaymasterStubData", "pm_getPaymasterData"], transport: http(url) },
      ];
      const transport = split({ overrides, fallback: http(chain.url) });
      const smartAccount = await toSmartContractAccount({
        source: "SimpleAccount",
        transport,
        chain: foundry,
        entryPoint: getEntryPoint(foundry, { version: `${version}.0`, addressOverride: chain.entryPoints[version] }),
        accountAddress: account.sender,
        getAccountInitCode: async () => account.initCode,
        getDummySignature: () => DUMMY_SIGNATURE,
        encodeExecute: async ({ target, value, data }) => account.execute(target, value ?? 0n, data),
        signMessage: ({ message }) => OWNER.signMessage({ message }),
        signTypedData: (data) => OWNER.signTypedData(data),
      });
      const sender = aaSdkClient({ account: smartAccount, transport, chain: foundry, ...erc7677Middleware() });
      const { to: target, value, data } = chain.call;
      return (await sender.sendUserOperation({ uo: { target, value, data } })).hash;
    },
  },
  {
    name: "abstractionkit 0.2.41",
    async send({ chain, version, account, bundler, url, paymaster, client }) {
      const entryPoint = chain.entryPoints[version];
      const fees = await estimateFeesPerGas(client);
      const operation = {
        sender: account.sender,
        nonce: await account.nonce(),
        ...(await account.creation()),
        callData: account.execute(chain.call.to, chain.call.value, chain.call.data),
        callGasLimit: 0n,
        verificationGasLimit: 0n,
        preVerificationGas: 0n,
        maxFeePerGas: fees.maxFeePerGas,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
        signature: DUMMY_SIGNATURE,
      };
      // Candide's own methods, from which the class takes the chain and its stub, are no part of ERC-7677.
      const stub = await paymaster.getPaymasterStubData({ ...operation, entryPointAddress: entryPoint, chainId: chain.id });
      const hex = Object.entries(stub).map(([name, value]) => [name, typeof value === "bigint" ? numberToHex(value) : value]);
      const dummyPaymasterAndData = stub.paymasterAndData ?? Object.fromEntries(hex);
      answers.pm_chainId = numberToHex(chain.id);
      answers.pm_supportedERC20Tokens = { tokens: [], paymasterMetadata: { dummyPaymasterAndData } };
      const [ready] = await new CandidePaymaster(url).createSponsorPaymasterUserOperation(
        { entrypointAddress: entryPoint },
        { ...operation, ...(version === "0.6" ? { paymasterAndData: "0x" } : NO_PAYMASTER) },
        bundler,
      );
      ready.signature = await account.sign(createUserOperationHash(ready, entryPoint, BigInt(chain.id)));
      return new Bundler(bundler).sendUserOperation(ready, entryPoint);
    },
  },
  {
    name: "@safe-global/relay-kit 5.0.0",
    not: { 0.8: "it knows EntryPoint 0.6 and 0.7 only" },
    onlyRequests: "its requests only: its accounts need the contracts of Safe",
    async send({ chain, version, account, bundler, url }) {
      const entryPoint = chain.entryPoints[version];
      const operation = {
        sender: account.sender,
        nonce: "0",
        ...(await account.creation()),
        ...(version === "0.6" ? { paymasterAndData: "0x" } : { paymaster: "0x", paymasterData: "0x" }),
        callData: account.execute(chain.call.to, chain.call.value, chain.call.data),
        callGasLimit: 0n,
        verificationGasLimit: 0n,
        preVerificationGas: 0n,
        maxFeePerGas: 1n,
        maxPriorityFeePerGas: 1n,
        signature: DUMMY_SIGNATURE,
      };
      const protocolKit = { getChainId: async () => BigInt(chain.id), getThreshold: async () => 1 };
      const sponsored = { paymasterUrl: url, isSponsored: true, paymasterContext: {} };
      const token = { paymasterUrl: url, paymasterTokenAddress: TOKENS.USDC.address };
      for (const [estimator, paymasterOptions] of [
        [new GenericFeeEstimator(chain.url), sponsored],
        [new GenericFeeEstimator(chain.url), token],
        [new PimlicoFeeEstimator(), token],
      ]) {
        const props = { bundlerUrl: bundler, entryPoint, paymasterOptions, protocolKit };
        const stub = await estimator.preEstimateUserOperationGas({ ...props, userOperation: operation });
        const userOperation = { ...operation, ...stub, ...LIMITS };
        const data = await estimator.postEstimateUserOperationGas({ ...props, userOperation });
        assert.match(data.paymasterAndData ?? data.paymasterData, /^0x[0-9a-f]{100,}$/);
      }
    },
  },
];

/** Members of an operation without paymaster, as abstractionkit's own accounts have them. */
const NO_PAYMASTER = { paymaster: null, paymasterVerificationGasLimit: null, paymasterPostOpGasLimit: null, paymasterData: null };
/** Gas limits as a bundler could have estimated them. */
const LIMITS = { callGasLimit: 100_000n, verificationGasLimit: 600_000n, preVerificationGas: 60_000n };

await guarded(async () => {
  if (!setting("--conformance", "PAYMASTER_CONFORMANCE")) throw new Error("give --conformance PATH");
  const table = new Table("Clients of ERC-7677 on anvil 1.7.1 with @pimlico/alto 0.0.20");
  const chain = await startChain();
  let bundler;
  try {
    bundler = await startBundler(chain);
    for (const version of VERSIONS) await against(table, chain, bundler.url, version);
  } finally {
    await bundler?.stop();
    await chain.stop();
  }
  table.finish();
});

/** Every client with one EntryPoint. */
async function against(table, chain, bundler, version) {
  const { paymaster, kind } = await deployPaymaster(chain, version);
  await chain.fund(version, paymaster);
  const factory = await chain.deploy(artifact(version, "SimpleAccountFactory"), [chain.entryPoints[version]]);
  const server = await startPaymaster(chain, version, paymaster);
  const profile = profileErc7677({ [version]: kind }, SIGNER);
  try {
    for (const [index, client] of CLIENTS.entries()) {
      const what = [client.name, version];
      if (client.not?.[version]) table.skip(what, client.not[version]);
      else await table.check(what, () => drive(client, { chain, version, bundler, server, profile, payer: paymaster, factory, index: BigInt(index) }));
    }
  } finally {
    await server.stop();
  }
}

/** One operation of a client, through the proxy, into a block. */
async function drive({ send, onlyRequests }, { server, profile, payer, factory, ...setup }) {
  const { chain, version, index } = setup;
  const proxy = await startProxy(server.url, profile);
  try {
    const paymaster = accountAbstraction.createPaymasterClient({ transport: http(proxy.url) });
    const client = createClient({ chain: foundry, transport: http(chain.url) });
    const account = await chain.account(version, factory, index);
    const outcomes = [];
    // The first operation deploys the account, the second finds it.
    for (const operation of onlyRequests ? [1] : [1, 2]) {
      const hash = await send({ ...setup, account, client, paymaster, url: proxy.url });
      outcomes.push(onlyRequests ?? (await included(chain, version, hash, payer)));
      if (!onlyRequests) assert.ok(await account.isDeployed(), `no account after operation ${operation}`);
    }
    return `${outcomes.join(", ")}; ${await proxy.verdict()}`;
  } finally {
    await proxy.stop();
  }
}

/** Waits until the operation is in a block, where the paymaster has to have paid for it. */
async function included(chain, version, userOpHash, paymaster) {
  const filter = { address: chain.entryPoints[version], event: HANDLED, args: { userOpHash }, fromBlock: 0n };
  const deadline = Date.now() + INCLUSION_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const [handled] = await chain.node.getLogs(filter);
    if (handled) {
      assert.ok(handled.args.success, "the call of the operation failed");
      assert.equal(handled.args.paymaster.toLowerCase(), paymaster.toLowerCase(), "who paid");
      return `in block ${handled.blockNumber}, paid ${handled.args.actualGasCost} wei`;
    }
    await new Promise((tell) => setTimeout(tell, 100));
  }
  throw new Error(`${userOpHash} is in no block after ${INCLUSION_TIMEOUT_MS} ms`);
}

/** The reference server for one EntryPoint and its paymaster. */
async function startPaymaster(chain, version, paymaster) {
  const folder = mkdtempSync(join(tmpdir(), "paymaster-server-"));
  const config = join(folder, "server.toml");
  const key = version === "0.6" ? "" : `paymaster_${version.replace(".", "")} = "${paymaster}"\n`;
  writeFileSync(config, `[paymaster_data]\nentry_points = ["${version}"]\n${key}`);
  try {
    const own = version === "0.6" ? ["--sponsorship-paymaster", paymaster, "--chain-rpc", chain.url] : [];
    return await startServer(["--config", config, "--chain-id", String(chain.id), "--signing-key", SIGNER_KEY, ...own]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
