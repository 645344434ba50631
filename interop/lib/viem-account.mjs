// A smart account as viem wants it.

/** Passes the size checks of accounts, and is nobody's signature. */
export const DUMMY_SIGNATURE =
  "0xfffffffffffffffffffffffffffffff0000000000000000000000000000000007aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1c";

/** Makes one of `account`, with the functions of viem/account-abstraction: each script has a viem of its own. */
export function viemAccount({ toSmartAccount, getUserOperationHash }, { client, version, abi, entryPoint, account }) {
  return toSmartAccount({
    client,
    entryPoint: { abi, address: entryPoint, version },
    getAddress: async () => account.sender,
    getNonce: ({ key } = {}) => account.nonce(key),
    getFactoryArgs: async () => ({ factory: account.factory, factoryData: account.factoryData }),
    encodeCalls: async ([{ to, value, data }]) => account.execute(to, value, data),
    getStubSignature: async () => DUMMY_SIGNATURE,
    signUserOperation: ({ chainId = client.chain.id, ...operation }) => {
      const userOperation = { ...operation, sender: account.sender };
      return account.sign(getUserOperationHash({ chainId, entryPointAddress: entryPoint, entryPointVersion: version, userOperation }));
    },
  });
}
