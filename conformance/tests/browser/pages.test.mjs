// The pages in a real browser: filters, links, copying, accessibility, and that nothing of a target becomes markup.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import axe from "axe-core";
import { chromium } from "playwright-core";
import { EVIL, start } from "./target.mjs";

const { BINARY: binary, PICTURES: pictures } = process.env;
const run = promisify(execFile);
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 360, height: 740 };

let target, server, folder, browser, report, pages;

before(async () => {
  target = await start();
  folder = await mkdtemp(join(tmpdir(), "paymaster-pages-"));
  await mkdir(pictures, { recursive: true });
  await judge([target.url, "--report", "html=broken.html", "--report", "json=broken.json", "--report", "har=broken.har"], 1);
  await judge(["--report", "html=good.html", "--report", "json=good.json"], 0);
  await judge(["matrix", "good.json", "broken.json", "-o", "matrix.html"], 0);
  await judge(["compare", "good.json", "broken.json", "-o", "compare.html"], 1);
  const faults = ["fee-decimal-string", "id-empty-refused", "content-type-plain", "token-error-parse-error", "mode-member-missing"];
  server = spawn(process.env.SERVER, ["--listen", "127.0.0.1:0", ...faults.flatMap((fault) => ["--fault", fault])], { stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface({ input: server.stdout })) {
    const url = line.match(/http:\/\/127\.0\.0\.1:\d+/);
    if (!url) continue;
    await judge([`${url[0]}/`, "--cases", "250", "--report", "html=few.html"], 1);
    break;
  }
  report = JSON.parse(await readFile(join(folder, "broken.json"), "utf8"));
  pages = Object.fromEntries(["broken", "good", "matrix", "compare", "few"].map((name) => [name, pathToFileURL(join(folder, `${name}.html`)).href]));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
});

after(async () => {
  await browser?.close();
  target?.stop();
  server?.kill();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function judge(args, expected) {
  const all = ["matrix", "compare"].includes(args[0]) || args.includes("--cases") ? args : [...args, "--cases", "40"];
  const code = await run(binary, all, { cwd: folder, env: { PATH: process.env.PATH, PAYMASTER_SPEC: "fee-quote" } }).then(() => 0, (cause) => cause.code);
  assert.equal(code, expected, `${binary} ${all.join(" ")}`);
}

/** Opens a page; what it must not do is collected in `faults`. */
async function open(url, options = {}) {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) faults.push(message.text()); });
  page.on("pageerror", (cause) => faults.push(String(cause)));
  page.on("request", (request) => { if (!request.url().startsWith("file:")) faults.push(`asked for ${request.url()}`); });
  page.on("dialog", (dialog) => { faults.push("a dialog"); dialog.dismiss(); });
  await page.goto(url);
  page.done = async () => {
    assert.deepEqual(faults, []);
    await context.close();
  };
  return page;
}

const shown = (page) => page.locator(".rule:visible");
const chip = (page, value) => page.locator(`button[data-value="${value}"]`);

test("the verdict and the counts stand on top and are those of the JSON report", async () => {
  const page = await open(pages.broken);
  assert.equal(await page.locator("h1 .word").innerText(), "VIOLATIONS");
  const broken = report.rules.filter((rule) => ["failed", "flaky"].includes(rule.verdict) && rule.basis === "stated");
  assert.ok(broken.length > 3, "the target is wrong in many ways");
  assert.equal(await page.locator('.count[data-state="broken"] b').innerText(), String(broken.length));
  assert.equal(await page.locator('.rule[data-state="broken"]').count(), broken.length);
  assert.equal(await page.locator(".rule").count(), report.rules.length);
  const linked = await page.locator(".defect .breaks a").evaluateAll((links) => links.map((link) => link.hash.slice(1)));
  for (const rule of broken) assert.ok(linked.includes(rule.id), `${rule.id} is at no defect`);
  await page.done();
});

