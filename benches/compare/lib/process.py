"""Processes and what they cost, from the system's accounts (Linux: /proc)."""

import os
import re
import subprocess
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
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options
        )
        try:
            self.said, _ = self._wait(process, timeout)
        finally:
            if process.returncode is None and process.poll() is None:
                process.kill()
        self.seconds = time.monotonic() - before
        if self.code not in ok:
            raise RuntimeError(f"{' '.join(map(str, command))} ended with {self.code}:\n{self.said[-2000:]}")

    def _wait(self, process, timeout):
        deadline = time.monotonic() + timeout
        os.set_blocking(process.stdout.fileno(), False)
        parts = []
        # wait4 tells what this child alone used, its own children included.
        while True:
            parts.append(process.stdout.read() or "")
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                process.kill()
                raise RuntimeError(f"{process.args} took longer than {timeout} s")
            time.sleep(0.01)
        process.returncode = self.code = os.waitstatus_to_exitcode(status)
        parts.append(process.stdout.read() or "")
        process.stdout.close()
        self.cpu = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss * 1024
        return "".join(parts), None
