"""A real Prometheus scrapes load tests. At their end its numbers are those of the JSON reports, and every query of the dashboard has a
result. `.ci/prometheus` runs it."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARIES = pathlib.Path(os.environ.get("PAYMASTER_BINARIES", ROOT / "target" / "debug"))
PROMETHEUS = os.environ.get("PROMETHEUS", "prometheus")
DASHBOARD = ROOT / "docs" / "grafana-dashboard.json"
# A limit for everything that is waited for. The machine may be slow.
PATIENCE = 60
# How far back a query looks: the targets are gone when it is asked.
WINDOW = "[1h]"
# Wrong answers, late arrivals and a few users: so no panel is empty.
RUNS = {
    # Long enough for several scrapes after Prometheus has started: rates need two.
    "closed": ["--users", "3", "--duration", "12s", "--warm-up", "500ms"],
    "open": ["--users", "2", "--duration", "12s", "--rate", "150", "--arrivals", "poisson"],
}


class Started:
    """A process whose lines can be waited for."""

    def __init__(self, folder, name, *command):
        self.path = folder / f"{name}.log"
        with open(self.path, "wb") as log:
            self.process = subprocess.Popen([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    def output(self):
        return self.path.read_text(errors="replace")

    def expect(self, pattern):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.search(pattern, self.output())
            if found:
                return found.group(1)
            if self.process.poll() is not None and not re.search(pattern, self.output()):
                break
            time.sleep(0.05)
        raise SystemExit(f"no `{pattern}` in:\n{self.output()}")

    def wait(self):
        return self.process.wait(PATIENCE)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Prometheus:
    def __init__(self, folder, targets):
        jobs = [{"job_name": name, "static_configs": [{"targets": [address]}]} for name, address in targets.items()]
        # JSON is YAML.
        config = {"global": {"scrape_interval": "500ms", "scrape_timeout": "500ms"}, "scrape_configs": jobs}
        (folder / "prometheus.yml").write_text(json.dumps(config))
        self.server = Started(folder, "prometheus", PROMETHEUS, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
                              "--web.listen-address=127.0.0.1:0", "--query.lookback-delta=1h")
        self.url = "http://" + self.server.expect(r'msg="Listening on" address=(127\.0\.0\.1:\d+)')

    def call(self, path, **arguments):
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(arguments)}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as cause:
            raise SystemExit(f"{arguments}: {cause.read().decode()}") from None

    def last(self, job, name):
        """The last value of each series of a name, by its labels."""
        found = self.call("query", query=f'last_over_time(paymaster_load_{name}{{job="{job}"}}{WINDOW})')["result"]
        values = {}
        for series in found:
            labels = {key: value for key, value in series["metric"].items() if key not in ("job", "instance", "__name__")}
            values[tuple(sorted(labels.items()))] = float(series["value"][1])
        return values


def expected(report):
    """The numbers of a report, by metric and labels."""
    numbers = {}

    def add(name, value, **labels):
        numbers.setdefault(name, {})[tuple(sorted(labels.items()))] = value

    for label, of in report["labels"].items():
        for outcome, times in of["counts"].items():
            add("requests_total", times, scenario=label, outcome=outcome)
        timed = sum(of["counts"][outcome] for outcome in ("good", "wrong", "rpc-error", "timeout"))
        add("request_duration_seconds_count", timed, scenario=label)
        add("judged_answers_total", of["judged"], scenario=label)
    for outcome, times in report["warm_up"].items():
        add("warm_up_requests_total", times, outcome=outcome)
    wrong = {}
    for kind in report["wrong"]:
        key = (("rule", kind["key"]["rule"]), ("scenario", kind["key"]["label"]))
        wrong[key] = wrong.get(key, 0) + kind["times"]
    numbers["wrong_answers_total"] = wrong
    arrivals = report["arrivals"]
    add("arrivals_due_total", arrivals["due"])
    for began, member in (("in-time", "in_time"), ("late", "late")):
        add("arrivals_served_total", arrivals[member], began=began)
    for name, cause, member in (("late", "no-free-connection", "waited"), ("late", "slow-generator", "delayed"),
                                ("dropped", "no-free-connection", "unsent"), ("dropped", "pause", "held_back")):
        add(f"arrivals_{name}_total", arrivals[member], cause=cause)
    add("generator_cpu_seconds_total", report["generators"][0]["cpu_seconds"])
    add("running", 0)
    return numbers


def check_numbers(prometheus, job, report):
    compared = 0
    for name, numbers in expected(report).items():
        found = prometheus.last(job, name)
        if found != numbers:
            raise SystemExit(f"{job}: {name}: Prometheus has {found}, the report has {numbers}")
        compared += len(numbers)
    requests = sum(sum(of["counts"].values()) for of in report["labels"].values())
    if requests < 100:
        raise SystemExit(f"{job}: only {requests} requests:\n{report}")
    print(f"{job}: {compared} numbers of Prometheus are those of the report ({requests} requests)")


def check_dashboard(prometheus, began):
    dashboard = json.loads(DASHBOARD.read_text())
    now = time.time()
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    for query in queries:
        filled = query.replace("$__rate_interval", "2m").replace("$job", ".*").replace("$instance", ".*")
        if "$" in filled:
            raise SystemExit(f"a variable of Grafana is not known here: {query}")
        found = prometheus.call("query_range", query=filled, start=began, end=now, step="1s")["result"]
        values = [value for series in found for _, value in series["values"] if value != "NaN"]
        if not values:
            raise SystemExit(f"the query has no result: {query}")
    for variable in dashboard["templating"]["list"]:
        matched = re.fullmatch(r"label_values\((.*), (\w+)\)", str(variable.get("definition", "")))
        if matched:
            series = prometheus.call("series", **{"match[]": matched.group(1).replace("$job", ".*"), "start": began, "end": now})
            if {one.get(matched.group(2)) for one in series} in (set(), {None}):
                raise SystemExit(f"the variable {variable['name']} has no values")
    print(f"dashboard: each of {len(queries)} queries has a result")


def main():
    started = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            server = Started(folder, "target", BINARIES / "paymaster-reference-server", "--listen", "127.0.0.1:0", "--fault", "id-wrong-now-and-then")
            started.append(server)
            url = server.expect(r"(http://127\.0\.0\.1:\d+\S*)")
            began = time.time()
            targets, runs = {}, {}
            for job, arguments in RUNS.items():
                run = Started(folder, job, BINARIES / "paymaster-loadtest", "run", url, *arguments, "--metrics", "127.0.0.1:0",
                              "--metrics-wait", f"{PATIENCE}s", "-o", f"{job}.json")
                started.append(run)
                targets[job] = run.expect(r"metrics: http://(127\.0\.0\.1:\d+)/metrics")
                runs[job] = run
            prometheus = Prometheus(folder, targets)
            started.append(prometheus.server)
            for job, run in runs.items():
                # The answers are wrong.
                if run.wait() != 1:
                    raise SystemExit(run.output())
            time.sleep(1)
            for job in runs:
                check_numbers(prometheus, job, json.loads((folder / f"{job}.json").read_text()))
            check_dashboard(prometheus, began)
        finally:
            for process in reversed(started):
                process.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
