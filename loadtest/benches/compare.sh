#!/bin/sh
# Compares load generators in one run on one machine: requests per second and CPU time per request against the same
# minimal server, as ratios in Markdown. On shared machines request rates vary more than CPU time per request, so both are shown.
#
#   loadtest/benches/compare.sh [SECONDS]
#
# Measures wrk, oha, k6 and locust if they are in the PATH (`benches/compare/run.py --install` has all of them). LOADTEST and SERVER name
# other binaries of this project.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-10}
users=64
work=$(mktemp -d)
if [ -z "${LOADTEST:-}" ]; then
    cargo build --release -q -p paymaster-loadtest --bins --examples
fi
loadtest=${LOADTEST:-target/release/paymaster-loadtest}
server=${SERVER:-target/release/examples/bare_server}
# One core for the server and one for the generator, if there are two cores and taskset is installed.
pin_server='' pin_client=''
if command -v taskset >/dev/null && [ "$(nproc)" -ge 2 ]; then
    pin_server='taskset -c 0' pin_client='taskset -c 1'
fi
$pin_server "$server" >"$work/url" &
serving=$!
trap 'kill $serving 2>/dev/null; rm -rf "$work"' EXIT INT TERM
while [ ! -s "$work/url" ]; do sleep 0.1; done
url=$(cat "$work/url")
body='{"jsonrpc":"2.0","id":1,"method":"pm_sponsorUserOperation","params":[{"sender":"0xd85809168c56B17aEf86c51D9a914fE1FfB834b6","nonce":"406","initCode":"0x","callData":"0xa96ae483d8193022e4376506c8c3b6c1567a69f07125ed2da7d802f955eb08feea4b180e9eab738d5c374924211db32f70a515b0535f66b1ce837f1ba160f4031ebf99d0368f6e4","callGasLimit":"90000","verificationGasLimit":"150000","preVerificationGas":"50000","maxFeePerGas":"1500000000","maxPriorityFeePerGas":"1000000"},{"mode":"SPONSORED","calculateGasLimits":true,"expiryDuration":300,"sponsorshipInfo":{"webhookData":{},"smartAccountInfo":{"name":"BICONOMY","version":"2.0.0"}}}]}'
printf '%s' "$body" >"$work/body.json"

# Runs a generator, and appends its name, requests a second and CPU microseconds a request to the table. $1 name, $2 a sed script that
# finds the requests a second in the output, the rest the command.
measure() {
    name=$1 find=$2
    shift 2
    before=$(cut -d' ' -f16,17 /proc/$$/stat)
    "$@" >"$work/out" 2>&1 || true
    after=$(cut -d' ' -f16,17 /proc/$$/stat)
    rate=$(sed -nE "$find" "$work/out" | head -1)
    if [ -z "$rate" ]; then
        echo "$name: no rate found in its output:" >&2
        tail -5 "$work/out" >&2
        return
    fi
    echo "$name|$rate|$before $after" >>"$work/table"
}

ours() {
    $pin_client "$loadtest" "$url" --config "$work/profile.toml" -s sponsor-sponsored --users $users --duration "${seconds}s" --judge "$1" -o "$work/ours.json"
}
cat >"$work/profile.toml" <<'TOML'
[operations]
accepts = "any"
sponsors = "any"
TOML
ours_rate='s/.*requests in .*: ([0-9 ]+)\/s .*/\1/p'

cat >"$work/post.lua" <<LUA
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local file = io.open("$work/body.json")
wrk.body = file:read("*a")
LUA
command -v wrk >/dev/null || echo "wrk is not installed: not measured" >&2
# Alternating, because the noise of the machine is larger than the cost of judging.
for _ in 1 2 3; do
    if command -v wrk >/dev/null; then
        measure wrk 's/^Requests\/sec: *([0-9.]+).*/\1/p' $pin_client wrk -t1 -c$users -d"${seconds}s" -s "$work/post.lua" "$url"
    fi
    measure 'ours, every answer judged' "$ours_rate" ours all
    measure 'ours, 10 % judged' "$ours_rate" ours 10%
    measure 'ours, none judged' "$ours_rate" ours none
done
if command -v oha >/dev/null; then
    measure oha 's/.*Requests\/sec:\s*([0-9.]+).*/\1/p' $pin_client oha --no-tui -c $users -z "${seconds}s" -m POST -T application/json -D "$work/body.json" "$url"
else
    echo "oha is not installed: not measured" >&2
fi
if command -v k6 >/dev/null; then
    cat >"$work/k6.js" <<JS
import http from 'k6/http';
import { check } from 'k6';
const body = open('$work/body.json');
export const options = { vus: $users, duration: '${seconds}s' };
export default function () {
  const answer = http.post('$url', body, { headers: { 'Content-Type': 'application/json' } });
  check(answer, { result: (a) => a.json().id === 1 && a.json().result.paymasterAndData.startsWith('0x') });
}
JS
    measure 'k6, with a check' 's/.*http_reqs.*: [0-9]+ +([0-9.]+)\/s.*/\1/p' $pin_client k6 run --quiet "$work/k6.js"
else
    echo "k6 is not installed: not measured" >&2
fi
if command -v locust >/dev/null; then
    cat >"$work/locustfile.py" <<PY
from locust import FastHttpUser, task
BODY = open("$work/body.json").read()
class Wallet(FastHttpUser):
    @task
    def sponsor(self):
        with self.client.post("/", data=BODY, headers={"Content-Type": "application/json"}, catch_response=True) as answer:
            told = answer.json()
            if told["id"] != 1 or not told["result"]["paymasterAndData"].startswith("0x"):
                answer.failure("wrong")
PY
    measure 'locust, with a check' 's/^ +Aggregated +[0-9]+ +[0-9]+\([^)]*\) +\|.*\| +([0-9.]+) +[0-9.]+ *$/\1/p' \
        $pin_client locust -f "$work/locustfile.py" --headless --only-summary -u $users -r $users -t "${seconds}s" -H "${url%/}"
else
    echo "locust is not installed: not measured" >&2
fi

echo "against a bare hyper server, $users connections, ${seconds} s each:"
echo
awk -F'|' -v seconds="$seconds" '
    {
        gsub(/ /, "", $2); split($3, t, " ")
        if (!($1 in cpu)) names[++count] = $1
        # Of several rounds, the one that was disturbed least.
        used = (t[3] + t[4] - t[1] - t[2]) * 10000 / ($2 * seconds)
        if (!($1 in cpu) || used < cpu[$1]) { cpu[$1] = used; rate[$1] = $2 }
    }
    END {
        print "| | requests/s | CPU us a request | of wrk'"'"'s CPU |\n|---|---:|---:|---:|"
        for (n = 1; n <= count; n++) {
            name = names[n]
            of_wrk = "wrk" in cpu ? sprintf("%.2f", cpu[name] / cpu["wrk"]) : "n/a"
            printf "| %s | %.0f | %.1f | %s |\n", name, rate[name], cpu[name], of_wrk
        }
        all = cpu["ours, every answer judged"]
        if (all) printf "\nCPU of a request to that with every answer judged: none judged %.2f, 10 %% judged %.2f\n", cpu["ours, none judged"] / all, cpu["ours, 10 % judged"] / all
    }' "$work/table"
