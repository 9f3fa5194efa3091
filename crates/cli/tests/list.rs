//! `dyntrace list` and `dyntrace doctor` on this test's own program, which has probes, and on files that are no programs.
#![cfg(target_os = "linux")]

#[path = "common/page.rs"]
mod page;

use std::env;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Output};

use dyntrace::probes::efile_drv;
use serde_json::Value;

fn dyntrace(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dyntrace")).args(arguments).output().unwrap()
}

/// This program, into which the call makes the linker put the probe.
fn program() -> String {
    efile_drv::int_entry(|| (1, 2, 3));
    env::current_exe().unwrap().to_str().unwrap().to_owned()
}

fn error(output: &Output) -> String {
    assert!(!output.stderr.is_empty());
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_probe_with_the_names_and_types_of_its_arguments() {
    let output = dyntrace(&["list", &program()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("  dyntrace:efile_drv-int_entry(int thread_id, int tag, int command)\n    site 0x"),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "colours are for terminals: {text}");
    assert_eq!(output.status.code(), Some(0));
}

/// As wild before 0.7 links a program with probes.
#[test]
fn a_linker_that_leaves_out_notes_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (comment, file) = (folder.path().join("comment"), folder.path().join("program"));
    fs::write(&comment, b"GCC: (Debian) 12\0Linker: Wild version 0.6.0\0").unwrap();
    let update = format!(".comment={}", comment.display());
    let mut objcopy = Command::new("objcopy");
    objcopy
        .args(["--remove-section", ".note.stapsdt", "--update-section", &update])
        .args([Path::new(&program()), &file]);
    assert!(objcopy.status().unwrap().success());
    let file = file.to_str().unwrap();
    let listed = dyntrace(&["list", file]);
    assert_eq!(listed.status.code(), Some(65));
    assert!(error(&listed).contains("it was linked by wild"), "{}", error(&listed));
    let checked = dyntrace(&["doctor", file]);
    assert!(String::from_utf8(checked.stdout).unwrap().contains("it was linked by wild"));
}

#[test]
fn the_same_in_json_and_in_a_process() {
    let probe = |arguments: &[&str]| -> (Value, Value) {
        let listed: Value = serde_json::from_slice(&dyntrace(arguments).stdout).unwrap();
        let probes = listed[0]["probes"].as_array().unwrap();
        (
            probes.iter().find(|probe| probe["name"] == "efile_drv__int_entry").unwrap().clone(),
            listed[0]["moved_by"].clone(),
        )
    };
    let (of_file, unmoved) = probe(&["list", "--json", &program()]);
    assert_eq!(of_file["arguments"][1], serde_json::json!({"name": "tag", "type": "int"}));
    assert!(of_file["sites"][0]["operands"][0].as_str().unwrap().starts_with("-4@"));
    assert!(unmoved.is_null());

    let (of_process, moved_by) = probe(&["list", "--json", "-p", &std::process::id().to_string()]);
    assert_eq!(of_process, of_file);
    let site = moved_by.as_u64().unwrap() + of_file["sites"][0]["address"].as_u64().unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let of_site = |line: &&str| {
        let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        (u64::from_str_radix(start, 16).unwrap()..u64::from_str_radix(end, 16).unwrap()).contains(&site)
    };
    assert!(maps.lines().find(of_site).unwrap().contains(" r-xp "), "{site:x} is not in code:\n{maps}");
}

#[test]
fn the_page_has_the_fields() {
    let own = std::process::id().to_string();
    let program = program();
    let subjects: [&[&str]; 3] = [&[&program], &["-p", &own], &["/bin/true"]];
    for (command, subjects) in [("list", &subjects[..2]), ("doctor", &subjects)] {
        let mut fields = page::Fields::new(&[]);
        for subject in subjects {
            fields.add(&serde_json::from_slice(&dyntrace(&[&[command, "--json"], *subject].concat()).stdout).unwrap());
        }
        fields.are_those_below(&format!("dyntrace {command} --json"));
    }
}

#[test]
fn another_definition_of_the_provider() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.d");
    fs::write(&file, "provider dyntrace { probe efile_drv__int_entry(int a, int b, int c); };").unwrap();
    let output = dyntrace(&["list", "--provider", file.to_str().unwrap(), &program()]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("efile_drv-int_entry(int a, int b, int c)"));

    fs::write(&file, "provider dyntrace { probe }").unwrap();
    let output = dyntrace(&["list", "--provider", file.to_str().unwrap(), &program()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error(&output).contains("mine.d:1:"), "{output:?}");
}

#[test]
fn files_that_are_no_programs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for (contents, what) in [
        (&b""[..], "not an ELF file"),
        (b"#!/bin/sh", "not an ELF file"),
        (b"\x7fELF\x02\x01\x01 and then text", "damaged ELF file"),
    ] {
        fs::write(&file, contents).unwrap();
        for command in ["list", "doctor"] {
            let output = dyntrace(&[command, file.to_str().unwrap()]);
            assert_eq!(output.status.code(), Some(1), "{output:?}");
            assert!(error(&output).contains(what), "{output:?}");
        }
    }
    assert!(error(&dyntrace(&["list", "/"])).contains("not a regular file"));
    assert!(error(&dyntrace(&["list", "/nonexistent"])).contains("No such file"));
    assert_eq!(dyntrace(&["list", "/bin/true"]).status.code(), Some(65));
    assert_eq!(dyntrace(&["list"]).status.code(), Some(2));
}

