#!/bin/sh
# Tests the HTML pages of runs and of load tests, and web pages that call the reference server, in Debian's Chromium: run.sh [BINARY] [FOLDER-FOR-SCREENSHOTS]
# Needs node, npm, curl and chromium (CHROMIUM=/path to name another one); says so and fails when one is missing. SERVER=/path is the
# binary of the reference server, LOADTEST=/path that of the load generator.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
chromium=${CHROMIUM:-$(command -v chromium || true)}
if [ -z "$chromium" ]; then
  echo "error: chromium is missing: install it (Debian: apt-get install chromium), or set CHROMIUM" >&2
  exit 1
fi
for program in node npm curl; do
  if ! command -v "$program" >/dev/null; then
    echo "error: $program is missing: install it to run the browser tests" >&2
    exit 1
  fi
done
if [ $# -gt 0 ]; then
  binary=$(realpath "$1")
else
  (cd "$root" && cargo build --quiet -p paymaster-conformance)
  binary=$root/target/debug/paymaster-conformance
fi
if [ -n "${SERVER:-}" ]; then
  server=$(realpath "$SERVER")
else
  (cd "$root" && cargo build --quiet -p paymaster-reference-server)
  server=$root/target/debug/paymaster-reference-server
fi
if [ -n "${LOADTEST:-}" ]; then
  loadtest=$(realpath "$LOADTEST")
else
  (cd "$root" && cargo build --quiet -p paymaster-loadtest)
  loadtest=$root/target/debug/paymaster-loadtest
fi
pictures=$(realpath -m "${2:-$root/target/browser}")
cd "$here"
npm install --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error
CHROMIUM=$chromium BINARY=$binary SERVER=$server LOADTEST=$loadtest PICTURES=$pictures node --test-reporter=spec --test pages.test.mjs load.test.mjs cors.test.mjs || {
  echo "error: the browser tests failed; pictures are in $pictures" >&2
  exit 1
}
