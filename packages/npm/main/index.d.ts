/** What to judge, and how. */
export interface CheckOptions {
    /** The URL of the paymaster, or `"embedded"` for the embedded reference server. */
    url: string;
    /** The configuration file (default: `paymaster.toml` of the working directory, if it exists). */
    profile?: string;
    /** Request headers. */
    headers?: Record<string, string>;
    /** More arguments of `paymaster-conformance check`, such as `["--cases", "50", "--strict"]`. */
    args?: string[];
    /** The working directory, which gets the folder of replay files. Default: that of this process. */
    cwd?: string;
    /** Ends the run. */
    signal?: AbortSignal;
}

/** How a rule ended. */
export interface Rule {
    id: string;
    clause: string;
    section: string;
    basis: "stated" | "recommended" | "json-rpc" | "interoperability" | "plausibility" | "on-chain" | "ambiguous" | "not-shown";
    text: string;
    verdict: "failed" | "flaky" | "known-failing" | "unexpectedly-passing" | "covered" | "inconclusive" | "not-applicable" | "passed";
    /** How often the rule held. */
    held: number;
    /** How often it was broken. */
    broken: number;
    [member: string]: unknown;
}

/** The findings with one cause. Only a defect that `fails` is a violation, the others are warnings. */
export interface Defect {
    /** What is wrong, and under which condition. */
    headline: string;
    fails: boolean;
    /** The ids of the rules that it breaks. */
    rules: string[];
}

/** The JSON report. `conformance/report.schema.json` describes every member. */
export interface Report {
    format: "paymaster-report/v1";
    tool: { name: string; version: string };
    target: string;
    seed: number;
    conclusion: "conforms" | "nothing-broken" | "violations" | "list-out-of-date" | "incomplete" | "could-not-test";
    /** The conclusion in a sentence. */
    verdict: string;
    /** 0 conforms, 1 violations, 3 could not test, 4 incomplete. */
    exit_code: 0 | 1 | 3 | 4;
    /** Whether the target is the embedded reference server, so that the report is about no service of yours. */
    embedded: boolean;
    warnings: string[];
    requests: number;
    took_ms: number;
    rules: Rule[];
    /** Those that fail the run come first. */
    defects: Defect[];
    findings: Array<Record<string, unknown>>;
    [member: string]: unknown;
}

/**
 * Judges a paymaster and resolves to the JSON report, whatever the verdict is. Rejects if the run cannot start or writes no report.
 *
 * @example
 * const report = await check({ url: "http://127.0.0.1:3000/rpc", profile: "paymaster.toml" });
 * expect(report.conclusion, report.verdict).toBe("conforms");
 */
export function check(options: CheckOptions): Promise<Report>;
