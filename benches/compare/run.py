#!/usr/bin/env python3
"""Measures this project's parts beside others', in one go on one machine, and prints ratios as Markdown tables.

    benches/compare/run.py              measures and prints
    benches/compare/run.py --write      and puts the tables, with date and machine, into docs/figures.md
    benches/compare/run.py --install    installs schemathesis, locust, k6 and oha below target/ and wrk by apt, and stops

What is not installed is named as missing. Nothing else should run on the machine meanwhile.
"""

import argparse
import datetime
import os
import platform
import re
import sys
import time

from lib import build, cases, generators, growth, servers
from lib.kit import ROOT, Kit

SECTIONS = {
    "servers": servers.section,
    "generators": generators.section,
    "cases": cases.section,
    "selftest": cases.selftest,
    "growth": growth.section,
    "build": build.section,
}
PAGE = ROOT / "docs/figures.md"
BEGIN, END = "<!-- figures: benches/compare/run.py --write -->", "<!-- end of figures -->"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/figures.md")
    parser.add_argument("--install", action="store_true", help="install the tools of others that can be, and stop")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="only this section; repeatable")
    arguments = parser.parse_args()
    if arguments.write and arguments.only:
        parser.error("--write wants every section: leave --only out")
    if arguments.write and not all(mark in PAGE.read_text() for mark in (BEGIN, END)):
        parser.error(f"docs/figures.md has no place for the tables: add the lines `{BEGIN}` and `{END}`")
    kit = Kit()
    try:
        if arguments.install:
            kit.install()
            return 0
        say("building")
        kit.build()
        tables, failed = [], []
        for name in arguments.only or SECTIONS:
            say(f"measuring {name}")
            try:
                tables.append(SECTIONS[name](kit).markdown())
            except (RuntimeError, OSError, KeyError, ValueError) as cause:
                failed.append(name)
                tables.append(f"**{name}.** not measured: {cause}")
        text = "\n\n".join([machine(), *tables])
        print(text)
        if failed:
            say(f"could not measure: {', '.join(failed)}")
            return 1
        if arguments.write:
            write(text)
        return 0
    finally:
        kit.clean()


def machine():
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    with open("/proc/meminfo") as file:
        memory = int(re.search(r"MemTotal:\s+(\d+)", file.read()).group(1)) / 2**20
    name = model.group(1).strip() if model else platform.machine()
    load = os.getloadavg()[0]
    day = datetime.date.today().isoformat()
    return f"Measured on {day}: {os.cpu_count()} cores of {name}, {memory:.0f} GiB, {platform.system()} {platform.release()}, load at the end {load:.1f}."


def write(text):
    page = PAGE.read_text()
    before, rest = page.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
    say(f"wrote the tables into {PAGE.name}")


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
