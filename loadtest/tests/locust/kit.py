"""Starts targets, Locust masters and workers for the tests of this folder. Everything listens on 127.0.0.1 and on port 0."""

import csv
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARIES = pathlib.Path(os.environ.get("PAYMASTER_BINARIES", ROOT / "target" / "debug"))
LOADTEST = BINARIES / "paymaster-loadtest"
SERVER = BINARIES / "paymaster-reference-server"
# Locust, older versions that work, and one that does not.
LOCUST = pathlib.Path(os.environ.get("LOCUST", "locust"))
OLD_LOCUST = os.environ.get("OLD_LOCUST", "").split()
TOO_OLD_LOCUST = os.environ.get("TOO_OLD_LOCUST")
# A limit for everything that a test waits for. The machine may be slow.
PATIENCE = 90

# Prints the ports that the master got.
WRAPPER = """
from locustfile import *
import gevent

@events.init.add_listener
def print_ports(environment, runner, web_ui=None, **_arguments):
    if hasattr(runner, "server"):
        print("MASTER-PORT", runner.server.port, flush=True)
    def web():
        while not getattr(getattr(web_ui, "server", None), "server_port", 0):
            gevent.sleep(0.05)
        print("WEB-PORT", web_ui.server.server_port, flush=True)
    if web_ui:
        gevent.spawn(web)
"""


def until(condition, what):
    """Waits until a condition gives something, and returns it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"timed out: {what}")


class Process:
    """A process whose output is collected."""

    def __init__(self, arguments, **options):
        self.lines = []
        self.process = subprocess.Popen(
            [str(argument) for argument in arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", **options)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def output(self):
        return "\n".join(self.lines)

    def find(self, pattern):
        return re.search(pattern, self.output(), re.MULTILINE)

    def expect(self, pattern):
        def found():
            match = self.find(pattern)
            if match is None and self.process.poll() is not None:
                self.reader.join(5)
                match = self.find(pattern)
                if match is None:
                    raise AssertionError(f"ended before `{pattern}`:\n{self.output()}")
            return match
        try:
            return until(found, pattern)
        except AssertionError as cause:
            raise AssertionError(f"{cause}\n{self.output()}") from None

    def wait(self):
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"does not end:\n{self.output()}") from None
        self.reader.join(5)
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.reader.join(5)
        self.process.stdout.close()


class Forwarder:
    """A port that stays the same while the master behind it is restarted."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.target = None
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            for source, sink in [(near, far), (far, near)]:
                threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    @staticmethod
    def _copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class LocustTest(unittest.TestCase):
    """A folder, and processes that end with the test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(os.environ, PAYMASTER_LOADTEST=str(LOADTEST), NO_COLOR="1", PYTHONUNBUFFERED="1")
        for name in ("PAYMASTER_URL", "PAYMASTER_CONFIG", "PAYMASTER_HEADERS", "PAYMASTER_SEED", "PAYMASTER_TIMEOUT"):
            self.environment.pop(name, None)
        subprocess.run([LOADTEST, "locustfile", "-o", self.folder / "locustfile.py"], check=True)
        (self.folder / "wrapper.py").write_text(WRAPPER, encoding="utf-8")

    def start(self, arguments):
        process = Process(arguments, cwd=self.folder, env=self.environment)
        self.addCleanup(process.kill)
        return process

    def target(self, *faults):
        """Starts the reference server and returns its URL."""
        arguments = [SERVER, "--listen", "127.0.0.1:0"]
        for fault in faults:
            arguments += ["--fault", fault]
        return self.start(arguments).expect(r"(http://127\.0\.0\.1:\d+\S*)").group(1)

    def master(self, *arguments, port=0, locust=None):
        master = self.start([locust or LOCUST, "-f", "wrapper.py", "--master", "--master-bind-host", "127.0.0.1",
                             "--master-bind-port", port, *arguments])
        master.port = int(master.expect(r"MASTER-PORT (\d+)").group(1))
        return master

    def headless(self, workers, *arguments, **options):
        """A master without a web page that waits for its workers."""
        return self.master("--headless", "--expect-workers", workers, "--expect-workers-max-wait", PATIENCE, "--csv", "locust",
                           "--report", "merged.json", "--worker-reports", "kept", *arguments, **options)

    def workers(self, count, port, url, *arguments):
        """Starts workers that write their own reports. Returns when they are ready."""
        workers = []
        for _ in range(count):
            name = f"own-{len(list(self.folder.glob('started-*')))}"
            (self.folder / f"started-{name}").touch()
            worker = self.start([LOADTEST, "worker", "--master", f"127.0.0.1:{port}", url, "-o", f"{name}.json", *arguments])
            worker.report = self.folder / f"{name}.json"
            workers.append(worker)
        for worker in workers:
            worker.name = worker.expect(r"worker (\S+) \(index (\d+)\) is ready").group(1)
        return workers

    def own(self, workers, run=1):
        """The reports that workers wrote themselves in one of their runs."""
        names = [worker.report.name if run == 1 else f"{worker.report.stem}-{run}.json" for worker in workers]
        return [self.report(name) for name in names]

    def report(self, name="merged.json"):
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def rows(self, name):
        with open(self.folder / f"locust_{name}.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def counters(report):
    """Every counter of a report, by its path."""
    found = {}
    for label, figures in report["labels"].items():
        for outcome, times in figures["counts"].items():
            found[label, outcome] = times
        found[label, "judged"] = figures["judged"]
    for name in ("trouble", "error_codes", "warm_up"):
        for key, times in report[name].items():
            found[name, key] = times
    for wrong in report["wrong"]:
        key = wrong["key"]
        found["wrong", key["rule"], key["label"], key["pointer"]] = wrong["times"]
    for name, value in report["arrivals"].items():
        if name not in ("seconds", "last_begun"):
            found["arrivals", name] = value
    found["unfinished"] = report["unfinished"]
    for slot in report["series"]["slots"]:
        for outcome, times in slot["counts"].items():
            found["series", outcome] = found.get(("series", outcome), 0) + times
        for latency, times in slot["classes"].items():
            found["class", latency] = found.get(("class", latency), 0) + times
    return {key: value for key, value in found.items() if value}


def added(reports):
    """The sums of the counters of reports."""
    sums = {}
    for report in reports:
        for key, value in counters(report).items():
            sums[key] = sums.get(key, 0) + value
    return sums


def requests(report):
    return sum(sum(figures["counts"].values()) for figures in report["labels"].values())


def interrupt(process):
    process.process.send_signal(signal.SIGINT)
