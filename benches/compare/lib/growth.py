"""How costs grow: a cost for each unit that stays the same, or falls, says that the whole grows no faster than linearly."""

import json

from .cases import ours
from .table import Section, mebibytes, median, micros, times

ROUNDS = 3
CASES = [500, 1000, 2000, 4000]
CONNECTIONS = [4, 16, 64, 256]
TOKENS = [10, 100, 1000]
QUOTES = [10, 100, 1000]
ADDRESS = "0x{:040x}"


def token(number):
    return (
        f'[[tokens]]\naddress = "{ADDRESS.format(number + 1)}"\nsymbol = "T{number}"\ndecimals = 6\n'
        'rate = "1800.5"\nusd_price = "1.0"\npremium_percent = 10\nlogo_url = "https://tokens.example/t.png"\n'
    )


def quote_request(kit, name, tokens):
    request = json.loads(kit.requests.read_text().splitlines()[1])
    request["params"][1]["tokenInfo"] = {"tokenList": tokens}
    return kit.file(f"{name}.jsonl", json.dumps(request) + "\n")


def section(kit):
    head = ["what grows", "to", "what is counted", "for each unit", "of the first"]
    table = Section("Growth", head, "Cost for each unit as there are more of them; 1.00 or less in the last column is linear.")

    def rows(what, counted, measured, show=micros):
        first = measured[0][1]
        for number, cost, note in measured:
            table.row(what, f"{number:,}", counted, f"{show(cost)}{note}", times(cost / first))

    rows("cases of a run", "CPU of paymaster-conformance a request", of_cases(kit))
    rows("connections", "server CPU a request", of_connections(kit))
    rows("tokens in a request's tokenList", "server CPU a token", of_token_lists(kit))
    rows("quotes in an answer", "server CPU a quote", of_answers(kit))
    rows("quotes in an answer", "CPU of paymaster-conformance a quote", of_judged_answers(kit))
    return table


def of_cases(kit):
    measured = []
    with kit.server() as server:
        ours(kit, server.url, CASES[0])
        for cases in CASES:
            runs = [ours(kit, server.url, cases) for _ in range(ROUNDS)]
            cost = median([cost.cpu / requests for requests, cost in runs])
            memory = median([cost.memory for _, cost in runs])
            measured.append((cases, cost, f", {mebibytes(memory)} at most"))
    return measured


def of_connections(kit):
    measured = []
    for connections in CONNECTIONS:
        with kit.server() as server:
            kit.hammer(server, connections=connections)
            cost = median([kit.hammer(server, connections=connections)["cpu"] for _ in range(ROUNDS)])
            measured.append((connections, cost, f", {mebibytes(server.peak_memory())} at most"))
    return measured


def of_token_lists(kit):
    measured = []
    with kit.server() as server:
        for tokens in TOKENS:
            requests = quote_request(kit, "tokens", [ADDRESS.format(number + 1) for number in range(tokens)])
            cost = median([kit.hammer(server, requests)["cpu"] for _ in range(ROUNDS)]) / tokens
            measured.append((tokens, cost, ""))
    return measured


def of_answers(kit):
    measured = []
    for quotes in QUOTES:
        config = "\n".join(token(number) for number in range(quotes))
        with kit.server("--no-signing", config=config) as server:
            requests = quote_request(kit, "quotes", [])
            cost = median([kit.hammer(server, requests)["cpu"] for _ in range(ROUNDS)]) / quotes
            measured.append((quotes, cost, ""))
    return measured


def of_judged_answers(kit):
    """The judge on answers that grow: every quote of a run against servers that support more and more tokens."""
    measured = []
    for quotes in QUOTES[:2]:
        config = "\n".join(token(number) for number in range(quotes))
        with kit.server("--no-signing", config=config) as server:
            runs = [ours(kit, server.url, 100, "--rule", "quote*", "--no-shrink") for _ in range(ROUNDS)]
            cost = median([cost.cpu / requests for requests, cost in runs]) / quotes
            measured.append((quotes, cost, ""))
    return measured
