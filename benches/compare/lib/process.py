"""Processes and what they cost, from the system's accounts (Linux: /proc)."""

import os
import re
import subprocess
import tempfile
import threading
import time

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
START_TIMEOUT_SECONDS = 60


class Server:
    """A server that prints `listening on http://ADDRESS`; its costs are those of the process itself."""

    def __init__(self, name, command):
        self.name = name
        self.started = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"listening on (http://(\S+))", line)
        if not found:
            self.stop()
            raise RuntimeError(f"{name} did not start: {' '.join(map(str, command))} printed {line!r}")
        self.url, self.authority = found.group(1), found.group(2)

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND

    def peak_memory(self):
        """In bytes."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1)) * 1024

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Cost:
    """What a command took that ran to its end: time and CPU in seconds, peak memory in bytes."""

    def __init__(self, command, timeout=600, ok=(0,), **options):
        before = time.monotonic()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, **options)
            timer = threading.Timer(timeout, process.kill)
            timer.start()
            try:
                # Tells what this child alone used, its own children included.
                _, status, usage = os.wait4(process.pid, 0)
            finally:
                timer.cancel()
            self.seconds = time.monotonic() - before
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            self.said = output.read().decode(errors="replace")
        self.cpu = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss * 1024
        if process.returncode not in ok:
            name = " ".join(map(str, command))
            raise RuntimeError(f"{name} ended with {process.returncode}:\n{self.said[-2000:]}")
