"""The Locust master for paymaster-loadtest workers. `paymaster-loadtest locustfile` writes this file.

On the master:   locust -f locustfile.py --master --headless --expect-workers 2 -u 20 -r 10 -t 1m --threshold 'p95<200ms'
On each machine: paymaster-loadtest worker --master MASTER:5557 URL

Each worker sends its exact figures with its statistics. At the end of a run this file writes one report for each worker, merges them with
`paymaster-loadtest merge`, prints the verdict, and makes its exit code that of the master. It can be imported by another locustfile.
"""

import inspect
import json
import logging
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

import gevent
from locust import User, constant, events
from locust.runners import MasterRunner

# The user classes: names and weights of the scenarios.
SCENARIOS = {}
# The command that merges. It must be of the same version as the workers.
PROGRAM = os.environ.get("PAYMASTER_LOADTEST", "paymaster-loadtest")
if not PROGRAM.strip():
    print("the environment variable PAYMASTER_LOADTEST is set, but empty: give it a value, or unset it", file=sys.stderr)
    sys.exit(2)
# How long workers may take at the end of a run until their last requests are answered and reported.
PATIENCE = 20.0
# A code of the merge that comes earlier here wins over the code of another run of the same master.
CODES = [1, 3, 2, 4, 0]
# Whether Locust itself tells the workers when all users are up, as newer versions do. The arrivals of --rate begin then.
TELLS = 'send_message("spawning_complete"' in inspect.getsource(MasterRunner.start)

log = logging.getLogger("paymaster")


# Users of Python workers send nothing: the requests are made by paymaster-loadtest workers.
for _name, _weight in SCENARIOS.items():
    globals()[_name] = type(_name, (User,), {"weight": _weight, "wait_time": constant(1), "tasks": [lambda _user: None]})


@events.init_command_line_parser.add_listener
def add_arguments(parser):
    parser.add_argument("--rate", dest="paymaster_rate", metavar="RATE", default="", include_in_web_ui=True,
                        help="Open model: arrivals per second of all workers together, as 500 or in steps as 500,30s;500,5m")
    parser.add_argument("--arrivals", dest="paymaster_arrivals", choices=["regular", "poisson"], default="regular", include_in_web_ui=True,
                        help="How the arrivals of --rate are spread: at regular distances, or at random as those of many clients")
    # -t is --run-time here.
    parser.add_argument("--threshold", dest="paymaster_thresholds", metavar="RULE", action="append", include_in_web_ui=False,
                        help="A limit for the merged run, for example 'p95<200ms'. Repeatable.")
    parser.add_argument("--report", dest="paymaster_reports", metavar="FILE", action="append", include_in_web_ui=False,
                        help="Write the merged report: .json, .html, .md or .xml (JUnit). Repeatable. Later runs of the web page get a number.")
    parser.add_argument("--worker-reports", dest="paymaster_worker_reports", metavar="FOLDER", default=None, include_in_web_ui=False,
                        help="Keep the report of each worker in this folder.")


class Worker:
    """What the master knows of the figures of one worker in one run."""

    def __init__(self):
        self.report = None
        self.slots = []

    def add(self, part):
        """Takes a report. It has those figures by second that changed since the one before."""
        report = json.loads(zlib.decompress(part))
        series = report["series"]
        self.slots = self.slots[: report.pop("slots_from")] + series.pop("slots")
        self.report = report

    def write(self, path):
        report = dict(self.report, series=dict(self.report["series"], slots=self.slots))
        with open(path, "w", encoding="utf-8") as out:
            json.dump(report, out)