test("filters show what they say, together and alone", async () => {
  const page = await open(pages.broken);
  const all = await page.locator(".rule").count();
  assert.ok(await shown(page).count() < all, "what passed is folded");
  await chip(page, "broken").click();
  const broken = await page.locator('.rule[data-state="broken"]').count();
  assert.equal(await shown(page).count(), broken);
  assert.equal(await page.locator("#shown").innerText(), `${broken} of ${all} shown`);
  await chip(page, "json-rpc").click();
  assert.equal(await shown(page).count(), 0);
  assert.ok(await page.locator(".nothing").isVisible());
  await page.locator("#clear").click();
  assert.ok(await shown(page).count() < all, "what passed is folded again");
  await chip(page, "json-rpc").click();
  assert.equal(await shown(page).count(), await page.locator('.rule[data-basis="json-rpc"]').count());
  await chip(page, "json-rpc").click();
  await page.locator("#search").fill("preVerificationGas SPONSORED-result");
  const found = await shown(page).evaluateAll((rules) => rules.map((rule) => rule.id));
  assert.ok(found.includes("sponsored-result.preVerificationGas") && !found.includes("fee-quote.symbol"), found.join());
  assert.ok(await page.locator(".part:visible").count() < await page.locator(".part").count(), "empty sections are gone");
  await page.locator("#search").fill("");
  await page.locator("#unfold").click();
  assert.equal(await page.locator(".rule[open]").count(), all);
  await page.locator("#unfold").click();
  assert.equal(await page.locator(".rule[open]").count(), 0);
  await page.done();
});

test("every link leads somewhere, and a link to a rule opens it", async () => {
  for (const name of ["broken", "good", "matrix", "compare"]) {
    const page = await open(pages[name]);
    const lost = await page.locator("a[href]").evaluateAll((links) =>
      links.map((link) => link.getAttribute("href")).filter((href) => !href.startsWith("#") || !document.getElementById(href.slice(1))));
    assert.deepEqual(lost, [], name);
    const ids = await page.locator("[id]").evaluateAll((all) => all.map((one) => one.id));
    assert.equal(new Set(ids).size, ids.length, `${name}: an id stands twice`);
    await page.done();
  }
  const closed = report.rules.find((rule) => rule.verdict === "passed").id;
  const page = await open(`${pages.broken}#${closed}`);
  const rule = page.locator(`[id="${closed}"]`);
  assert.ok(await rule.evaluate((rule) => rule.open));
  await chip(page, "broken").click();
  assert.ok(!await rule.isVisible());
  await page.evaluate((id) => { location.hash = ""; location.hash = id; }, closed);
  await rule.waitFor({ state: "visible" });
  await page.locator(".defect .breaks a").first().click();
  assert.ok(await page.locator(".rule:target").evaluate((rule) => rule.open));
  await page.locator(".rule:target .defect-link a").first().click();
  assert.equal(await page.locator(".defect:target").count(), 1, "and back to the defect");
  await page.done();
});

test("the copied line is the whole line, and it works", async () => {
  const page = await open(pages.broken);
  const button = page.locator('.copy[data-copy^="curl-"]').first();
  await button.click();
  await page.waitForFunction((button) => button.textContent.startsWith("Copied"), await button.elementHandle());
  const line = await page.evaluate(() => navigator.clipboard.readText());
  const id = await button.getAttribute("data-copy");
  assert.equal(line, await page.locator(`[id="${id}"]`).textContent());
  const asked = target.asked();
  const { stdout } = await run("sh", ["-c", line]);
  assert.equal(target.asked(), asked + 1);
  assert.equal(JSON.parse(stdout).jsonrpc, "2.0");
  await page.done();
});

