"""Load generators against the same server: how much load each makes, and what it costs to make it."""

import json
import re

from .kit import INSTALL_HINTS
from .process import Cost
from .table import Section, mebibytes, micros, times

LOCUST = "locust (FastHttpUser)"
SECONDS = 5
CONNECTIONS = 8


def loadtest(kit, url, *more):
    report = kit.folder / "load.json"
    command = [kit.loadtest, "run", url, "--users", CONNECTIONS, "--duration", f"{SECONDS}s", "--report", report, *more]
    cost = Cost([str(word) for word in command])
    return json.loads(report.read_text())["derived"]["all"]["requests"], cost


def loadtest_unjudged(kit, url):
    return loadtest(kit, url, "--judge", "none")


def wrk(kit, url):
    lua = "wrk.method = 'POST'\nwrk.headers['content-type'] = 'application/json'\nlocal bodies = {}\n"
    lua += f"for line in io.lines('{kit.requests}') do bodies[#bodies + 1] = line end\nlocal n = 0\n"
    lua += "request = function() n = n + 1 return wrk.format(nil, nil, nil, bodies[n % #bodies + 1]) end\n"
    script = kit.file("post.lua", lua)
    cost = Cost([kit.tool("wrk"), "-t2", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", str(script), url])
    return int(re.search(r"(\d+) requests in", cost.said).group(1)), cost


def oha(kit, url):
    body = kit.requests.read_text().splitlines()[2]
    fixed = ["--no-tui", "--output-format", "json", "-m", "POST", "-T", "application/json", "-d", body]
    cost = Cost([kit.tool("oha"), "-z", f"{SECONDS}s", "-c", str(CONNECTIONS), *fixed, url])
    answers = json.loads(cost.said[cost.said.index("{") :])["statusCodeDistribution"]
    return sum(answers.values()), cost


def k6(kit, url):
    bodies = json.dumps(kit.requests.read_text().splitlines())
    script = f"""import http from 'k6/http';
const bodies = {bodies};
export const options = {{ vus: {CONNECTIONS}, duration: '{SECONDS}s' }};
export default function () {{
  http.post('{url}', bodies[__ITER % bodies.length], {{ headers: {{ 'content-type': 'application/json' }} }});
}}
"""
    summary = kit.folder / "k6.json"
    cost = Cost([kit.tool("k6"), "run", "--quiet", "--summary-export", str(summary), str(kit.file("k6.js", script))])
    return json.loads(summary.read_text())["metrics"]["http_reqs"]["count"], cost


def locust(kit, url):
    script = f"""from itertools import cycle
from locust import FastHttpUser, task
BODIES = cycle(open({str(kit.requests)!r}).read().splitlines())
class Caller(FastHttpUser):
    @task
    def call(self):
        self.client.post('/', data=next(BODIES), headers={{'content-type': 'application/json'}})
"""
    file, prefix = kit.file("locustfile.py", script), kit.folder / "locust"
    fixed = ["--headless", "--only-summary", "-u", str(CONNECTIONS), "-r", str(CONNECTIONS), "--csv", str(prefix)]
    cost = Cost([kit.tool("locust"), "-f", str(file), *fixed, "-t", f"{SECONDS}s", "--host", url.rstrip("/")])
    rows = (kit.folder / "locust_stats.csv").read_text().splitlines()
    return int(rows[-1].split(",")[2]), cost


GENERATORS = [
    ("paymaster-loadtest, every answer judged", None, loadtest),
    ("paymaster-loadtest, answers not judged", None, loadtest_unjudged),
    ("wrk", "wrk", wrk),
    ("oha", "oha", oha),
    ("k6", "k6", k6),
    (LOCUST, "locust", locust),
]


def section(kit):
    head = ["generator", "requests/s", "times locust's", "generator CPU a request", "times wrk's", "peak memory"]
    about = f"{CONNECTIONS} connections for {SECONDS} s against one reference server, signing off."
    table = Section("Load generators", head, about + " The first one alone looks into the answers.")
    measured = {}
    with kit.server() as server:
        for name, tool, generate in GENERATORS:
            if tool and not kit.tool(tool):
                continue
            try:
                measured[name] = generate(kit, server.url)
            except (RuntimeError, OSError, KeyError, ValueError) as cause:
                measured[name] = cause
    rates = {name: of[0] / SECONDS for name, of in measured.items() if isinstance(of, tuple)}
    slowest = rates.get(LOCUST)
    of_wrk = cpu_a_request(measured["wrk"]) if isinstance(measured.get("wrk"), tuple) else None
    for name, tool, _ in GENERATORS:
        if name not in measured:
            table.missing(name, f"not installed ({INSTALL_HINTS[tool]})")
        elif isinstance(measured[name], Exception):
            table.missing(name, str(measured[name]).strip().splitlines()[0][:120])
        else:
            cpu = cpu_a_request(measured[name])
            ratio = times(rates[name] / slowest) if slowest else "-"
            share = times(cpu / of_wrk) if of_wrk else "-"
            table.row(name, f"{rates[name]:,.0f}", ratio, micros(cpu), share, mebibytes(measured[name][1].memory))
    return table


def cpu_a_request(measured):
    requests, cost = measured
    return cost.cpu / max(requests, 1)
