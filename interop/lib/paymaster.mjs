// The VerifyingPaymaster of the reference implementation on a development chain.

import { SIGNER, artifact } from "./anvil.mjs";

/**
 * Deploys the sample VerifyingPaymaster. Its package has it up to 0.7, and it refuses EntryPoints of other versions when it is deployed, so
 * that for later ones the code of 0.7 stands at the address meanwhile. The SingletonPaymasterV8 of @pimlico/mock-paymaster 0.0.7 would do
 * without that, but it is an edition whose signatures are over the hash of the one for 0.7: it refuses (AA34) what the server signs for the
 * later edition, whose hash knows EIP-7702.
 */
export async function deployPaymaster(chain, version) {
  const address = chain.entryPoints[version];
  const bytecode = (await chain.node.getCode({ address })) ?? "0x";
  const like = version === "0.6" ? version : "0.7";
  await chain.test.setCode({ address, bytecode: await chain.node.getCode({ address: chain.entryPoints[like] }) });
  const paymaster = await chain.deploy(artifact(like, "VerifyingPaymaster"), [address, SIGNER]);
  await chain.test.setCode({ address, bytecode });
  return { paymaster, kind: `verifying-${like}` };
}