#[test]
fn a_reader_that_has_read_enough() {
    for arguments in [&["list", &program()][..], &["doctor"], &["completions", "zsh"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_dyntrace")).args(arguments).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{output:?}");
    }
}

/// A name that would clear the screen.
#[test]
fn the_name_of_a_file_cannot_drive_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(Path::new(std::ffi::OsStr::from_bytes(b"\x1b[2J\xff")));
    fs::copy(program(), &file).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dyntrace")).arg("list").arg(&file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().next().unwrap().ends_with(r"/\x1b[2J\xff:"), "{text}");
}

#[test]
fn doctor_tells_a_sound_program_from_one_without_probes() {
    let findings = |binary: &str| -> (Vec<Value>, Option<i32>) {
        let output = dyntrace(&["doctor", "--json", binary]);
        (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
    };
    let status = |findings: &[Value], topic: &str| {
        findings.iter().find(|finding| finding["topic"] == topic).map(|finding| finding["status"].clone())
    };
    let (sound, _) = findings(&program());
    for topic in ["notes", "arguments", "base", "sites", "semaphores"] {
        assert_eq!(status(&sound, topic), Some("ok".into()), "{topic}: {sound:#?}");
    }
    #[cfg(target_os = "linux")]
    assert!(status(&sound, "tasks").is_some());
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        let hits = sound.iter().find(|finding| finding["topic"] == "hits").expect("a finding about hits");
        assert!(hits["text"].as_str().unwrap().contains(" sites of a nop and a 10-byte nop: int3, emulated"), "{hits}");
    }
    assert_eq!(status(&sound, "recorder"), Some("ok".into()), "{sound:#?}");
    let (without, code) = findings("/bin/true");
    assert_eq!((status(&without, "probes"), code), (Some("fail".into()), Some(1)));
    assert!(without.iter().all(|finding| (finding["status"] == "ok") == finding["remedy"].is_null()));
}

#[test]
#[cfg(target_os = "linux")]
fn doctor_of_a_process() {
    let own = std::process::id().to_string();
    let output = dyntrace(&["doctor", "--json", "-p", &own]);
    let findings: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let control = findings.iter().find(|finding| finding["topic"] == "control").unwrap();
    assert!(control["text"].as_str().unwrap().contains(&format!("process {own} ")), "{control}");
    let memory = findings.iter().find(|finding| finding["topic"] == "memory").unwrap();
    assert_eq!(memory["status"], "ok", "{memory}");
    assert_eq!(output.status.code(), Some(0), "{findings:#?}");
}

#[test]
fn manual_and_completions_are_made_from_the_arguments() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(dyntrace(&["man", folder.path().to_str().unwrap()]).status.code(), Some(0));
    let page = fs::read_to_string(folder.path().join("dyntrace-run.1")).unwrap();
    assert!(page.contains("Exit status"), "{page}");
    let bash = dyntrace(&["completions", "bash"]);
    assert!(String::from_utf8(bash.stdout).unwrap().contains("doctor"));
}
