// The reference server and web pages: a page of an allowed origin reads its responses, a page of another origin does not.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const REQUEST = { jsonrpc: "2.0", id: 1, method: "pm_sponsorUserOperation", params: [
  { sender: "0x1306b01bC3e4AD202612D3843387e94737673F53", nonce: "0", initCode: "0x", callData: "0x", callGasLimit: "1",
    verificationGasLimit: "1", preVerificationGas: "1", maxFeePerGas: "1", maxPriorityFeePerGas: "1" },
  { mode: "SPONSORED", sponsorshipInfo: { smartAccountInfo: { name: "BICONOMY", version: "2.0.0" } } },
] };

let browser;
const stops = [];

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
});

after(async () => {
  await browser?.close();
  for (const stop of stops) stop();
});

/** A web page with an origin of its own; gives the origin. */
async function origin() {
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<title>A wallet</title>"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${server.address().port}`;
}

/** Starts the reference server; gives its URL. */
async function reference(...args) {
  const child = spawn(process.env.SERVER, ["--listen", "127.0.0.1:0", "--log", "off", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  stops.push(() => child.kill("SIGTERM"));
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /^listening on (http:\S+)/.exec(line);
    if (found) return found[1];
  }
  throw new Error("the reference server did not start");
}

/** What a page of that origin reads when it sends the request with a key in a header, and of the health of the server. */
async function read(from, url) {
  const page = await browser.newPage();
  await page.goto(from);
  const seen = await page.evaluate(async ({ url, request }) => {
    const outcome = (promise) => promise.then((response) => response.json(), (cause) => cause.name);
    return {
      result: await outcome(fetch(`${url}/api/v2/137/key`, {
        method: "POST", body: JSON.stringify(request), headers: { "content-type": "application/json", "x-api-key": "key" },
      })),
      health: await outcome(fetch(`${url}/health`)),
    };
  }, { url, request: REQUEST });
  await page.close();
  return seen;
}

function assertServed(seen) {
  assert.match(seen.result?.result?.paymasterAndData ?? "", /^0x[0-9a-f]{298}$/, JSON.stringify(seen));
  assert.deepEqual(seen.health, { status: "ok" });
}

test("by default, a page of any origin calls the reference server", async () => {
  assertServed(await read(await origin(), await reference()));
});

test("with --cors-origin, a page of that origin calls it and a page of another one cannot", async () => {
  const [allowed, other] = [await origin(), await origin()];
  const url = await reference("--cors-origin", allowed);
  assertServed(await read(allowed, url));
  assert.deepEqual(await read(other, url), { result: "TypeError", health: "TypeError" });
});
