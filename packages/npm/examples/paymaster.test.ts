// Judges the paymaster at PAYMASTER_URL in a test of vitest, which fails with the headlines of the report.
import { expect, test } from "vitest";
import { check } from "paymaster-conformance";

test("the paymaster conforms", { timeout: 600_000 }, async () => {
    // An error if the variable is missing: nothing would be tested.
    const report = await check({ url: process.env.PAYMASTER_URL ?? "" });
    const defects = report.defects.filter((defect) => defect.fails).map((defect) => defect.headline);
    expect(report.exit_code, [report.verdict, ...defects].join("\n")).toBe(0);
});
