// The report of a load test in a real browser: labels that can be read at any width, nothing cut, and one time axis.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import axe from "axe-core";
import { chromium } from "playwright-core";

const { LOADTEST: binary, PICTURES: pictures } = process.env;
const run = promisify(execFile);
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
/** Smaller text cannot be read on a phone, in CSS pixels. */
const SMALLEST = 11;

let folder, browser;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "paymaster-load-"));
  await mkdir(pictures, { recursive: true });
  const all = ["--rate", "40", "--users", "8", "--arrivals", "poisson", "-d", "4s", "-t", "p95<20s"];
  await load([...all, "-o", "good.json"], 0);
  await load([...all, "--fault", "fee-decimal-string", "--compare", "good.json", "-o", "broken.html"], 1);
  await load([...all, "-o", "good.html"], 0);
  // Four seconds are too few to decide.
  await load(["compare", "good.json", "good.json", "-o", "compared.html"], 4);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
});

after(async () => {
  await browser?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Loads the embedded reference server. */
async function load(args, expected) {
  const code = await run(binary, args, { cwd: folder, env: { PATH: process.env.PATH } }).then(() => 0, (cause) => cause.code);
  assert.equal(code, expected, `${binary} ${args.join(" ")}`);
}

/** The boxes of all labels of the plots, each with its text, its size and its plot. */
function labels(page) {
  return page.locator(".axes text").evaluateAll((texts) => texts.map((text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    const figure = text.closest("figure");
    const outer = figure.getBoundingClientRect();
    const axis = text.parentElement.getAttribute("class");
    return { left, right, top, bottom, axis, plot: figure.querySelector(".title").textContent, text: text.textContent,
      size: parseFloat(getComputedStyle(text).fontSize), inside: left >= outer.left && right <= outer.right && bottom <= outer.bottom };
  }));
}

/** The plots of a report of one run. */
const PLOTS = ["Arrivals and answers a second", "Latency over time", "Latency by percentile"];

// Two at a time: each page is drawn by a process of its own.
describe("readable and in shape", { concurrency: 2 }, () => {
  for (const name of ["good", "broken", "compared"]) {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1280, 420, 400, 360]) {
        test(`${name}, ${colorScheme}, ${width} px`, async () => {
          const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
          const page = await context.newPage();
          const faults = [];
          page.on("console", (message) => { if (["error", "warning"].includes(message.type())) faults.push(message.text()); });
          page.on("pageerror", (cause) => faults.push(String(cause)));
          await page.goto(pathToFileURL(join(folder, `${name}.html`)).href);
          await page.screenshot({ path: join(pictures, `load-${name}-${colorScheme}-${width}.png`), fullPage: true });
          assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0, "the page is too wide");
          if (width === 1280) {
            const cut = await page.locator(".scroll").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
            assert.equal(cut, 0, "a table is cut");
          }
          const all = await labels(page);
          assert.deepEqual([...new Set(all.map(({ plot }) => plot))], name === "compared" ? [] : PLOTS);
          for (const label of all) {
            assert.ok(label.size >= SMALLEST && label.inside && label.text.trim(), JSON.stringify(label));
            const others = all.filter((other) => other !== label && other.plot === label.plot && other.axis === label.axis);
            const hit = others.find((other) => other.left < label.right && label.left < other.right && other.top < label.bottom && label.top < other.bottom);
            assert.equal(hit, undefined, `${label.text} covers ${hit?.text}`);
          }
          // Units: a rate, a time or a percentile.
          for (const { text, axis } of all) {
            const unit = { x: /^(\d+ (s|min|h)|p\d+(\.\d+)?)$/, y: /^\S+ ?(\/s|us|ms|s)$/ }[axis];
            assert.match(text, unit);
          }
          const axis = (title) => all.filter(({ plot, axis }) => plot === title && axis === "x").map(({ text, left }) => `${text} ${Math.round(left)}`);
          assert.deepEqual(axis("Latency over time"), axis("Arrivals and answers a second"), "the same time axis");
          await page.evaluate(axe.source);
          // With everything open that folds, and once as it is.
          const isFirst = colorScheme === "light" && width === 1280;
          const asItIs = isFirst ? await page.evaluate(() => window.axe.run()) : { violations: [] };
          await page.evaluate(() => { for (const fold of document.querySelectorAll("details")) fold.open = true; });
          assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0, "with all open, the page is too wide");
          // What axe finds depends on the colours, or on the width.
          const withAxe = width === 1280 || colorScheme === "light" && width === 420;
          const opened = withAxe ? await page.evaluate(() => window.axe.run()) : { violations: [] };
          const told = [...asItIs.violations, ...opened.violations].map(({ id, impact, help, nodes }) => `${impact}, ${id}: ${help}: ${nodes.slice(0, 3).map(({ html }) => html).join(" ")}`);
          assert.deepEqual(told, []);
          assert.deepEqual(faults, []);
          await context.close();
        });
      }
    }
  }
});

