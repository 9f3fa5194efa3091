//! The shipped scripts agree with each other and with their sources.
//!
//! `DYNTRACE_BLESS=1 cargo test --test scripts` updates the maps made from `efile::Command` and the system's errors.

use std::fs;
use std::path::PathBuf;

use dyntrace::efile::Command;

const NAMES: [&str; 14] = [
    "aio_pool", "blocking_pool", "dist", "efile_by_tag", "efile_drv", "efile_errors", "efile_latency",
    "message_latency", "messages", "process-scheduling", "spawn-exit", "task_latency", "task_waits", "user-probe",
];
const LANGUAGES: [(&str, &str); 3] = [("d-scripts", "d"), ("stap-scripts", "stp"), ("bt-scripts", "bt")];

fn path(folder: &str, file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), folder, file].iter().collect()
}

fn read(path: &PathBuf) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("reading {}: {error}", path.display()))
}

fn script(name: &str, (folder, extension): (&str, &str)) -> String {
    read(&path(folder, &format!("{name}.{extension}")))
}

/// Compares a map in all scripts with its source.
fn check_map(name: &str, source: &str, map: impl Fn(&str) -> String) {
    let begin = format!("\t/* {name}: made from {source} by tests/scripts.rs */\n");
    let end = format!("\t/* end of {name} */\n");
    for script in NAMES {
        for (folder, extension) in LANGUAGES {
            let path = path(folder, &format!("{script}.{extension}"));
            let text = read(&path);
            let Some((before, rest)) = text.split_once(&begin) else { continue };
            let (written, after) = rest.split_once(&end).expect("the map's last comment");
            let map = map(extension);
            if written == map {
                continue;
            }
            assert!(
                std::env::var_os("DYNTRACE_BLESS").is_some(),
                "the {name} of {} is not that of {source}: DYNTRACE_BLESS=1 rewrites it",
                path.display()
            );
            fs::write(&path, format!("{before}{begin}{map}{end}{after}")).expect("writing the script");
        }
    }
}

/// Returns the prefix of bpftrace's maps.
fn sigil(extension: &str) -> &'static str {
    if extension == "bt" { "@" } else { "" }
}

#[test]
fn op_maps_are_those_of_the_file_driver() {
    check_map("op map", "efile::Command", |extension| {
        let line = |command: &Command| {
            format!("\t{}op_map[{}] = \"{}\";\n", sigil(extension), command.number(), command.name())
        };
        Command::ALL.iter().map(line).collect()
    });
}

#[cfg(target_os = "linux")]
macro_rules! errors {
    ($($name:ident)+) => { [$((stringify!($name), libc::$name)),+] };
}

/// The errors of file operations that every system has. SystemTap and bpftrace run on Linux only and get the numbers; DTrace knows the
/// errors of its system by name.
#[cfg(target_os = "linux")]
#[test]
fn errno_maps_are_those_of_the_system() {
    let errors = errors! {
        EPERM ENOENT EINTR EIO ENXIO E2BIG EBADF EAGAIN ENOMEM EACCES EFAULT EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL
        ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS
        ENOTEMPTY ELOOP EOVERFLOW EILSEQ EOPNOTSUPP ETIMEDOUT ESTALE EDQUOT ECANCELED
    };
    check_map("errno map", "the system's numbers", |extension| {
        let line = |(name, number): &(&str, i32)| {
            let number = if extension == "d" { (*name).to_owned() } else { number.to_string() };
            format!("\t{}errno_map[{number}] = \"{name}\";\n", sigil(extension))
        };
        // On some systems ENOTSUP has a number of its own. On others, the later assignment wins.
        let own = |error: &(&str, i32)| {
            if extension == "d" && error.0 == "EOPNOTSUPP" { line(&("ENOTSUP", libc::ENOTSUP)) } else { String::new() }
        };
        errors.iter().map(|error| own(error) + &line(error)).collect()
    });
}

