"""The reference server beside other servers: one load, one machine, in turns."""

import json
import shutil
import time
from contextlib import ExitStack

from .kit import HERE, ask
from .process import Server
from .table import Section, mebibytes, median, micros, times

ROUNDS = 7
SECONDS = 1.0
CONNECTIONS = 8
COLD_STARTS = 9


def commands(kit):
    folder = HERE / "servers/node"
    node = shutil.which("node") if (folder / "node_modules").is_dir() else None
    reference = [kit.reference, "--listen", "127.0.0.1:0"]
    ours = [*reference, "--log", "off"]
    to_a_file = ["sh", "-c", 'exec "$@" 2>"$0"', kit.folder / "log"]
    return {
        "bare hyper, constant bytes": [kit.rust_servers / "bare-hyper", kit.answer],
        "reference server, signing off": [*ours, "--no-signing"],
        "reference server, signing off, its log in a file": [*to_a_file, *reference, "--no-signing"],
        "reference server, signing on": ours,
        "jsonrpsee, params parsed, constant result": [kit.rust_servers / "jsonrpsee-server", kit.answer],
        "Node, ajv, constant result": [node, folder / "server.mjs", kit.answer] if node else None,
    }


def section(kit):
    head = ["server", "CPU a request", "of bare hyper's", "requests/s", "p99", "peak memory", "cold start"]
    about = f"{CONNECTIONS} connections, one request of each method and mode in turn, median of {ROUNDS} rounds."
    about += " The log is off unless it is named."
    table = Section("Servers", head, about)
    figures = {}
    with ExitStack() as stack:
        servers = {}
        for name, command in commands(kit).items():
            if command:
                servers[name] = stack.enter_context(Server(name, command))
        rounds = {name: [] for name in servers}
        for server in servers.values():
            kit.hammer(server, connections=CONNECTIONS, seconds=SECONDS)
        for _ in range(ROUNDS):
            for name, server in servers.items():
                rounds[name].append(kit.hammer(server, connections=CONNECTIONS, seconds=SECONDS))
        for name, server in servers.items():
            figures[name] = {key: median([each[key] for each in rounds[name]]) for key in rounds[name][0]}
            figures[name]["memory"] = server.peak_memory()
    bare = figures["bare hyper, constant bytes"]["cpu"]
    for name, command in commands(kit).items():
        if name not in figures:
            table.missing(name, "node or npm is not installed")
            continue
        of = figures[name]
        cells = [micros(of["cpu"]), times(of["cpu"] / bare), f"{of['rate']:,.0f}", micros(of["p99"])]
        table.row(name, *cells, mebibytes(of["memory"]), f"{1000 * cold_start(kit, command):.0f} ms")
    return table


def cold_start(kit, command):
    """From nothing to the first answer, in seconds."""
    request = json.loads(kit.requests.read_text().splitlines()[2])
    took = []
    for _ in range(COLD_STARTS):
        started = time.monotonic()
        with Server("cold start", command) as server:
            ask(server.url, request)
            took.append(time.monotonic() - started)
    return median(took)
