// The platforms with binaries: the target of Rust, and what npm calls it. The static ones (musl) are for Alpine.
export const platforms = [
    { target: "x86_64-unknown-linux-gnu", os: "linux", cpu: "x64", libc: "glibc" },
    { target: "aarch64-unknown-linux-gnu", os: "linux", cpu: "arm64", libc: "glibc" },
    { target: "x86_64-unknown-linux-musl", os: "linux", cpu: "x64", libc: "musl" },
    { target: "aarch64-unknown-linux-musl", os: "linux", cpu: "arm64", libc: "musl" },
    { target: "x86_64-apple-darwin", os: "darwin", cpu: "x64" },
    { target: "aarch64-apple-darwin", os: "darwin", cpu: "arm64" },
    { target: "x86_64-pc-windows-msvc", os: "win32", cpu: "x64" },
];

/** The name of the npm package with the binaries of a platform. */
export const packageName = ({ os, cpu, libc }) => `@paymaster-conformance/${os}-${cpu}${libc === "musl" ? "-musl" : ""}`;

/** The three commands of every package. */
export const commands = ["paymaster-conformance", "paymaster-reference-server", "paymaster-loadtest"];
