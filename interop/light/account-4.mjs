// @biconomy/account 4.6.3, unmodified, against the reference server. The light one, run by .ci/run. tslib is installed beside it,
// because the package imports it and does not say so.

import { against } from "../lib/script.mjs";
import { OUTSIDE_THE_SCHEMAS, drive } from "../lib/hybrid-paymaster.mjs";

import { createPaymaster } from "@biconomy/account";

// Errors come with HTTP 400, for which this client shows the service's message; for 200 it shows one of its own.
await against("@biconomy/account 4.6.3", ["--error-status", "400"], { outside: OUTSIDE_THE_SCHEMAS }, async (table, url) => {
  const paymaster = await createPaymaster({ paymasterUrl: `${url}/api/v1/31337/a-key` });
  await drive(table, paymaster, { told: (error) => error.message, hasApprovalValue: (value) => value === "0x00" });
});
