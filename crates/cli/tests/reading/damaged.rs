//! Damaged traces: sound parts are shown, damage is reported, also by the exit status. Files made from a trace are no more readable than
//! the trace.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use crate::writer::{Arg, HEADER, SUB_BUFFER, Writer, fired, returned};
use crate::{dyntrace, made};

fn write(folder: &Path) -> Writer {
    let writer = Writer::new(folder);
    let events: Vec<_> = (0..3000).map(|time| returned(time, 1, 1, "a secret tag", 1, 0)).collect();
    writer.ring("ring-1", 7, &events);
    writer
}

#[test]
fn the_rest_is_shown_and_the_exit_status_tells() {
    let folder = tempfile::tempdir().unwrap();
    let writer = write(&folder.path().join("trace"));
    let view = |options: &[&str]| dyntrace([&["view", writer.folder.to_str().unwrap()], options].concat());
    let lines = |text: &[u8]| String::from_utf8_lossy(text).lines().count();
    assert_eq!((view(&["--json"]).status.code(), lines(&view(&["--json"]).stdout)), (Some(0), 3000));

    let path = writer.folder.join("ring-1");
    let mut bytes = fs::read(&path).unwrap();
    bytes[SUB_BUFFER + HEADER..][..2].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    for options in [&["--json"][..], &["--csv"], &[]] {
        let viewed = view(options);
        let said = String::from_utf8_lossy(&viewed.stderr).into_owned();
        assert_eq!(viewed.status.code(), Some(4), "{said}");
        let place = format!("ring-1 at byte {}: the metadata knows no event 65535", SUB_BUFFER + HEADER);
        assert!(said.contains(&place) && said.contains("bytes were skipped"), "{said}");
        let shown = lines(&viewed.stdout);
        assert!((2000..2700).contains(&shown), "{shown}: those before and behind, not those of the packet");
    }
    made("report", &[&writer.folder], &[], &folder.path().join("page.html"), 4);
    assert!(fs::read_to_string(folder.path().join("page.html")).unwrap().contains("bytes were skipped"));
    made("convert", &[&writer.folder], &["--to", "perfetto"], &folder.path().join("perfetto"), 4);
    made("convert", &[&writer.folder], &["--to", "parquet"], &folder.path().join("tables"), 4);
    made("convert", &[&writer.folder], &["--to", "otlp"], &folder.path().join("spans"), 4);
    made("convert", &[&writer.folder], &["--to", "csv"], &folder.path().join("csv"), 4);
    made("convert", &[&writer.folder], &["--to", "ctf1.8"], &folder.path().join("ctf1"), 4);
    made("convert", &[&writer.folder], &["--to", "ctf2"], &folder.path().join("ctf2"), 4);
    let rows = fs::read(folder.path().join("csv/dyntrace.efile_drv-return.csv")).unwrap();
    assert_eq!(rows, view(&["--csv", "--probe", "efile_drv-return"]).stdout);
    let recovered = dyntrace(
        ["recover", writer.folder.to_str().unwrap(), "--json", "-o"].into_iter().chain([folder
            .path()
            .join("recovered")
            .to_str()
            .unwrap()]),
    );
    assert_eq!(recovered.status.code(), Some(4), "{recovered:?}");
}

#[test]
fn the_other_processes_are_recovered_and_the_exit_status_tells() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let processes = ["a-11", "b-12", "c-13"].map(|process| write(&trace.join(process)).folder);
    fs::write(processes[1].join("metadata"), "no metadata").unwrap();
    let run = |arguments: &[&str]| dyntrace([arguments, &["-o", folder.path().join("out").to_str().unwrap()]].concat());
    for command in [&["recover", trace.to_str().unwrap()][..], &["convert", trace.to_str().unwrap(), "--to", "ctf2"]] {
        let made = run(command);
        let said = String::from_utf8_lossy(&made.stderr).into_owned();
        assert_eq!(made.status.code(), Some(4), "{said}");
        assert_eq!(said.matches("b-12/metadata at byte 0: ").count(), 1, "{said}");
        let copied = dyntrace(["view", folder.path().join("out").to_str().unwrap(), "--json"]);
        assert_eq!(String::from_utf8_lossy(&copied.stdout).lines().count(), 6000);
        fs::remove_dir_all(folder.path().join("out")).unwrap();
    }
    for of in [&processes[0], &processes[2]] {
        fs::remove_dir_all(of).unwrap();
    }
    let none = run(&["recover", trace.to_str().unwrap()]);
    assert_eq!(none.status.code(), Some(66), "{none:?}");
}

/// Every command that reads a trace, with its output in `folder`.
fn readers<'a>(trace: &'a str, folder: &Path) -> Vec<Vec<String>> {
    let out = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let words = |words: &[&'a str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let convert = |format: &'a str| [words(&["convert", trace, "--to", format, "-o"]), vec![out(format)]].concat();
    let whole = words(&["convert", trace, "--to", "parquet", "--partition", "host,date,hour", "--final", "-o"]);
    let mut readers = vec![
        words(&["view", trace]),
        words(&["view", "--slowest=3", trace]),
        words(&["top", "-r", trace, "--once"]),
        words(&["diff", trace, trace]),
        [words(&["report", trace, "-o"]), vec![out("page.html")]].concat(),
        [words(&["recover", trace, "-o"]), vec![out("recovered")]].concat(),
        [whole, vec![out("fleet")]].concat(),
    ];
    readers.extend(["perfetto", "parquet", "csv", "otlp", "ctf2"].map(convert));
    readers
}

#[test]
fn a_trace_without_an_event_is_unknown_unless_its_recording_was_ended() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let writer = Writer::new(&trace);
    for (status, why) in [(5, "the recording was not ended, so it is not known"), (0, "the program fired no probe")] {
        for arguments in readers(trace.to_str().unwrap(), &folder.path().join(status.to_string())) {
            fs::create_dir_all(folder.path().join(status.to_string())).unwrap();
            let ran = dyntrace(&arguments);
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert_eq!(ran.status.code(), Some(status), "{arguments:?}: {said}");
            assert!(said.contains(&format!(" has no event: {why}")), "{arguments:?}: {said}");
        }
        writer.process(&[fired("recorder:end", 1, [Arg::U(0)])]);
    }
}

