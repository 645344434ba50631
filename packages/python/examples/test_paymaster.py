"""Judges the paymaster at PAYMASTER_URL in a test of pytest, which fails with the headlines of the report."""

import os

from paymaster_conformance import check


def test_the_paymaster_conforms() -> None:
    report = check(os.environ["PAYMASTER_URL"])
    defects = [defect["headline"] for defect in report["defects"] if defect["fails"]]
    assert report["exit_code"] == 0, "\n".join([report["verdict"], *defects])