/** The exchange of a defect's first finding, or of one that is folded below it, whose answer has this mark. */
async function marked(page, text) {
  const mark = page.locator("figure + figure mark", { hasText: text }).first();
  await mark.evaluate((mark) => {
    for (let outer = mark.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
  });
  return mark;
}

test("what is wrong is marked in the answer, beside the request", async () => {
  const page = await open(pages.broken);
  const mark = await marked(page, '"preVerificationGas": 50000');
  assert.equal(await mark.innerText(), '"preVerificationGas": 50000');
  await page.waitForFunction((mark) => {
    const [outer, inner] = [mark.closest("pre").getBoundingClientRect(), mark.getBoundingClientRect()];
    return inner.top >= outer.top && inner.bottom <= outer.bottom;
  }, await mark.elementHandle());
  const missing = await marked(page, '"callGasLimit" is missing');
  assert.equal(await missing.innerText(), '"callGasLimit" is missing');
  const figures = page.locator(".exchange", { has: mark }).first().locator("figure");
  const [request, answer] = await Promise.all([0, 1].map((place) => figures.nth(place).boundingBox()));
  assert.ok(Math.abs(request.y - answer.y) < 2 && answer.x > request.x, "side by side where there is room");
  await page.setViewportSize(NARROW);
  const [above, below] = await Promise.all([0, 1].map((place) => figures.nth(place).boundingBox()));
  assert.ok(below.y > above.y && Math.abs(below.x - above.x) < 2, "one above the other where there is none");
  await page.done();
});

test("nothing that a target says becomes markup", async () => {
  for (const name of ["broken", "matrix", "compare"]) {
    const page = await open(pages[name]);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("img, iframe, link, body b b").count(), 0);
    await page.done();
  }
  const page = await open(pages.broken);
  assert.ok((await page.locator("main").textContent()).includes(EVIL), "it is there as text");
  // And if it did: the policy of the page lets no script in but ours.
  const context = await browser.newContext();
  const other = await context.newPage();
  await other.goto(pages.broken);
  await other.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.hacked = 1";
    document.body.append(script);
  });
  assert.equal(await other.evaluate(() => window.hacked), undefined);
  await context.close();
  await page.done();
});

test("without scripts everything can be read", async () => {
  const page = await open(pages.broken, { javaScriptEnabled: false });
  assert.ok(!await page.locator(".filters").isVisible());
  assert.ok(!await page.locator(".copy").first().isVisible());
  assert.ok(await page.locator(".defect .exchange").first().isVisible());
  await page.done();
});

const SHAPES = [
  { colorScheme: "light", size: "wide", viewport: WIDE },
  { colorScheme: "dark", size: "wide", viewport: WIDE },
  { colorScheme: "light", size: "narrow", viewport: NARROW },
  { colorScheme: "dark", size: "narrow", viewport: NARROW },
  { colorScheme: "light", size: "420", viewport: { width: 420, height: 900 } },
];

// Two at a time: each page is drawn by a process of its own.
describe("accessible and in shape", { concurrency: 2 }, () => {
  for (const name of ["broken", "few", "good", "matrix", "compare"]) {
    for (const { colorScheme, size, viewport } of SHAPES) {
      test(`${name}, ${colorScheme}, ${size}`, async () => {
        const page = await open(pages[name], { colorScheme, viewport });
        await page.screenshot({ path: join(pictures, `${name}-${colorScheme}-${size}.png`) });
        const broken = await page.evaluate(() => [...document.querySelectorAll(".rule .id, .rule-id, .those a")].filter((id) => {
          const words = document.createRange();
          return [...id.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).some((node) => {
            // A part of an id may break after a hyphen.
            const parts = [...node.data.matchAll(/[^-]+/g)];
            return parts.some(({ index, 0: part }) => {
              words.setStart(node, index);
              words.setEnd(node, index + part.length);
              return words.getClientRects().length > 1;
            });
          });
        }).map((id) => id.textContent));
        assert.deepEqual(broken, [], "an id breaks in a word");
        const tooWide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(await tooWide() <= 0, "the page is too wide");
        await page.evaluate(axe.source);
        // With everything open that folds, and once as it is. What axe finds depends on the colours, or on the width.
        const isFirst = colorScheme === "light" && size === "wide";
        const asItIs = isFirst ? await page.evaluate(() => window.axe.run()) : { violations: [] };
        const folds = await page.locator("details:not([open])").elementHandles();
        for (const fold of folds) await fold.evaluate((fold) => { fold.open = true; });
        const opened = size === "narrow" ? { violations: [] } : await page.evaluate(() => window.axe.run());
        for (const fold of folds) await fold.evaluate((fold) => { fold.open = false; });
        const told = [...asItIs.violations, ...opened.violations].map(({ id, impact, help, nodes }) => `${impact}, ${id}: ${help}: ${nodes.slice(0, 3).map(({ html }) => html).join(" ")}`);
        assert.deepEqual(told, []);
        if (name === "broken") {
          await page.locator(".defect").first().screenshot({ path: join(pictures, `finding-${colorScheme}-${size}.png`) });
          await page.locator("#rules").screenshot({ path: join(pictures, `rules-${colorScheme}-${size}.png`) });
          await page.locator("#unfold").click();
          assert.ok(await tooWide() <= 0, "with all open, the page is too wide");
        }
        await page.done();
      });
    }
  }
});

