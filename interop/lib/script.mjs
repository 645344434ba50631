// The frame of a script that drives one client.
//
// Exit codes: 0 every check held, 1 one did not, 3 could not test (the server did not start, a package is missing).

import "./network.mjs";
import { startProxy } from "./proxy.mjs";
import { setting, startServer } from "./server.mjs";
import { Table } from "./table.mjs";

const COULD_NOT_TEST = 3;

process.on("uncaughtException", couldNotTest);

/** Runs `body`; what it throws says why nothing could be tested. */
export async function guarded(body) {
  await body().catch(couldNotTest);
}

/**
 * Starts the server with `args`, lets `body` check things, stops the server and prints the table. With a conformance binary the
 * client talks to the server through its `proxy`, which judges every exchange: with a `profile` by that; otherwise by the one of the
 * server's default configuration, where `outside` requests may be none that the schemas take.
 */
export function against(title, args, { outside, profile }, body) {
  return guarded(async () => {
    const server = await startServer(args);
    const table = new Table(title, "0.6");
    const proxy = setting("--conformance", "PAYMASTER_CONFORMANCE") && (await startProxy(server.url, profile));
    try {
      await body(table, proxy ? proxy.url : server.url);
      if (proxy && profile) await table.check("through the proxy: every answer conforms", () => proxy.verdict());
      else if (proxy) await proxy.check(table, outside);
    } finally {
      await proxy?.stop();
      await server.stop();
    }
    table.finish();
  });
}

function couldNotTest(error) {
  console.error(`error: ${error.message}`);
  process.exit(COULD_NOT_TEST);
}
