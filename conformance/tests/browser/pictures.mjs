// Makes the pictures of docs/pictures from real runs against reference servers on this machine: docs/pictures/make says how.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const { BINARY: conformance, SERVER: server, LOADTEST: loadtest, PICTURES: pictures } = process.env;
const run = promisify(execFile);
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
/** The most bytes of a picture. */
const MOST = 150_000;

const folder = await mkdtemp(join(tmpdir(), "paymaster-pictures-"));
const servers = [];
let browser;
try {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  await load();
  await runs();
  await call();
} finally {
  await browser?.close();
  for (const one of servers) one.kill();
  await rm(folder, { recursive: true, force: true });
}

/** Runs a program in the folder; fails if it ends with another code. */
async function ends(expected, program, ...args) {
  const code = await run(program, args, { cwd: folder, env: { PATH: process.env.PATH } }).then(() => 0, (cause) => cause.code);
  assert.equal(code, expected, `${program} ${args.join(" ")}`);
}

/** Starts a reference server; gives its URL and its lines on standard error so far. */
async function serve(...args) {
  const child = spawn(server, ["--listen", "127.0.0.1:0", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  servers.push(child);
  const log = [];
  createInterface({ input: child.stderr }).on("line", (line) => log.push(line));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = line.match(/http:\/\/127\.0\.0\.1:\d+/);
    if (url) return { url: `${url[0]}/`, log };
  }
  throw new Error(`${server} did not start: ${log.join("\n")}`);
}

/** Opens a page of this width; a pixel of the picture shows 1 / `scale` of the page. */
async function open(url, width, scale = 1) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, deviceScaleFactor: scale, colorScheme: "light" });
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** Takes a picture of the page from its top down to so many pixels. */
async function picture(page, name, clip) {
  const path = join(pictures, `${name}.png`);
  await page.screenshot({ path, fullPage: true, clip });
  await page.context().close();
  const { size } = await stat(path);
  assert.ok(size < MOST, `${name}.png has ${size} bytes`);
  console.log(`${name}.png ${clip.width}x${Math.round(clip.height)} ${size} bytes`);
}

/** A load that rises and falls. */
async function load() {
  const { url } = await serve();
  await run(server, ["--print-profile"]).then(({ stdout }) => writeFile(join(folder, "paymaster.toml"), stdout));
  await ends(0, loadtest, url, "--rate", "40,5s;40,5s;120,5s;120,5s;40,10s", "--arrivals", "poisson", "--users", "20", "-t", "p95<2s", "-o", "report.html");
  const page = await open(pathToFileURL(join(folder, "report.html")).href, 1000, 0.8);
  const latency = await page.locator("figure").nth(1).boundingBox();
  await picture(page, "load-report", { x: 0, y: 0, width: 1000, height: latency.y + latency.height + 16 });
}

/** A conformance run against a server with a fault, its matrix with one that conforms, and the two compared. */
async function runs() {
  const faults = ["fee-decimal-string", "content-type-plain", "mode-member-missing"];
  const broken = await serve(...faults.flatMap((fault) => ["--fault", fault]));
  await ends(1, conformance, broken.url, "--cases", "40", "--report", "html=broken.html", "--report", "json=broken.json");
  const good = await serve();
  await ends(0, conformance, good.url, "--cases", "40", "--report", "json=good.json");
  await ends(0, conformance, "matrix", "good.json", "broken.json", "-o", "matrix.html");
  await ends(1, conformance, "compare", "good.json", "broken.json", "-o", "compare.html");
  const page = await open(pathToFileURL(join(folder, "broken.html")).href, 1000, 0.75);
  const warnings = await page.locator("#warned").boundingBox();
  await picture(page, "conformance-report", { x: 0, y: 0, width: 1000, height: warnings.y + warnings.height });
  const matrix = await open(pathToFileURL(join(folder, "matrix.html")).href, 1000);
  await matrix.locator("#differences").click();
  const table = await matrix.locator("#matrix").boundingBox();
  await picture(matrix, "matrix", { x: 0, y: 0, width: 1000, height: Math.min(table.y + table.height + 16, 900) });
  const comparison = await open(pathToFileURL(join(folder, "compare.html")).href, 1000);
  const { height } = await comparison.locator("body").boundingBox();
  await picture(comparison, "comparison", { x: 0, y: 0, width: 1000, height: Math.min(height, 900) });
}

/** A web page of another origin that calls the reference server, beside the log of the server. */
async function call() {
  const { url, log } = await serve();
  const path = join(folder, "wallet.html");
  await writeFile(path, `<!doctype html><html lang="en"><meta charset="utf-8"><title>A wallet</title><style>
    body { margin: 0; padding: 20px; font: 15px/1.5 system-ui, sans-serif; color: #1d232b; background: #fbfbfa; }
    h1 { font-size: 18px; margin: 0 0 10px; } h2 { font-size: 13px; color: #5d6875; font-weight: 500; margin: 14px 0 4px; }
    pre { margin: 0; padding: 10px 12px; background: #fff; border: 1px solid #e3e5e8; border-radius: 8px; font: 12px/1.45 monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
    main { display: grid; grid-template-columns: 1fr 1fr; gap: 0 16px; }</style>
    <h1>A web page calls the reference server</h1><main><div><h2>request of the page</h2><pre id="request"></pre></div><div><h2>answer that the page reads</h2><pre id="answer"></pre></div></main>
    <h2>log of paymaster-reference-server</h2><pre id="log"></pre></html>`);
  const page = await open(pathToFileURL(path).href, 1000);
  await page.evaluate(async (url) => {
    const operation = { sender: "0x1000000000000000000000000000000000000001", nonce: "0", callData: "0x", maxFeePerGas: "1000000000", maxPriorityFeePerGas: "1000000" };
    const info = { mode: "ERC20", tokenInfo: { tokenList: ["0xda5289fcaaf71d52a80a254da614a192b693e977"] } };
    const request = { jsonrpc: "2.0", id: 1, method: "pm_getFeeQuoteOrData", params: [operation, info] };
    const post = (body) => fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const answer = await (await post(request)).json();
    await post({ ...request, id: 2, method: "pm_sponsorUserOperation", params: [operation, { mode: "SPONSORED" }] });
    await fetch(new URL("/health", url));
    document.querySelector("#request").textContent = JSON.stringify(request, null, 2);
    document.querySelector("#answer").textContent = JSON.stringify(answer, null, 2);
  }, url);
  // A preflight request, two calls and the check of its health.
  for (let tries = 0; log.filter((line) => line.includes("outcome=")).length < 4; tries += 1) {
    assert.ok(tries < 200, log.join("\n"));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const shown = log.filter((line) => line.includes("outcome="));
  await page.evaluate((text) => { document.querySelector("#log").textContent = text; }, shown.join("\n"));
  const height = await page.evaluate(() => document.querySelector("#log").getBoundingClientRect().bottom);
  await picture(page, "reference-server", { x: 0, y: 0, width: 1000, height: height + 20 });
}
