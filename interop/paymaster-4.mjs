// @biconomy/paymaster 4.1.1, unmodified, against the reference server.

import { against } from "./lib/script.mjs";
import { OUTSIDE_THE_SCHEMAS, drive } from "./lib/hybrid-paymaster.mjs";

import { createPaymaster } from "@biconomy/paymaster";

await against("@biconomy/paymaster 4.1.1", ["--error-status", "400"], { outside: OUTSIDE_THE_SCHEMAS }, async (table, url) => {
  const paymaster = await createPaymaster({ paymasterUrl: `${url}/api/v1/31337/a-key` });
  await drive(table, paymaster, { told: (error) => error.message, hasApprovalValue: (value) => value === "0x00" });
});