test("a page of two defects and three warnings is short, and its titles have two lines in a narrow window", async () => {
  for (const [viewport, longest] of [[WIDE, 3200], [{ width: 420, height: 900 }, 5500]]) {
    const page = await open(pages.few, { viewport });
    assert.deepEqual(await page.locator(".defect .number").allInnerTexts(), ["Defect 1", "Defect 2", "Warning 1", "Warning 2", "Warning 3"]);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(height < longest, `${height} of ${longest}`);
    const lines = await page.locator(".defect .said").evaluateAll((all) => all.map((said) => said.clientHeight / parseFloat(getComputedStyle(said).lineHeight)));
    assert.ok(lines.every((count) => count < 2.1), lines.join());
    const warning = page.locator("#warning-1");
    assert.ok(!await warning.locator(".exchange").first().isVisible());
    await warning.locator("summary").first().click();
    assert.ok(await warning.locator(".exchange").first().isVisible());
    await page.done();
  }
});

test("the matrix shows where the implementations differ, and everything on a click or without scripts", async () => {
  const page = await open(pages.matrix);
  const rows = page.locator(".matrix .row");
  const differing = await page.locator(".matrix .row.differs").count();
  assert.ok(differing > 3 && differing < await rows.count());
  const shown = page.locator(".matrix .row:visible");
  assert.equal(await shown.count(), differing);
  await page.locator("#differences").click();
  assert.equal(await shown.count(), await rows.count());
  await page.locator("#differences").click();
  assert.equal(await shown.count(), differing);
  const alike = await page.locator(".matrix .row:not(.differs)").first().getAttribute("id");
  await page.done();
  const linked = await open(`${pages.matrix}#${alike}`);
  assert.ok(await linked.locator(`[id="${alike}"]`).isVisible());
  await linked.done();
  const plain = await open(pages.matrix, { javaScriptEnabled: false });
  assert.equal(await plain.locator(".matrix .row:visible").count(), await plain.locator(".matrix .row").count());
  assert.match(await plain.locator('[id="answer.id"] th').innerText(), /An answer has the/);
  await plain.done();
});

test("a browser's tools read the HAR: it answers in the target's place", async () => {
  const file = join(folder, "broken.har");
  const har = JSON.parse(await readFile(file, "utf8"));
  const entry = har.log.entries.find((entry) => entry.response.status === 200);
  const context = await browser.newContext();
  const origin = new URL(target.url).origin;
  await context.routeFromHAR(file, { url: target.url, notFound: "abort" });
  await context.route(`${origin}/blank`, (route) => route.fulfill({ contentType: "text/html", body: "<p>blank</p>" }));
  const page = await context.newPage();
  await page.goto(`${origin}/blank`);
  const asked = target.asked();
  const answer = await page.evaluate(
    ([url, body]) => fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } }).then((response) => response.text()),
    [target.url, entry.request.postData.text],
  );
  assert.equal(answer, entry.response.content.text);
  assert.equal(target.asked(), asked, "the target itself was not asked");
  await context.close();
});
