//! The configuration file as reports refer to it: its path, and the lines of its tables and values.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use paymaster_client::files;

/// A configuration file that was read. Its text may have secrets, so only line numbers leave this type.
#[derive(Clone)]
pub struct ProfileFile {
    /// The path as the user gave it.
    pub shown: String,
    /// The path from the root of the user's repository, with `/` between its parts; none where the file is in no repository.
    pub in_repository: Option<String>,
    text: String,
}

impl ProfileFile {
    /// The file at a path; none where it cannot be read any more.
    pub fn read(path: &Path) -> Option<Self> {
        let text = files::read_text(path, files::WRITTEN_BY_HAND).ok()?;
        Some(Self { in_repository: in_repository(path), ..Self::new(path, text) })
    }

    /// A file with that text. Without a look at the disk, a relative path is taken as one from the root of the repository.
    pub fn new(path: &Path, text: String) -> Self {
        Self { shown: path.display().to_string(), in_repository: relative(path), text }
    }

    /// The first line, from 1, that has this text as a whole quoted value, in any letter case. Comments do not count.
    pub fn line_with(&self, value: &str) -> Option<usize> {
        let value = value.to_lowercase();
        self.line(|line| {
            let line = line.to_lowercase();
            ['"', '\''].iter().any(|quote| line.contains(&format!("{quote}{value}{quote}")))
        })
    }

    /// The line, from 1, at which a table begins.
    pub fn line_of_table(&self, name: &str) -> Option<usize> {
        self.line(|line| line.trim() == format!("[{name}]"))
    }

    fn line(&self, wanted: impl Fn(&str) -> bool) -> Option<usize> {
        let mut lines = self.text.lines();
        let place = lines.position(|line| !line.trim_start().starts_with('#') && wanted(line))?;
        Some(place + 1)
    }
}

impl fmt::Debug for ProfileFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProfileFile").field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// The path from the folder that has `.git`; else from the working folder.
fn in_repository(path: &Path) -> Option<String> {
    let whole = path.canonicalize().ok()?;
    let root = whole.ancestors().find(|folder| folder.join(".git").exists());
    let working = || std::env::current_dir().and_then(|folder| folder.canonicalize()).ok();
    let root: PathBuf = root.map(Path::to_owned).or_else(working)?;
    relative(whole.strip_prefix(root).ok()?)
}

/// The parts of a relative path that stays below its beginning, joined by `/`.
fn relative(path: &Path) -> Option<String> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let names: Option<Vec<&str>> =
        parts.map(|part| if let Component::Normal(name) = part { name.to_str() } else { None }).collect();
    names.map(|names| names.join("/"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn values_and_tables_have_lines() {
        let text = "# \"0xAB\"\n[target]\nurl = \"http://h/\"\n[tokens]\nsupported = [\"0xab\"]\n";
        let file = ProfileFile::new(Path::new("./a/paymaster.toml"), text.to_owned());
        assert_eq!(file.line_with("0xAb"), Some(5));
        assert_eq!(file.line_with("0xa"), None);
        assert_eq!(file.line_of_table("target"), Some(2));
        assert_eq!(file.in_repository.as_deref(), Some("a/paymaster.toml"));
        assert!(!format!("{file:?}").contains("http"), "{file:?}");
    }

    #[test]
    fn a_path_starts_at_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let (root, inner) = (folder.path().join("repository"), folder.path().join("repository/a/b"));
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("p.toml"), "").unwrap();
        let file = ProfileFile::read(&inner.join("p.toml")).unwrap();
        assert_eq!(file.in_repository.as_deref(), Some("a/b/p.toml"));
        fs::write(folder.path().join("p.toml"), "").unwrap();
        let outside = ProfileFile::read(&folder.path().join("p.toml")).unwrap();
        assert_eq!(outside.in_repository, None);
        assert!(ProfileFile::read(&folder.path().join("q.toml")).is_none());
    }
}