class Runs:
    """The runs of this master, one after the other."""

    def __init__(self, environment):
        self.environment = environment
        self.options = environment.parsed_options
        self.number = 0
        self.workers = None
        # The greenlet that starts users.
        self.starting = None

    def check(self):
        """Ends the master before it starts if the merge would fail in the end."""
        if shutil.which(PROGRAM) is None:
            sys.exit(f"{PROGRAM} is not installed here: the master needs it to merge. Set PAYMASTER_LOADTEST to its path.")
        checked = subprocess.run([PROGRAM, "merge", "--check", *self.arguments()], check=False)
        if checked.returncode != 0:
            sys.exit(2)

    def arguments(self):
        for threshold in self.options.paymaster_thresholds or []:
            yield f"--threshold={threshold}"
        for path in self.options.paymaster_reports or []:
            root, ending = os.path.splitext(path)
            yield f"--report={root}{'' if self.number < 2 else f'-{self.number}'}{ending}"

    def begin(self):
        self.number += 1
        self.workers = {}
        self.starting = gevent.getcurrent()
        # The worker that reported first, and its setup; whether another worker has another setup.
        self.setup = None
        self.differ = False

    def spawned(self, user_count):
        for client in [] if TELLS else list(self.environment.runner.clients):
            self.environment.runner.send_message("paymaster_spawned", {"user_count": user_count}, client)

    def add(self, client, data):
        if self.workers is None:
            return
        worker = self.workers.setdefault(client, Worker())
        part = data.get("bin")
        try:
            if part is not None:
                worker.add(part)
        except Exception:  # pylint: disable=broad-except
            log.exception("the figures of worker %s cannot be read: is it of another version?", client)
            return
        if worker.report is not None and not self.differ:
            self.compare(client, worker.report["workers"][0].get("setup", {}))

    def compare(self, client, setup):
        """Stops the run at the first report of a worker whose setup differs from that of another worker."""
        self.setup = self.setup or (client, setup)
        first, expected = self.setup
        differences = [f"{name} is {expected.get(name)} at {first} and {setup.get(name)} at {client}"
                       for name in sorted({*expected, *setup}) if expected.get(name) != setup.get(name)]
        if differences:
            self.differ = True
            log.error("the workers have different setups, and the run is stopped: %s", "; ".join(differences))
            runner = self.environment.runner
            gevent.spawn(runner.quit if self.options.headless else runner.stop)

    def stopping(self):
        """Ends the ramp, which Locust would go on with, and notes the workers that took part, also one that refused the run and sends no
        figures."""
        if self.starting is not gevent.getcurrent() and isinstance(self.starting, gevent.Greenlet):
            self.starting.kill()
        clients = self.environment.runner.clients
        for client in clients.running + clients.spawning if self.workers is not None else []:
            self.workers.setdefault(client.id, Worker())

    def finish(self):
        """Waits for the last figures and merges. Called at the end of each run."""
        if self.workers is None:
            return
        self.wait()
        workers, self.workers = self.workers, None
        try:
            code = self.merge(workers)
        except Exception:  # pylint: disable=broad-except
            log.exception("the reports of the workers could not be merged")
            code = 3
        before = self.environment.process_exit_code
        known = [known for known in (before, code) if known in CODES]
        self.environment.process_exit_code = min(known, key=CODES.index) if known else code

    def wait(self):
        """A headless run ends without a word to the workers until half a second before the end: too late for slow answers."""
        runner = self.environment.runner
        until = time.monotonic() + PATIENCE
        asked = set()
        while time.monotonic() < until:
            gone = [client.id for client in runner.clients.missing]
            open_ones = [client for client, worker in self.workers.items() if worker.report and not worker.report["workers"][0]["complete"]
                         and client in runner.clients and client not in gone]
            if not open_ones:
                return
            for client in set(open_ones) - asked:
                asked.add(client)
                runner.send_message("paymaster_finish", None, client)
            gevent.sleep(0.02)

    def merge(self, workers):
        missing = [client for client, worker in workers.items() if worker.report is None]
        if len(missing) == len(workers):
            log.error("no paymaster-loadtest worker sent figures: there is nothing to judge")
            return 3
        folder = self.options.paymaster_worker_reports
        is_kept = folder is not None
        folder = os.path.join(folder, f"run-{self.number}") if is_kept else tempfile.mkdtemp(prefix="paymaster-")
        os.makedirs(folder, exist_ok=True)
        code = None
        try:
            files = []
            for client, worker in sorted(workers.items()):
                if worker.report is not None:
                    safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in client)
                    files.append(os.path.join(folder, f"{safe}.json"))
                    worker.write(files[-1])
            with tempfile.TemporaryDirectory(prefix="paymaster-") as temporary:
                # The names of 1,000 files do not fit into every command line.
                names = os.path.join(temporary, "files.txt")
                with open(names, "w", encoding="utf-8") as out:
                    out.write("\n".join(files))
                command = [PROGRAM, "merge", f"--files-from={names}", f"--command={command_line()}",
                           *(f"--missing={client}" for client in missing), *self.arguments()]
                sys.stdout.flush()
                code = subprocess.run(command, check=False).returncode
            return code
        finally:
            # 2: the merge failed, or a report could not be written.
            if is_kept or self.differ or code in (None, 2):
                log.log(logging.INFO if is_kept else logging.ERROR, "the reports of the workers are in %s", os.path.abspath(folder))
            else:
                shutil.rmtree(folder, ignore_errors=True)


def command_line():
    """The command line of this master as reports show it, without the password of the web page (--web-auth of older versions)."""
    words = [os.path.basename(sys.argv[0]), *sys.argv[1:]]
    for place, word in enumerate(words):
        if word.startswith("--web-auth="):
            words[place] = "--web-auth=***"
        elif words[place - 1] == "--web-auth":
            words[place] = "***"
    return shlex.join(words)


@events.init.add_listener
def on_init(environment, runner, **_arguments):
    if not isinstance(runner, MasterRunner):
        return
    runs = Runs(environment)
    runs.check()
    environment.events.test_start.add_listener(lambda **_: runs.begin())
    environment.events.spawning_complete.add_listener(lambda user_count, **_: runs.spawned(user_count))
    environment.events.worker_report.add_listener(lambda client_id, data: runs.add(client_id, data))
    environment.events.test_stopping.add_listener(lambda **_: runs.stopping())
    environment.events.test_stop.add_listener(lambda **_: runs.finish())
