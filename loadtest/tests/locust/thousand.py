"""What 1,000 workers cost: bytes of their reports, time of the master to take them, time of `merge`. Prints a table.

The reports are real: three workers of a real run make them. The other 997 are copies under other names."""

import importlib.util
import json
import os
import pathlib
import resource
import subprocess
import sys
import time
import zlib

from kit import LOADTEST, WRAPPER, LocustTest, added, counters, requests

WORKERS = 1000
# Prints the bytes of each `stats` message, and of its exact figures.
SIZES = """
import msgpack

@events.worker_report.add_listener
def print_size(client_id, data, **_arguments):
    if data.get("bin"):
        print("BYTES", len(msgpack.packb(data)), len(data["bin"]), flush=True)
"""
# The slots of a report that changed since the one before it: three seconds and the one that is not over.
CHANGED = 4


class Thousand(LocustTest):
    def runTest(self):
        (self.folder / "wrapper.py").write_text(WRAPPER + SIZES, encoding="utf-8")
        url = self.target()
        master = self.headless(3, "-u", 30, "-r", 30, "-t", "15s")
        self.workers(3, master.port, url)
        self.assertEqual(master.wait(), 0, master.output())
        real = [self.report(path) for path in sorted((self.folder / "kept" / "run-1").iterdir())]
        folder = self.folder / "thousand"
        folder.mkdir()
        names, copies = [], []
        for place in range(WORKERS):
            report = json.loads(json.dumps(real[place % len(real)]))
            report["workers"][0].update(name=f"host_{place:04}", index=place)
            names.append(str(folder / f"{place:04}.json"))
            pathlib.Path(names[-1]).write_text(json.dumps(report), encoding="utf-8")
            copies.append(report)
        (self.folder / "files.txt").write_text("\n".join(names), encoding="utf-8")
        print(f"{WORKERS} workers, {requests(real[0])} requests of the first one in {real[0]['seconds']:.0f} s")
        sizes = [line.split() for line in master.lines if line.startswith("BYTES ")]
        whole, exact = (sum(int(size[place]) for size in sizes) / len(sizes) for place in (1, 2))
        print(f"sent: {whole / 1024:.1f} KiB a message, {exact / 1024:.1f} KiB of it the exact figures;"
              f" {whole * WORKERS / 3 / 1024 / 1024:.1f} MiB/s at the master (a message every 3 s)")
        self.taken(copies)
        self.merge(copies)

    @staticmethod
    def taken(copies):
        """What the locustfile needs to take the messages of three seconds."""
        whole = copies[0]["series"]["slots"]
        parts = []
        for report in copies:
            part = dict(report, slots_from=max(0, len(whole) - CHANGED))
            part["series"] = dict(report["series"], slots=report["series"]["slots"][-CHANGED:])
            parts.append(zlib.compress(json.dumps(part, separators=(",", ":")).encode(), 1))
        worker = locustfile_worker()
        began = time.process_time()
        for part in parts:
            kept = worker()
            kept.slots = whole[:-CHANGED]
            kept.add(part)
        took = time.process_time() - began
        print(f"taken by the locustfile: {took / len(parts) * 1e3:.2f} ms of CPU a message, {took / 3 * 100:.0f} % of a core of the master")

    def merge(self, copies):
        size = sum(os.path.getsize(name) for name in (self.folder / "files.txt").read_text(encoding="utf-8").split("\n"))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        merged = subprocess.run([LOADTEST, "merge", "--files-from", "files.txt", "-o", "all.json"], cwd=self.folder, env=self.environment,
                                stdout=subprocess.PIPE, text=True, check=False)
        took = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.assertEqual(merged.returncode, 0, merged.stdout)
        report = self.report("all.json")
        self.assertEqual(counters(report), added(copies))
        self.assertEqual(len(report["workers"]), WORKERS)
        profile = LOADTEST.parent.name
        print(f"merge of {WORKERS} files ({size / 1024 / 1024:.0f} MiB) with a {profile} build: {took:.1f} s, {cpu:.1f} s of CPU,"
              f" merged report {os.path.getsize(self.folder / 'all.json') / 1024:.0f} KiB")
        print(f"every one of {len(counters(report))} counters of the merged report is the sum of those of the files")


def locustfile_worker():
    """The class of the locustfile that keeps the figures of a worker, without Locust."""
    text = (pathlib.Path(__file__).parents[2] / "src" / "worker" / "locustfile.py").read_text(encoding="utf-8")
    source = text[text.index("class Worker:"):text.index("class Runs:")]
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("kept", loader=None))
    module.__dict__.update(json=json, zlib=zlib)
    exec(compile(source, "locustfile.py", "exec"), module.__dict__)  # pylint: disable=exec-used
    return module.Worker


if __name__ == "__main__":
    import unittest
    result = unittest.TextTestRunner(verbosity=1).run(Thousand())
    sys.exit(not result.wasSuccessful())
