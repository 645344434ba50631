"""Conformance cases a second, beside schemathesis, on the same server."""

import json
import re

from .kit import INSTALL_HINTS, ROOT
from .process import Cost
from .table import Section, mebibytes, micros, times

EXAMPLES = 1000
ANSWERS = ["sponsored-answer", "quote-answer", "token-sponsor-answer", "error-answer"]
REQUESTS = ["quote-sponsored-request", "quote-erc20-request", "sponsor-sponsored-request", "sponsor-erc20-request"]


def openapi():
    """Our schemas as the one operation of an OpenAPI document, which is what schemathesis reads."""
    components = {}
    for path in (ROOT / "schemas").glob("*/documents/*.schema.json"):
        text = re.sub(r'"([a-z0-9-]+)\.schema\.json"', r'"#/components/schemas/\1"', path.read_text())
        document = json.loads(text)
        for key in ("$schema", "$id"):
            document.pop(key, None)
        components[path.name.removesuffix(".schema.json")] = document
    refs = lambda names: {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in names]}
    content = lambda names: {"content": {"application/json": {"schema": refs(names)}}}
    post = {
        "requestBody": {"required": True, **content(REQUESTS)},
        "responses": {"200": {"description": "an answer", **content(ANSWERS)}},
    }
    info = {"title": "paymaster", "version": "1"}
    return {"openapi": "3.1.0", "info": info, "paths": {"/": {"post": post}}, "components": {"schemas": components}}


def ours(kit, url, cases=250, *more):
    report = kit.folder / "report.json"
    fixed = ["--cases", str(cases), "--report", f"json={report}", "--replay-dir", str(kit.folder / "replays")]
    config = kit.file("paymaster.toml", "")
    cost = Cost([str(kit.conformance), "check", url, "--config", str(config), *fixed, *more], ok=(0, 4))
    return json.loads(report.read_text())["requests"], cost


def schemathesis(kit, url):
    document = kit.file("openapi.json", json.dumps(openapi()))
    checks = ["--checks", "response_schema_conformance,status_code_conformance,content_type_conformance"]
    fixed = ["--phases", "fuzzing", "--mode", "positive", "--max-examples", str(EXAMPLES), *checks]
    command = [kit.tool("st"), "run", str(document), "--url", url, *fixed, "--generation-database", "none"]
    # It fails the run for what it finds, which is none of this comparison's business.
    cost = Cost(command, ok=(0, 1), cwd=kit.folder)
    found = re.search(r"(\d[\d,]*) generated", cost.said)
    if not found:
        raise RuntimeError("schemathesis did not say how many cases it made: " + cost.said[-300:])
    return int(found.group(1).replace(",", "")), cost


def section(kit):
    about = "Requests made, sent and judged against one reference server, signing off."
    head = ["harness", "requests", "took", "a second", "times schemathesis'", "CPU a request", "peak memory"]
    table = Section("Conformance cases", head, about)
    measured = {}
    with kit.server() as server:
        measured["paymaster-conformance, a default run"] = ours(kit, server.url)
        measured["paymaster-conformance, --cases 2000"] = ours(kit, server.url, 2000)
        if kit.tool("st"):
            measured["schemathesis"] = schemathesis(kit, server.url)
    rates = {name: requests / cost.seconds for name, (requests, cost) in measured.items()}
    for name, (requests, cost) in measured.items():
        ratio = times(rates[name] / rates["schemathesis"]) if "schemathesis" in rates else "-"
        cells = [f"{requests:,}", f"{cost.seconds:.2f} s", f"{rates[name]:,.0f}", ratio]
        table.row(name, *cells, micros(cost.cpu / requests), mebibytes(cost.memory))
    if "schemathesis" not in measured:
        table.missing("schemathesis", f"not installed ({INSTALL_HINTS['st']})")
    return table


def selftest(kit):
    """What the whole selftest of both specifications costs, with one seed."""
    cost = Cost([str(kit.conformance), "selftest"], timeout=1800, cwd=kit.folder)
    found = re.search(r"(\d+) runs with a fault, (\d+) with a lawful variant", cost.said)
    if not found:
        raise RuntimeError("the selftest did not say how many runs it made: " + cost.said[-300:])
    faults, variants = found.groups()
    head = ["runs with a fault", "with a lawful variant", "took", "CPU", "peak memory"]
    table = Section("Selftest", head, "Both specifications, one seed.")
    table.row(faults, variants, f"{cost.seconds:.0f} s", f"{cost.cpu:.0f} s", mebibytes(cost.memory))
    return table
