"""A clean release build of the conformance binary: what a user waits for, and what lands on the disk."""

import re
import shutil

from .kit import ROOT, run
from .process import Cost
from .table import Section, mebibytes


def section(kit):
    target = kit.folder / "clean-build"
    try:
        cost = Cost(
            ["cargo", "build", "--release", "--locked", "-p", "paymaster-conformance", "--target-dir", str(target)],
            timeout=3600,
            cwd=ROOT,
        )
        size = (target / "release/paymaster-conformance").stat().st_size
    finally:
        shutil.rmtree(target, ignore_errors=True)
    tree = run(["cargo", "tree", "--locked", "-p", "paymaster-conformance", "-e", "normal,build", "--prefix", "none"], cwd=ROOT)
    crates = {line.split(" (*)")[0] for line in tree.splitlines() if line}
    names = {re.split(r"\s", crate)[0] for crate in crates}
    table = Section("Build", ["clean release build of paymaster-conformance", "CPU", "size", "crates", "needs C or goose"])
    heavy = sorted(names & {"ring", "aws-lc-sys", "openssl-sys", "cc", "cmake", "goose", "libz-sys", "zstd-sys"})
    table.row(f"{cost.seconds:.0f} s", f"{cost.cpu:.0f} s", mebibytes(size), len(crates), ", ".join(heavy) or "no")
    return table
