//! The linker of a package, asked by its build script.

use std::env;
use std::ffi::{OsStr, OsString};
use std::process::Command;

/// Whether the linker takes `-z separate-code`. gold does not: it stops there.
pub(crate) fn takes_separate_code() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let (chosen, arguments) = of_flags(&flags);
    let is_own = || env::var_os("HOST").is_some() && env::var_os("HOST") == env::var_os("TARGET");
    match chosen.map(OsString::from).or_else(|| env::var_os("RUSTC_LINKER")) {
        Some(linker) => takes(&linker, &arguments),
        // Cargo does not say which linker rustc takes for another system. rustc's choice for this one, lld or GNU ld, takes it.
        None => arguments.is_empty() || !is_own() || takes("cc".as_ref(), &arguments),
    }
}

/// Returns the linker that the flags name, and the arguments that they give it.
fn of_flags(flags: &str) -> (Option<&str>, Vec<&str>) {
    let (mut linker, mut arguments) = (None, Vec::new());
    for flag in flags.split('\x1f') {
        let flag = flag.trim_start_matches("--codegen=").trim_start_matches("-C");
        match flag.split_once('=') {
            Some(("linker", path)) => linker = Some(path),
            Some(("link-arg", argument)) => arguments.push(argument),
            Some(("link-args", several)) => arguments.extend(several.split(' ')),
            _ => {}
        }
    }
    (linker, arguments)
}

/// Asks the linker, which tells its version or that it does not know the option. One that cannot be asked takes it.
fn takes(linker: &OsStr, arguments: &[&str]) -> bool {
    let asked = Command::new(linker).args(arguments).args(["-Wl,-z,separate-code", "-Wl,--version"]).output();
    !asked.is_ok_and(|said| {
        !said.status.success() && String::from_utf8_lossy(&said.stderr).contains("separate-code: unknown -z option")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linkers_are_those_of_the_flags() {
        let flags =
            ["-Clink-arg=-fuse-ld=gold", "-C", "linker=/usr/bin/ld", "--codegen=link-args=-a -b", "-Cdebuginfo=0"];
        let expected = (Some("/usr/bin/ld"), vec!["-fuse-ld=gold", "-a", "-b"]);
        assert_eq!(of_flags(&flags.join("\x1f")), expected);
        assert_eq!(of_flags(""), (None, vec![]));
    }

    #[test]
    fn linkers_are_asked() {
        // Each answers as the real one does.
        let folder = tempfile::tempdir().unwrap();
        let answers = [
            ("bfd", "echo GNU ld", true),
            ("gold", "echo '/usr/bin/ld.gold: separate-code: unknown -z option' >&2; exit 1", false),
            ("other", "echo 'cc: unrecognized command-line option -fuse-ld=x' >&2; exit 1", true),
        ];
        for (name, answer, expected) in answers {
            let linker = folder.path().join(name);
            std::fs::write(&linker, answer).unwrap();
            assert_eq!(takes("sh".as_ref(), &[linker.to_str().unwrap()]), expected, "{name}");
        }
        assert!(takes("/no/linker".as_ref(), &[]));
    }
}
