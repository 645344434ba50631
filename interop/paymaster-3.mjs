// @biconomy/paymaster 3.1.4, unmodified, against the reference server.

import { against } from "./lib/script.mjs";
import { OUTSIDE_THE_SCHEMAS, drive } from "./lib/hybrid-paymaster.mjs";

import { BiconomyPaymaster } from "paymaster-3";

// Errors come with HTTP 200: this client keeps code and message.
await against("@biconomy/paymaster 3.1.4", [], { outside: OUTSIDE_THE_SCHEMAS }, async (table, url) => {
  const paymaster = new BiconomyPaymaster({ paymasterUrl: `${url}/api/v1/31337/a-key` });
  await drive(table, paymaster, {
    told: (error) => (error.code < 0 ? error.message : `no code of the service in ${JSON.stringify(error)}`),
    hasApprovalValue: (value) => value.isZero(),
  });
});
