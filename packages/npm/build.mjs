// Makes the npm packages as tarballs.
//
//     node packages/npm/build.mjs platform TARGET FOLDER_OF_BINARIES OUT    the package with the binaries of one platform
//     node packages/npm/build.mjs main FOLDER_OF_PAGES OUT                  the package with commands, API and man pages
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { commands, packageName, platforms } from "./platforms.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const manifest = readFileSync(join(root, "Cargo.toml"), "utf8");
const ofManifest = (key) => manifest.match(new RegExp(`^${key} = "(.*)"`, "m"))[1];

const common = {
    version: ofManifest("version"),
    license: ofManifest("license"),
    repository: { type: "git", url: `git+${ofManifest("repository")}.git` },
    engines: { node: ">=18" },
};

const [kind, ...rest] = process.argv.slice(2);
const build = { platform, main }[kind];
if (!build) {
    console.error("usage: node packages/npm/build.mjs platform TARGET FOLDER_OF_BINARIES OUT | main FOLDER_OF_PAGES OUT");
    process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "paymaster-npm-"));
try {
    const out = build(...rest);
    for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) cpSync(join(root, name), join(folder, name));
    pack(resolve(out));
} finally {
    rmSync(folder, { recursive: true });
}

function platform(target, binaries, out) {
    const platform = platforms.find((platform) => platform.target === target);
    if (!platform) throw new Error(`${target} is not in packages/npm/platforms.mjs`);
    const suffix = platform.os === "win32" ? ".exe" : "";
    mkdirSync(join(folder, "bin"));
    for (const command of commands) {
        const file = join(folder, "bin", command + suffix);
        cpSync(join(binaries, command + suffix), file);
        chmodSync(file, 0o755);
    }
    const { os, cpu, libc } = platform;
    write("package.json", {
        name: packageName(platform),
        description: `The binaries of paymaster-conformance for ${os} on ${cpu}${libc ? ` (${libc})` : ""}`,
        ...common,
        os: [os],
        cpu: [cpu],
        ...(libc && { libc: [libc] }),
        // npm packs LICENSE by itself, but neither of these names.
        files: ["bin", "LICENSE-*"],
        // Yarn unpacks such packages instead of running binaries inside archives.
        preferUnplugged: true,
    });
    return out;
}

function main(pages, out) {
    cpSync(join(here, "main"), folder, { recursive: true });
    const man = join(pages, "share/man/man1");
    mkdirSync(join(folder, "man"));
    for (const page of readdirSync(man)) cpSync(join(man, page), join(folder, "man", page));
    const given = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    write("package.json", {
        ...given,
        ...common,
        man: readdirSync(man).map((page) => `man/${page}`),
        optionalDependencies: Object.fromEntries(
            platforms.map((platform) => [packageName(platform), common.version]),
        ),
    });
    return out;
}

function write(name, value) {
    writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}

function pack(out) {
    mkdirSync(out, { recursive: true });
    const { status, stdout, stderr } = spawnSync("npm", ["pack", "--silent", "--pack-destination", out], {
        cwd: folder,
        encoding: "utf8",
        shell: process.platform === "win32",
    });
    if (status !== 0) throw new Error(`npm pack failed: ${stderr}`);
    console.log(join(out, stdout.trim()));
}
