// Starts @pimlico/mock-paymaster on a node, as published: `node --import ./loopback.mjs mock.mjs NODE-URL PORT`. Prints its URL.
//
// The package forgets an await where it checks the token of the context, so that an unsupported token ends its process. With SURVIVE=1 in
// the environment the process goes on, and such a request is never answered.

import { paymaster } from "@pimlico/mock-paymaster";

const [anvilRpc, port] = process.argv.slice(2);
if (process.env.SURVIVE) process.on("unhandledRejection", () => {});
// No bundler: none of the two methods needs one.
const instance = paymaster({ anvilRpc, altoRpc: "http://127.0.0.1:1", port: Number(port), host: "127.0.0.1" });
await instance.start();
console.log(`listening on http://127.0.0.1:${port}/`);
process.on("SIGTERM", () => process.exit(0));
