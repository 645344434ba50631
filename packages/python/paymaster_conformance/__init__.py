"""Judges a paymaster from Python: :func:`check` runs ``paymaster-conformance`` and returns its JSON report."""

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, TypedDict


class Rule(TypedDict):
    """How a rule ended. The report has more members: ``conformance/report.schema.json`` describes them."""

    id: str
    clause: str
    section: str
    basis: str
    text: str
    verdict: str
    held: int
    broken: int


class Defect(TypedDict):
    """The findings with one cause. Only one that ``fails`` is a violation, the others are warnings."""

    headline: str
    fails: bool
    rules: List[str]


class Report(TypedDict):
    """The JSON report. ``verdict`` is the conclusion in a sentence; ``exit_code`` is 0 if the paymaster conforms."""

    target: str
    conclusion: str
    verdict: str
    exit_code: int
    embedded: bool
    warnings: List[str]
    rules: List[Rule]
    defects: List[Defect]
    findings: List[Dict[str, Any]]


def check(
    url: str, *, profile: Optional[str] = None, headers: Optional[Mapping[str, str]] = None, args: Sequence[str] = (), cwd: Optional[str] = None
) -> Report:
    """Judges the paymaster at ``url`` (``"embedded"``: the embedded reference server) and returns the report, whatever the verdict is.

    ``profile`` is the configuration file (default: ``paymaster.toml``, if it exists), ``headers`` are request headers, ``args`` more arguments
    of ``paymaster-conformance check``, and ``cwd`` is the working directory. Raises if the run cannot start.
    """
    given = headers or {}
    # Without a URL the embedded reference server would be judged, and pass.
    if not url.strip() or any(not value.strip() or set("\r\n") & set(value) for value in given.values()):
        raise ValueError("check: the URL and every header must have a value, and no header a line break")
    # URL and headers go through the environment: other users of the machine can read arguments.
    environment = {name: value for name, value in os.environ.items() if name != "PAYMASTER_URL"}
    if url != "embedded":
        environment["PAYMASTER_URL"] = url
    if given:
        environment["PAYMASTER_HEADERS"] = "\n".join(f"{name}: {value}" for name, value in given.items())
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "report.json")
        # Beside Python, as in a virtual environment, or else in PATH.
        places = os.pathsep.join([sysconfig.get_path("scripts"), environment.get("PATH", "")])
        command = [shutil.which("paymaster-conformance", path=places) or "paymaster-conformance", "check", "--report", f"json={file}"]
        command += (["--config", profile] if profile else []) + list(args)
        run = subprocess.run(command, env=environment, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if run.returncode == 2 or not os.path.exists(file):
            raise RuntimeError(run.stderr.decode(errors="replace").strip() or f"check: the run ended with code {run.returncode}")
        with open(file, encoding="utf-8") as written:
            report: Report = json.load(written)
        return report
