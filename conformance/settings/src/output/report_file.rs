//! `-o` and `--report`: one rule for every binary. `FORMAT=PATH`, `PATH` whose ending is a format, or `FORMAT` alone. `-` as PATH is
//! standard output. Missing folders are made.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::did_you_mean;
use crate::output::{self, OutputError};

/// The names of a report format.
#[derive(Clone, Copy, Debug)]
pub struct FormatNames {
    /// Its name, as in `junit=PATH`.
    pub name: &'static str,
    /// The endings of its files, without the dot. The first one is that of the default file.
    pub endings: &'static [&'static str],
}

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file. Missing folders are made when it is written.
    File(PathBuf),
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// Reads an argument: the index of the format, and where the report goes. Without a path, the file is `stem` with the first ending of the
/// format.
pub fn parse(text: &str, stem: &str, formats: &[FormatNames]) -> Result<(usize, Destination), String> {
    let named = |name: &str| formats.iter().position(|format| format.name == name);
    let file = |path: &str| Destination::File(path.into());
    if text == "-" {
        return Err("standard output has no ending that names a format: write FORMAT=-".to_owned());
    }
    if let Some((name, path)) = text.split_once('=').filter(|(name, _)| is_name(name)) {
        let format = named(name).ok_or_else(|| unknown_format(name, formats))?;
        let destination = match path {
            "" => {
                let remedy = format!("write {name}=PATH, or {name}=- for standard output");
                return Err(format!("--report {name}= names no file: {remedy}"));
            }
            "-" => Destination::Stdout,
            path => file(path),
        };
        return Ok((format, destination));
    }
    if let Some(format) = named(text) {
        let ending = formats[format].endings.first().copied().unwrap_or_default();
        return Ok((format, file(&format!("{stem}.{ending}"))));
    }
    match by_ending(text, formats) {
        Some(format) => Ok((format, file(text))),
        None if is_name(text) => Err(unknown_format(text, formats)),
        None => Err(format!(
            "{text}: the ending names no report format; there are {}, or write FORMAT=PATH",
            endings(formats)
        )),
    }
}

/// Whether a text can be the name of a format: a path has a dot or a separator.
fn is_name(text: &str) -> bool {
    !text.contains(['.', '/', '\\'])
}

/// The format with the longest ending of this path, in any letter case.
fn by_ending(path: &str, formats: &[FormatNames]) -> Option<usize> {
    let path = path.to_ascii_lowercase();
    let ends = |ending: &&str| path.strip_suffix(*ending).is_some_and(|rest| rest.ends_with('.'));
    let all = (0..)
        .zip(formats)
        .flat_map(|(number, format)| format.endings.iter().map(move |ending| (number, ending)));
    all.filter(|(_, ending)| ends(ending)).max_by_key(|(_, ending)| ending.len()).map(|(number, _)| number)
}

fn unknown_format(name: &str, formats: &[FormatNames]) -> String {
    let names = || formats.iter().map(|format| format.name);
    let (hint, known) = (did_you_mean(name, names()), names().collect::<Vec<_>>().join(", "));
    format!("there is no report format `{name}`{hint}; there are {known}")
}

fn endings(formats: &[FormatNames]) -> String {
    let first = formats.iter().filter_map(|format| format.endings.first());
    let dotted: Vec<String> = first.map(|ending| format!(".{ending}")).collect();
    dotted.join(", ")
}

/// Checks that a file can be written, without changing anything. A missing folder can be made later.
pub fn check_writable(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::Error::other("this is a folder: name a file in it"));
    }
    let existing = path.ancestors().skip(1).find(|folder| folder.exists());
    if let Some(folder) = existing.filter(|folder| !folder.is_dir()) {
        return Err(io::Error::other(format!("{} is no folder", folder.display())));
    }
    // Only plain files are opened: opening a pipe could wait for a reader.
    if path.is_file() {
        File::options().append(true).open(path)?;
    }
    Ok(())
}

/// A file that is being written. A regular file is written beside its place and takes it when it is complete, so that a full disk leaves
/// neither half a file nor an empty one: the file of an earlier run stays. A link stays and the file that it names is replaced. A pipe or a
/// device is written as it is.
pub struct PendingFile {
    /// What is written.
    pub out: Box<dyn Write>,
    /// The file that is written, and its place; none where it is written as it is.
    moves: Option<(PathBuf, PathBuf)>,
}

impl PendingFile {
    /// Opens the file, and makes the folders that it needs.
    pub fn create(path: &Path) -> io::Result<Self> {
        make_folder(path)?;
        let place = followed(path);
        let earlier = fs::metadata(&place).ok();
        if earlier.as_ref().is_some_and(|earlier| !earlier.is_file()) {
            let out = File::options().write(true).open(&place)?;
            return Ok(Self::of(out, None));
        }
        if earlier.is_some() {
            // A file that may not be written may not be replaced.
            File::options().append(true).open(&place)?;
        }
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let beside = place.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let out = match File::create(&beside) {
            // The folder takes no new file.
            Err(_) if earlier.is_some() => return Ok(Self::of(File::create(&place)?, None)),
            out => out?,
        };
        if let Some(earlier) = earlier {
            fs::set_permissions(&beside, earlier.permissions())?;
        }
        Ok(Self::of(out, Some((beside, place))))
    }

