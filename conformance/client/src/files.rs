//! Files that a user names: each is read up to a limit, because a device such as `/dev/zero` has no end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a file that a person writes: a configuration, a list, certificates.
pub const WRITTEN_BY_HAND: u64 = 16 * 1024 * 1024;
/// The most bytes of a file that a run writes: a report.
pub const WRITTEN_BY_A_RUN: u64 = 512 * 1024 * 1024;

/// Reads a whole file.
///
/// # Errors
///
/// When it cannot be read, or has more than `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => {
            io::Error::new(cause.kind(), "there is no such file; a path counts from the current folder")
        }
        _ => cause,
    })?;
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let cause = format!("the file has more than {} MiB: is it the right one?", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, cause));
    }
    Ok(bytes)
}

/// Reads a whole text file.
///
/// # Errors
///
/// As [`read`], and when the file is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|cause| io::Error::new(io::ErrorKind::InvalidData, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_without_end_is_an_error() {
        let cause = read_text(Path::new("/dev/zero"), WRITTEN_BY_HAND).unwrap_err();
        assert_eq!(cause.to_string(), "the file has more than 16 MiB: is it the right one?");
        assert_eq!(read(Path::new("/dev/null"), 0).unwrap(), b"");
        let cause = read(Path::new("gone.toml"), WRITTEN_BY_HAND).unwrap_err();
        assert_eq!(cause.kind(), io::ErrorKind::NotFound);
        assert!(cause.to_string().contains("there is no such file"), "{cause}");
    }
}
