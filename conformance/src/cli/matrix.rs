//! `matrix REPORT...`: one page for several implementations, and a badge for each.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::cli::{args::MatrixArgs, out};
use crate::report::{
    badge,
    matrix::{self, Column},
    recorded::Recorded,
};
use paymaster_cli::exit;

/// Runs the command; gives the exit code.
pub(crate) fn run(args: &MatrixArgs) -> Result<u8, String> {
    let mut columns = Vec::new();
    let mut trouble = Vec::new();
    for path in &args.reports {
        match Recorded::read(path) {
            Ok(run) => columns.push(Column {
                name: name(path, &args.reports),
                run,
            }),
            Err(cause) => trouble.push(cause),
        }
    }
    if let Some(last) = trouble.pop() {
        for cause in &trouble {
            out::error(cause);
        }
        return Err(last);
    }
    write(&args.output, &matrix::page(&columns))?;
    let folder = match &args.badges {
        Some(folder) => folder.clone(),
        None => args.output.parent().map(Path::to_owned).unwrap_or_default(),
    };
    if !folder.as_os_str().is_empty() {
        fs::create_dir_all(&folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
    }
    let mut text = format!("wrote {}\n", args.output.display());
    for column in &columns {
        let path = folder.join(matrix::file(&column.name));
        match badge::svg(&column.run) {
            Ok(badge) => {
                write(&path, &badge)?;
                text = format!("{text}wrote {}\n", path.display());
            }
            Err(why) => {
                text = format!("{text}no badge for {}: {why}\n", column.name);
                // The badge of an earlier run would be read as the verdict on this one.
                if path.exists() {
                    fs::remove_file(&path).map_err(|cause| format!("{}: {cause}", path.display()))?;
                    text = format!("{text}removed {}\n", path.display());
                }
            }
        }
    }
    out::print(&text)?;
    Ok(exit::CONFORMS)
}

/// The name of a report: its file's, with the folder's where two would have the same, with its place where that is not enough.
fn name(path: &Path, all: &[PathBuf]) -> String {
    let stem = |path: &Path| {
        path.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let long = |path: &Path| {
        let folder = path.parent().and_then(Path::file_name);
        folder.map_or_else(
            || stem(path),
            |folder| format!("{}-{}", folder.to_string_lossy(), stem(path)),
        )
    };
    let alone = |name: &dyn Fn(&Path) -> String| {
        let same = all
            .iter()
            .filter(|other| matrix::file(&name(other)) == matrix::file(&name(path)));
        (same.count() == 1).then(|| name(path))
    };
    alone(&stem).or_else(|| alone(&long)).unwrap_or_else(|| {
        let place = all.iter().position(|other| other == path).unwrap_or_default();
        format!("{}-{}", long(path), place + 1)
    })
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|cause| format!("{} could not be written: {cause}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_names_of_their_own() {
        let all: Vec<PathBuf> = ["a.json", "x/b.json", "y/b.json", "z/c.json", "w/z/c.json"]
            .map(PathBuf::from)
            .to_vec();
        let names: Vec<String> = all.iter().map(|path| name(path, &all)).collect();
        assert_eq!(names, ["a", "x-b", "y-b", "z-c-4", "z-c-5"]);
    }
}
