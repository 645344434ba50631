// Starts @pimlico/mock-paymaster on a node, as published, at a port that is free: `node --import ./loopback.mjs mock.mjs NODE-URL`.
//
// The package forgets an await where it checks the token of the context, so that an unsupported token ends its process. With SURVIVE=1 in
// the environment the process goes on.

import { paymaster } from "@pimlico/mock-paymaster";

const [anvilRpc] = process.argv.slice(2);
if (process.env.SURVIVE) process.on("unhandledRejection", () => {});
// No bundler: none of the two methods needs one.
const instance = paymaster({ anvilRpc, altoRpc: "http://127.0.0.1:1", port: 0, host: "127.0.0.1" });
await instance.start();
process.on("SIGTERM", () => process.exit(0));
