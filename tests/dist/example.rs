//! Runs the example `erlang_peer` by its documentation: an Erlang node asks it for files' checksums.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::erl::{COOKIE, World};
use crate::world;

/// The example, which `ci/erlang` builds beside this test.
fn example() -> std::path::PathBuf {
    let own = std::env::current_exe().unwrap();
    let program = own.parent().and_then(Path::parent).unwrap().join("examples/erlang_peer");
    assert!(program.exists(), "not built: cargo build --features dist --example erlang_peer");
    program
}

#[test]
fn a_real_node_finds_the_checksums_right() {
    let world: World = world!();
    let folder = tempfile::tempdir().unwrap();
    let files =
        [("empty", vec![]), ("text", b"123456789".to_vec()), ("large", (0..3_000_000u32).map(|at| at as u8).collect())];
    for (name, content) in &files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let port = world.port.to_string();
    let mut peer = Command::new(example());
    peer.args(["--cookie", COOKIE, "--requests", "4"]).env("ERL_EPMD_PORT", &port).stdout(Stdio::piped());
    let trace = folder.path().join("trace");
    peer.env("DYNTRACE", format!("record:{}", trace.display()));
    let mut peer = peer.spawn().unwrap();
    let mut said = std::io::BufReader::new(peer.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    assert!(line.contains("waits for"), "{line}");

    let ask = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/erlang_peer/ask.erl");
    // Absolute paths, as the example resolves paths in its own working directory.
    let whole = |name: &str| folder.path().join(name).display().to_string();
    let output = Command::new("erl")
        .args(["-noinput", "-start_epmd", "false", "-name", "asks@127.0.0.1", "-setcookie", COOKIE, "-eval"])
        .arg(std::fs::read_to_string(ask).unwrap())
        .arg("-extra")
        .args(["empty", "text", "large", "missing"].map(whole))
        .env("ERL_EPMD_PORT", &port)
        .env("HOME", folder.path())
        .output();
    let output = output.unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    let expected = [
        format!("{}: crc32 0 of 0 bytes, as here: true; token 1\n", whole("empty")),
        // The check value of every description of this CRC.
        format!("{}: crc32 cbf43926 of 9 bytes, as here: true; token 2\n", whole("text")),
    ];
    assert!(answers.starts_with(&expected.concat()), "{answers}{}", String::from_utf8_lossy(&output.stderr));
    assert!(answers.contains(" of 3000000 bytes, as here: true; token 3\n"), "{answers}");
    assert!(answers.contains("No such file"), "{answers}");
    assert!(peer.wait().unwrap().success());
    // Each has the token of its request.
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut said, &mut rest).unwrap();
    assert_eq!(rest.lines().count(), 4, "{rest}");
    for (label, line) in (1..).zip(rest.lines()) {
        assert!(line.contains(&format!("for the request {label} ")), "{line}");
    }
    #[cfg(target_os = "linux")]
    if let Some(dyntrace) = crate::command::dyntrace() {
        crate::nested::assert_is_nested(&crate::nested::listing(&dyntrace, &trace, 2));
    }
}
