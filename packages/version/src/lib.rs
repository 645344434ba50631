//! The version that the `--version` flag of every command prints.

/// Version, commit and target of this build: `0.1.0 (commit 0123456789ab, x86_64-unknown-linux-gnu)`.
///
/// A debug build has no commit, because it would have to be compiled again after every commit. A release build without git and
/// without `PAYMASTER_COMMIT` has `commit unknown`.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("PAYMASTER_BUILD"), ")");

#[cfg(test)]
mod tests {
    #[test]
    fn version_commit_and_target_are_named() {
        let (version, build) = super::BUILD.split_once(" (").unwrap();
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
        let (commit, target) = build.strip_suffix(')').unwrap().split_once(", ").unwrap();
        assert!(commit == "debug build" || commit.starts_with("commit "), "{commit}");
        assert!(target.starts_with(std::env::consts::ARCH), "{target}");
    }
}