    fn of(out: impl Write + 'static, moves: Option<(PathBuf, PathBuf)>) -> Self {
        let out = Box::new(BufWriter::new(out));
        Self { out, moves }
    }

    /// Writes what is buffered, and moves the file to its place.
    pub fn complete(mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some((beside, place)) = &self.moves
            && fs::rename(beside, place).is_err()
        {
            // A file that is mounted alone, as containers have it, keeps its place.
            fs::copy(beside, place)?;
        }
        Ok(())
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some((beside, _)) = &self.moves {
            // After a move it is gone.
            let _ = fs::remove_file(beside);
        }
    }
}

/// The path without links in its last part. The file need not exist.
fn followed(path: &Path) -> PathBuf {
    let mut place = path.to_owned();
    // More links than a system follows are a circle, which opening the file reports.
    for _ in 0..40 {
        let Ok(to) = fs::read_link(&place) else { break };
        place = place.parent().unwrap_or(Path::new("")).join(to);
    }
    place
}

/// Writes a file as [`PendingFile`] does, and makes the folders that it needs.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = PendingFile::create(path)?;
    file.out.write_all(text.as_bytes())?;
    file.complete()
}

/// Makes the folders that a file needs.
pub fn make_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => fs::create_dir_all(folder),
        _ => Ok(()),
    }
}

impl Destination {
    /// Opens it, for a report that is written in parts.
    pub fn open(&self) -> io::Result<PendingFile> {
        match self {
            Self::Stdout => Ok(PendingFile::of(io::stdout(), None)),
            Self::File(path) => PendingFile::create(path),
        }
    }

    /// Writes a whole report.
    pub fn write(&self, text: &str) -> io::Result<()> {
        match self {
            Self::Stdout => output::print(text).map_err(|OutputError(cause)| cause),
            Self::File(path) => write(path, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: &[FormatNames] = &[
        FormatNames { name: "json", endings: &["json"] },
        FormatNames { name: "html", endings: &["html", "htm"] },
        FormatNames { name: "har", endings: &["har"] },
        FormatNames { name: "har-all", endings: &["all.har"] },
    ];

    #[test]
    fn a_format_is_named_or_is_the_ending() {
        let file = |path: &str| Destination::File(path.into());
        for (text, format, destination) in [
            ("json=a/b", "json", file("a/b")),
            ("json=-", "json", Destination::Stdout),
            ("html=a=b.json", "html", file("a=b.json")),
            ("har", "har", file("report.har")),
            ("har-all", "har-all", file("report.all.har")),
            ("a/b.HTM", "html", file("a/b.HTM")),
            ("x.all.har", "har-all", file("x.all.har")),
            ("x.har", "har", file("x.har")),
            ("./a=b.json", "json", file("./a=b.json")),
        ] {
            let (found, requested) = parse(text, "report", FORMATS).unwrap();
            assert_eq!((FORMATS[found].name, requested), (format, destination), "{text}");
        }
    }

    /// What a folder contains.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_when_it_is_complete_and_a_part_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/report.json");
        write(&path, "first").unwrap();
        let mut pending = PendingFile::create(&path).unwrap();
        pending.out.write_all(b"half of").unwrap();
        pending.out.flush().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        drop(pending);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        write(&path, "second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(names(path.parent().unwrap()), ["report.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_devices_are_written_as_they_are() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("real.json", at("link.json")).unwrap();
        write(&at("link.json"), "through a link to nothing").unwrap();
        fs::set_permissions(at("real.json"), fs::Permissions::from_mode(0o640)).unwrap();
        write(&at("link.json"), "through a link").unwrap();
        assert!(at("link.json").is_symlink());
        assert_eq!(fs::read_to_string(at("real.json")).unwrap(), "through a link");
        let mode = fs::metadata(at("real.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        write(Path::new("/dev/null"), "x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert_eq!(names(folder.path()), ["link.json", "real.json"]);
    }

    #[test]
    fn what_names_no_format_is_refused_with_those_that_there_are() {
        for (text, words) in [
            ("jsn=x", "there is no report format `jsn` (did you mean `json`?); there are json, html"),
            ("pdf", "there is no report format `pdf`; there are"),
            ("a.pdf", "a.pdf: the ending names no report format; there are .json, .html"),
            ("json=", "names no file"),
            ("-", "FORMAT=-"),
        ] {
            let error = parse(text, "report", FORMATS).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
