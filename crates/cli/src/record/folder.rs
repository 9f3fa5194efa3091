//! The folder for a trace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure};

/// The absolute path of the `wanted` folder; without one, of a new folder called `name`, `name-2` and so on.
pub fn choose(wanted: Option<&Path>, name: &str) -> Result<PathBuf, Failure> {
    let path = match wanted {
        Some(path) if is_free(path)? => path.to_owned(),
        Some(path) => {
            let path = escape::path(path);
            return Err(Failure::new(
                exit::USAGE,
                anyhow!(
                    "cannot write to {path}, which is not an empty folder: remove it, or choose another one with -o"
                ),
            ));
        }
        None => free_one(name)?,
    };
    let path =
        std::path::absolute(&path).with_context(|| format!("cannot make the path {} absolute", escape::path(&path)))?;
    if path.to_str().is_none() {
        let path = escape::path(path);
        return Err(Failure::new(
            exit::USAGE,
            anyhow!("cannot use the path {path}, which is not UTF-8: choose another folder with -o"),
        ));
    }
    Ok(path)
}

fn free_one(name: &str) -> Result<PathBuf, Failure> {
    let mut path = PathBuf::from(name);
    for number in 2_u32.. {
        if is_free(&path)? {
            break;
        }
        path = PathBuf::from(format!("{name}-{number}"));
    }
    Ok(path)
}

/// Whether the path does not exist or is an empty folder.
fn is_free(path: &Path) -> anyhow::Result<bool> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot read the folder {}", escape::path(path))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_folders_are_not_changed() {
        let place = tempfile::tempdir().unwrap();
        let name = place.path().join("trace");
        let choose_one = || choose(None, name.to_str().unwrap()).unwrap();
        assert_eq!(choose_one(), name);
        fs::create_dir(&name).unwrap();
        assert_eq!(choose_one(), name, "an empty folder may have been created for it");
        fs::write(name.join("file"), "").unwrap();
        assert_eq!(choose_one(), place.path().join("trace-2"));
        fs::write(place.path().join("trace-2"), "").unwrap();
        assert_eq!(choose_one(), place.path().join("trace-3"));
        let refusal = choose(Some(&name), "trace").unwrap_err();
        assert_eq!((refusal.status, refusal.error.to_string().contains("not an empty folder")), (exit::USAGE, true));
    }
}
