// Starts the reference server and stops it again.
//
// Which server: `--server PATH`, else the environment's PAYMASTER_SERVER, else `cargo run` in this repository. Everything after
// `--` on the command line goes to the server too, as in `node paymaster-4.mjs -- --fault mode-member-missing`.
// With `--conformance PATH` (or PAYMASTER_CONFORMANCE) the clients talk to the server through that binary's `proxy`.

import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
// A cold `cargo run` builds the server first.
const START_TIMEOUT_MS = 15 * 60 * 1000;
const STOP_TIMEOUT_MS = 10 * 1000;

const { own, forServer } = commandLine(process.argv.slice(2));

/** What follows `--flag` on the command line, or the value of that environment variable. */
export function setting(flag, variable) {
  const at = own.indexOf(flag);
  if (at >= 0 && own[at + 1] === undefined) throw new Error(`${flag} wants a value`);
  return at >= 0 ? own[at + 1] : process.env[variable];
}

/** Whether `--flag` is on the command line. */
export function has(flag) {
  return own.includes(flag);
}

/** What follows `--` on the command line. */
export function argumentsForOthers() {
  return forServer;
}

/** The arguments that every script hands on to the ones it starts. */
export function allArguments() {
  return process.argv.slice(2);
}

/** Starts the server with these arguments; gives its URL and a function that stops it. */
export async function startServer(args = []) {
  const binary = setting("--server", "PAYMASTER_SERVER");
  const [command, first] = binary
    ? [resolve(binary), []]
    : ["cargo", ["run", "--quiet", "--locked", "-p", "paymaster-reference-server", "--"]];
  const all = [...first, "--listen", "127.0.0.1:0", "--log", "warn", ...args, ...forServer];
  return start("the reference server", command, all, /listening on (http:\S+)/);
}

/** Starts `command`, waits until it prints what `ready` matches, and gives the first group of that. */
export async function start(what, command, args, ready, options = {}) {
  const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"], ...options });
  let said = "";
  let stopping = false;
  const gone = new Promise((tell) => {
    child.once("error", (error) => tell(error.message));
    child.once("exit", (code, signal) => tell(`it ended with ${signal ?? code}`));
  });
  const found = new Promise((tell) => {
    const read = (data) => {
      said = (said + data).slice(-20_000);
      const match = ready.exec(said);
      if (match) tell(match[1]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
  });
  let timer;
  const late = new Promise((tell) => {
    timer = setTimeout(() => tell("it was not ready in time"), START_TIMEOUT_MS).unref();
  });
  const failed = (why) => {
    child.kill("SIGKILL");
    throw new Error(`${what} did not start (${command} ${args.join(" ")}): ${why}\n${said}`);
  };
  const url = await Promise.race([found, gone.then(failed), late.then(failed)]);
  clearTimeout(timer);
  // Of a wrapper script that ends by SIGTERM too, so that what it has started goes with it.
  const end = () => child.kill("SIGTERM");
  process.once("exit", end);
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    end();
    const patience = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await gone;
    clearTimeout(patience);
    process.removeListener("exit", end);
  };
  return { url, stop, said: () => said, child, gone };
}

function commandLine(args) {
  const at = args.indexOf("--");
  return at < 0 ? { own: args, forServer: [] } : { own: args.slice(0, at), forServer: args.slice(at + 1) };
}