/// Another user may have put them there. A reader of a pipe without a writer would wait.
#[test]
fn pipes_and_links_in_a_trace_are_damage_and_hold_up_no_command() {
    let folder = tempfile::tempdir().unwrap();
    let trace = write(&folder.path().join("trace")).folder;
    std::os::unix::fs::symlink("ring-1", trace.join("ring-2")).unwrap();
    nix::unistd::mkfifo(&trace.join("ring-3"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let trace = trace.to_str().unwrap();
    for arguments in readers(trace, folder.path()) {
        let ran = dyntrace(&arguments);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(4), "{arguments:?}: {said}");
        assert!(
            ["ring-2 at byte 0", "ring-3 at byte 0"].iter().all(|file| said.contains(file)),
            "{arguments:?}: {said}"
        );
    }
    // In place of the trace itself, and of other files that a user names.
    let pipe = folder.path().join("trace/ring-3");
    let pipe = pipe.to_str().unwrap();
    for arguments in readers(pipe, &folder.path().join("none")) {
        assert_eq!(dyntrace(&arguments).status.code(), Some(66), "{arguments:?}");
    }
    for (arguments, status) in [
        (&["list", pipe][..], 1),
        (&["doctor", pipe], 1),
        (&["ps", "--dead", pipe], 1),
        (&["ps", "--core", pipe, "--exe", pipe], 1),
        (&["clocks", folder.path().to_str().unwrap(), "--ntp", pipe], 66),
    ] {
        let ran = dyntrace(arguments);
        assert_eq!(ran.status.code(), Some(status), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn an_output_that_is_a_link_is_written_where_the_link_leads() {
    let folder = tempfile::tempdir().unwrap();
    let trace = write(&folder.path().join("trace")).folder;
    let (link, file) = (folder.path().join("link"), folder.path().join("file"));
    std::os::unix::fs::symlink("file", &link).unwrap();
    let trace = trace.to_str().unwrap();
    for command in [
        &["report", trace, "-o"][..],
        &["diff", trace, trace, "--html"],
        &["convert", trace, "--to", "perfetto", "-o"],
        &["convert", trace, "--to", "otlp", "-o"],
        &["convert", trace, "--to", "csv", "-o"],
        &["convert", trace, "--to", "parquet", "-o"],
        &["convert", trace, "--to", "ctf2", "-o"],
    ] {
        let is_of_a_folder = ["csv", "parquet", "ctf2"].iter().any(|format| command.contains(format));
        let run = || dyntrace([command, &[link.to_str().unwrap()]].concat());
        let refused = run();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{command:?}: {said}");
        assert!(command.contains(&"ctf2") || said.contains("it is a symbolic link to \"file\""), "{command:?}: {said}");
        assert!(!file.exists() && link.is_symlink(), "{command:?}");
        if is_of_a_folder {
            continue;
        }
        fs::write(&file, "old").unwrap();
        let made = run();
        assert_eq!(made.status.code(), Some(0), "{command:?}: {made:?}");
        assert!(fs::read(&file).unwrap() != b"old" && link.is_symlink(), "{command:?}");
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn outputs_are_as_private_as_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let writer = write(&folder.path().join("trace"));
    for file in ["metadata", "ring-1"] {
        fs::set_permissions(writer.folder.join(file), Permissions::from_mode(0o600)).unwrap();
    }
    let [page, there, perfetto, spans, tables, csv, recovered] =
        ["page.html", "there.html", "perfetto", "spans", "tables", "csv", "recovered"]
            .map(|name| folder.path().join(name));
    fs::write(&there, "old").unwrap();
    fs::set_permissions(&there, Permissions::from_mode(0o666)).unwrap();
    made("report", &[&writer.folder], &[], &page, 0);
    made("report", &[&writer.folder], &[], &there, 0);
    made("convert", &[&writer.folder], &["--to", "perfetto"], &perfetto, 0);
    made("convert", &[&writer.folder], &["--to", "parquet"], &tables, 0);
    made("convert", &[&writer.folder], &["--to", "otlp"], &spans, 0);
    made("convert", &[&writer.folder], &["--to", "csv"], &csv, 0);
    let arguments = ["recover", writer.folder.to_str().unwrap(), "-o", recovered.to_str().unwrap()];
    assert_eq!(dyntrace(arguments).status.code(), Some(0));
    let rows = csv.join("dyntrace.efile_drv-return.csv");
    let inside =
        [tables.join("events.parquet"), tables.join("operations.parquet"), rows, csv, recovered.join("ring-1")];
    for path in [page, there.clone(), perfetto, spans, tables, recovered.clone(), recovered.join("metadata")]
        .iter()
        .chain(&inside)
    {
        let mode = fs::metadata(path).unwrap().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
    assert!(fs::read(&there).unwrap().len() > 1000, "the page is there, not what was there before");
}
