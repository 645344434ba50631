// The table of what was checked: one line a check, and an exit code that says whether all of them held.

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";

import { asked, refused } from "./network.mjs";

/** The file to which each table adds its lines for the table of everything, as JSON, if all.mjs wants one. */
const SUMMARY = process.env.PAYMASTER_INTEROP_SUMMARY;
const MARKS = { ok: "ok    ", failed: "FAILED", skipped: "-     " };

/** A line's `what` is a text, or a client and a version of EntryPoint: then the table of everything has this line too. */
export class Table {
  #rows = [];

  /** A table about one version of EntryPoint, or about none in particular. */
  constructor(title, entryPoint = "") {
    this.title = title;
    this.entryPoint = entryPoint;
  }

  /** A line that cannot be checked, with the reason. */
  skip(what, reason) {
    this.#rows.push({ what, state: "skipped", note: reason });
  }

  /** Runs `check`; what it throws is the reason why the line fails, what it returns is shown beside a line that holds. */
  async check(what, check) {
    try {
      this.#rows.push({ what, state: "ok", note: (await check()) ?? "" });
    } catch (error) {
      this.#rows.push({ what, state: "failed", note: words(error) });
    }
  }

  /** Prints the table; ends the process with 1 when a line failed. */
  finish() {
    if (refused.length > 0) {
      const note = `asked ${refused.join(", ")}`;
      this.#rows.push({ what: "no request leaves this machine", state: "failed", note });
    }
    const count = (state) => this.#rows.filter((row) => row.state === state).length;
    const catalogue = asked.catalogue > 0 ? `, error catalogue answered locally ${asked.catalogue} times` : "";
    const passed = `${count("ok")} of ${this.#rows.length - count("skipped")} passed`;
    console.log(this.title);
    printRows(this.#rows.map(({ what, ...row }) => ({ ...row, cells: [[what].flat().join(", EntryPoint ")] })));
    console.log(`  ${passed}${catalogue}\n`);
    if (SUMMARY) {
      const whole = { cells: [this.title, this.entryPoint], state: count("failed") > 0 ? "failed" : "ok", note: passed };
      const pairs = this.#rows.filter(({ what }) => Array.isArray(what)).map(({ what, ...row }) => ({ ...row, cells: what }));
      const others = this.#rows.filter(({ what, state }) => !Array.isArray(what) && state === "failed");
      const rows = [...pairs, ...others.map(({ what, ...row }) => ({ ...row, cells: [`${this.title}: ${what}`, ""] }))];
      for (const row of pairs.length > 0 ? rows : [whole]) appendFileSync(SUMMARY, `${JSON.stringify(row)}\n`);
    }
    process.exitCode = count("failed") > 0 ? 1 : 0;
  }
}

/** Prints lines with a mark, cells of equal width, and a note. */
export function printRows(rows) {
  const widths = rows[0].cells.map((_, column) => Math.max(...rows.map(({ cells }) => cells[column].length)));
  for (const { state, cells, note } of rows) {
    const padded = cells.map((cell, column) => cell.padEnd(widths[column]));
    console.log(`  ${MARKS[state]}  ${padded.join("  ")}  ${note}`.trimEnd());
  }
}

/** Expects `promise` to be rejected; gives what it was rejected with. */
export async function rejection(promise) {
  const settled = await promise.then(
    (value) => ({ value }),
    (error) => ({ error }),
  );
  if (!("error" in settled)) assert.fail(`expected an error, got ${show(settled.value)}`);
  return settled.error;
}

/** A value in a few words. */
export function show(value) {
  const text = typeof value === "string" ? value : String(JSON.stringify(value));
  return text.length > 100 ? `${text.slice(0, 90)}... (${text.length} characters)` : text;
}

function words(error) {
  const text = error instanceof Error ? error.message : (error?.message ?? show(error));
  return text.trim().split(/\s*\n\s*/).join(" | ").slice(0, 300);
}