/// The names of the two errors of unsupported operations in `efile_errors.d`, with each system's numbers.
#[test]
fn unsupported_errors_have_a_name_on_every_system() {
    let text = script("efile_errors", LANGUAGES[0]);
    let assigned: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("errno_map[")?.split_once(']'))
        .map(|(name, _)| name)
        .collect();
    for (system, enotsup, eopnotsupp) in
        [("Linux", 95, 95), ("macOS", 45, 102), ("illumos", 48, 122), ("FreeBSD", 45, 45)]
    {
        let names_of = |number| {
            let numbers = [("ENOTSUP", enotsup), ("EOPNOTSUPP", eopnotsupp)];
            let has_number = |name: &&str| numbers.contains(&(*name, number));
            assigned.iter().copied().rfind(has_number)
        };
        assert_eq!(names_of(eopnotsupp), Some("EOPNOTSUPP"), "{system}");
        assert_eq!(names_of(enotsup), Some(if enotsup == eopnotsupp { "EOPNOTSUPP" } else { "ENOTSUP" }), "{system}");
    }
}

/// Returns the format strings of a script, in order. `%ld` is `%d` in bpftrace, and `%@d` an aggregation's `%d` in DTrace.
fn formats(text: &str) -> Vec<String> {
    text.replace("printa(\"", "printf(\"")
        .split("printf(\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap_or_default().replace("%@", "%").replace("ld", "d"))
        .collect()
}

#[test]
fn a_script_prints_the_same_in_every_language() {
    for name in NAMES {
        let [d, stap, mut bt] = LANGUAGES.map(|language| formats(&script(name, language)));
        // Only dyntrace run reads these lines of efile_by_tag.
        bt.retain(|format| !format.starts_with("+ "));
        assert!(!d.is_empty(), "{name} prints nothing");
        assert_eq!(stap, bt, "{name}.stp and {name}.bt");
        // Where DTrace cannot read a number, it prints a question mark.
        let of_strings = |formats: Vec<String>| formats.join("").replace("%d", "%s");
        assert_eq!(of_strings(d), of_strings(stap), "{name}.d and {name}.stp");
    }
}

#[test]
fn a_script_explains_itself() {
    for name in NAMES {
        for language in LANGUAGES {
            let text = script(name, language);
            let header = text.split(" */").next().unwrap_or_default();
            for part in ["USAGE", "FIELDS", "CAVEATS"] {
                assert!(header.contains(part), "{name}.{} has no {part}", language.1);
            }
            let example = read(&path(language.0, &format!("{name}_example.txt")));
            assert!(example.contains("\n# "), "{name}_example.txt shows no run");
        }
    }
}

/// DTrace refuses a typed `args[N]` where the provider is a wildcard, even in a branch that is never taken.
#[test]
fn a_script_in_d_works_for_one_process_and_for_any() {
    let probes = read(&path("", "provider.d")).replace("__", "-");
    for name in NAMES {
        let text = script(name, LANGUAGES[0]);
        let (comments, code): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with("/*") || line.starts_with(" *"));
        assert!(!comments.is_empty());
        assert!(!code.iter().any(|line| line.contains("args[")), "{name}.d uses the types of arguments");
        let clauses = code.iter().filter_map(|line| line.strip_prefix("dyntrace$target:::"));
        let mut names = clauses.map(|probe| probe.trim_end_matches(',')).peekable();
        assert!(names.peek().is_some(), "{name}.d has no clause");
        for probe in names {
            assert!(probes.contains(&format!("probe {probe}(")), "{name}.d: {probe}");
        }
    }
}

#[cfg(feature = "scripts")]
#[test]
fn the_embedded_scripts_are_all_of_them() {
    let embedded: Vec<_> = dyntrace::scripts::ALL.iter().map(|script| script.name).collect();
    assert_eq!(embedded, NAMES);
    for name in NAMES {
        let embedded = dyntrace::scripts::find(name).expect("a script of the list");
        assert_eq!(
            [embedded.d, embedded.stap, embedded.bt].map(str::to_owned),
            LANGUAGES.map(|language| script(name, language))
        );
    }
    assert_eq!(dyntrace::scripts::find("no-such-script"), None);
}

/// An array with `%` forgets its oldest key for a new one, in silence.
#[test]
fn entries_that_systemtap_drops_are_counted() {
    for name in NAMES {
        let text = script(name, LANGUAGES[1]);
        let wraps = text.contains("%[16384]");
        let counts =
            text.contains("= one_more(") && text.contains("if (lost) warn(\"lost \" . sprint(lost) . \" events: ");
        assert_eq!(wraps, counts, "{name}");
    }
}
