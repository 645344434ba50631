// Runs one of our commands in a folder of its own, and reads the report.

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const TIMEOUT_MS = 15 * 60 * 1000;

/** The exit code, what was printed, and the report if one was written; `profile` is the text of paymaster.toml. */
export async function reportOf(binary, args, profile) {
  const folder = mkdtempSync(join(tmpdir(), "paymaster-report-"));
  try {
    const path = join(folder, "report.json");
    if (profile) writeFileSync(join(folder, "paymaster.toml"), profile);
    // Not synchronously: the servers print, and wait for a reader when the pipe is full.
    const { code, said } = await new Promise((tell) => {
      const options = { cwd: folder, maxBuffer: Infinity, timeout: TIMEOUT_MS };
      execFile(resolve(binary), [...args, "-o", `json=${path}`], options, (error, stdout, stderr) =>
        tell({ code: error ? error.code : 0, said: `${stdout}${stderr}` }),
      );
    });
    return { code, said, report: existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
