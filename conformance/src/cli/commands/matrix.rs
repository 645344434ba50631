//! `matrix REPORT...`: one page for several implementations, and a badge for each.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::{CommandError, MatrixArgs, at, printed};
use crate::report::Report;
use crate::report::comparison::matrix::{self, Column};
use paymaster_settings::output::{self, report_file};

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &MatrixArgs) -> Result<u8, CommandError> {
    let mut columns = Vec::new();
    let mut errors = Vec::new();
    for path in &args.reports {
        match Report::read(path) {
            Ok(run) => columns.push(Column { name: name(path, &args.reports), run }),
            Err(cause) => errors.push(cause),
        }
    }
    if let Some(last) = errors.pop() {
        for cause in &errors {
            output::error(cause);
        }
        return Err(last.into());
    }
    for pair in columns.windows(2) {
        pair[0].run.compared_with(&pair[1].run)?;
    }
    let is_markdown = args.output.extension().is_some_and(|extension| extension == "md");
    let page = if is_markdown { matrix::text(&columns) } else { matrix::page(&columns) };
    report_file::write(&args.output, &page).map_err(at(&args.output))?;
    let folder = args.badges.as_deref().or(args.output.parent()).unwrap_or(Path::new(""));
    let mut text = format!("wrote {}\n", args.output.display());
    for column in columns.iter().filter(|_| !is_markdown) {
        let path = folder.join(matrix::file(&column.name));
        match matrix::badge(&column.run) {
            Ok(badge) => {
                report_file::write(&path, &badge).map_err(at(&path))?;
                text = format!("{text}wrote {}\n", path.display());
            }
            Err(why) => {
                text = format!("{text}no badge for {}: {why}\n", column.name);
                // A badge of an earlier run would show a wrong verdict for this one.
                if path.exists() {
                    fs::remove_file(&path).map_err(at(&path))?;
                    text = format!("{text}removed {}\n", path.display());
                }
            }
        }
    }
    printed(&text)
}

/// The name of a report: the name of its file; with the name of its folder, and then with its number, where that is not unique.
fn name(path: &Path, all: &[PathBuf]) -> String {
    let stem =
        |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let long = |path: &Path| {
        let folder = path.parent().and_then(Path::file_name);
        folder.map_or_else(|| stem(path), |folder| format!("{}-{}", folder.to_string_lossy(), stem(path)))
    };
    let unique = |name: &dyn Fn(&Path) -> String| {
        let same = all.iter().filter(|other| matrix::file(&name(other)) == matrix::file(&name(path)));
        (same.count() == 1).then(|| name(path))
    };
    unique(&stem).or_else(|| unique(&long)).unwrap_or_else(|| {
        let place = all.iter().position(|other| other == path).unwrap_or_default();
        format!("{}-{}", long(path), place + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_names_are_unique() {
        let all: Vec<PathBuf> =
            ["a.json", "x/b.json", "y/b.json", "z/c.json", "w/z/c.json"].map(PathBuf::from).to_vec();
        let names: Vec<String> = all.iter().map(|path| name(path, &all)).collect();
        assert_eq!(names, ["a", "x-b", "y-b", "z-c-4", "z-c-5"]);
    }
}
