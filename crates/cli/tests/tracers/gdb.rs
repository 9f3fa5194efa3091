//! The raw probes in gdb, which needs no privileges.

use crate::machine::{command, stdout, turn};
use crate::programs::example;

#[test]
fn all_eleven_arguments_of_entry() {
    let Some(_turn) = turn("gdb", false) else { return };
    let folder = tempfile::tempdir().expect("a directory without old-name");
    let script = folder.path().join("script");
    let commands = r#"
set pagination off
set language c
set debuginfod enabled off
break -probe-stap dyntrace:efile_drv__entry
commands
silent
printf "argc %d: %d %d %s %d ", $_probe_argc, $_probe_arg0, $_probe_arg1, (char *)$_probe_arg2, $_probe_arg3
printf "%s %s ", (char *)$_probe_arg4, (char *)$_probe_arg5
printf "%ld %ld %ld %ld %s\n", $_probe_arg6, $_probe_arg7, $_probe_arg8, $_probe_arg9, (char *)$_probe_arg10
continue
end
run
"#;
    std::fs::write(&script, commands).expect("writing gdb's commands");
    let mut gdb = command("gdb");
    gdb.args(["-q", "-batch", "-nx", "-x"]).arg(&script).arg(example("rename_tagged")).current_dir(folder.path());
    let said = stdout(&mut gdb);
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("argc ")).collect();
    assert_eq!(lines, ["argc 11: 1 1 some-user-tag 12 old-name new-name 0 0 0 0 #Port<0.1>"], "{said}");
}

#[test]
fn every_probe_is_listed_once_with_its_semaphore() {
    let Some(_turn) = turn("gdb", false) else { return };
    let mut gdb = command("gdb");
    gdb.args(["-q", "-batch", "-nx", "-ex", "info probes stap dyntrace"]).arg(example("every_event"));
    let said = stdout(&mut gdb);
    let mut names = Vec::new();
    for line in said.lines().filter(|line| line.starts_with("stap ")) {
        let [_, _, name, place, semaphore, ..] = *line.split_whitespace().collect::<Vec<_>>() else {
            panic!("not five columns: {line}");
        };
        // The first page of a program is its header: a note that points there belongs to code that the linker dropped.
        let address = u64::from_str_radix(place.trim_start_matches("0x"), 16).expect("an address");
        assert!(address >= 0x1000 && semaphore.starts_with("0x"), "{line}");
        names.push(name.to_owned());
    }
    names.sort_unstable();
    let mut expected: Vec<&str> = dyntrace::scripts::PROVIDER_D
        .split("\n    probe ")
        .skip(1)
        .filter_map(|probe| probe.split('(').next())
        .collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
}
