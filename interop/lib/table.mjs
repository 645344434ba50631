// The table of what was checked: one line a check, and an exit code that says whether all of them held.

import assert from "node:assert/strict";

import { asked, refused } from "./network.mjs";

export class Table {
  #rows = [];

  constructor(title) {
    this.title = title;
  }

  /** Runs `check`; what it throws is the reason why the line fails, what it returns is shown beside a line that holds. */
  async check(what, check) {
    try {
      this.#rows.push({ what, note: (await check()) ?? "" });
    } catch (error) {
      this.#rows.push({ what, failed: true, note: words(error) });
    }
  }

  /** Prints the table; ends the process with 1 when a line failed. */
  finish() {
    if (refused.length > 0) {
      const note = `asked ${refused.join(", ")}`;
      this.#rows.push({ what: "no request leaves this machine", failed: true, note });
    }
    const width = Math.max(...this.#rows.map((row) => row.what.length));
    const failures = this.#rows.filter((row) => row.failed).length;
    const catalogue = asked.catalogue > 0 ? `, error catalogue answered locally ${asked.catalogue} times` : "";
    console.log(this.title);
    for (const row of this.#rows) {
      console.log(`  ${row.failed ? "FAILED" : "ok    "}  ${row.what.padEnd(width)}  ${row.note}`.trimEnd());
    }
    console.log(`  ${this.#rows.length - failures} of ${this.#rows.length} passed${catalogue}\n`);
    process.exitCode = failures > 0 ? 1 : 0;
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