test("date, command and verdict stand above the figures, and a defect has at most three examples", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(folder, "broken.html")).href);
  assert.match(await page.locator(".tool").innerText(), /, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  assert.match(await page.locator(".facts").innerText(), /command\s+paymaster-loadtest --rate 40/);
  assert.equal(await page.locator(".defect").count(), 1, "one defect");
  const examples = await page.locator(".defect .exchange").count();
  assert.ok(examples >= 2 && examples <= 3, `${examples} examples`);
  assert.match(await page.locator(".exchange figure + figure mark").first().innerText(), /^"decimal": "\d+"$/);
  assert.match(await page.locator("#curl-1").innerText(), /^curl -sS "\$PAYMASTER_URL" .* --data-raw '\{/);
  await page.setViewportSize({ width: 420, height: 900 });
  const lines = await page.locator(".said").evaluate((said) => said.clientHeight / parseFloat(getComputedStyle(said).lineHeight));
  assert.ok(lines < 2.1, `a headline of ${lines} lines`);
  await page.goto(pathToFileURL(join(folder, "good.html")).href);
  assert.match(await page.locator("h1").innerText(), /PASSED\s+every answer was right\s+http:/);
  await context.close();
});

test("the values of a plot are shown at the pointer and by the arrow keys, and stand in the table behind it", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(folder, "good.html")).href);
  const plot = page.locator(".plot").first();
  const rows = await plot.locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.equal(rows.length, 4, "a row for each second");
  const names = await plot.locator(".key").allInnerTexts();
  const told = ([time, ...values]) => [time, ...values.map((value, line) => `${names[line]}: ${value}`)].join(" · ");
  const drawing = plot.locator(".drawing");
  const { width, height } = await drawing.boundingBox();
  await drawing.hover({ position: { x: width * 0.6, y: height / 2 } });
  assert.equal(await plot.locator(".values").innerText(), told(rows[2]));
  await drawing.focus();
  for (const [key, row] of [["Home", 0], ["ArrowLeft", 0], ["ArrowRight", 1], ["End", 3], ["ArrowRight", 3]]) {
    await page.keyboard.press(key);
    assert.equal(await plot.locator(".values").innerText(), told(rows[row]), key);
  }
  assert.equal(await plot.locator("tbody").isVisible(), false);
  await plot.locator("summary").click();
  assert.ok(await plot.locator("tbody").isVisible());
  await context.close();
});

test("lines that lie on each other differ in more than their colour", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(folder, "broken.html")).href);
  for (const plot of await page.locator(".plot").all()) {
    const dashes = await plot.locator("polyline").evaluateAll((all) => all.map((line) => getComputedStyle(line).strokeDasharray));
    assert.equal(new Set(dashes).size, dashes.length, dashes.join("; "));
    const keys = await plot.locator(".key").evaluateAll((all) => all.map((key) => getComputedStyle(key, "::before").borderTopStyle));
    assert.equal(new Set(keys).size, keys.length, keys.join());
  }
  await context.close();
});
