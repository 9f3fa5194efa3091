//! The gRPC example, recorded from its start to its end.

use std::process::Command;

use crate::example::example;
use crate::trace;

#[test]
fn every_operation_of_a_call_has_its_tag() {
    let place = tempfile::tempdir().unwrap();
    let (folder, recording) = (place.path().join("served"), place.path().join("trace"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(place.path().join("secret"), "not for clients").unwrap();
    std::fs::write(folder.join("empty"), "").unwrap();
    std::fs::write(folder.join("large"), vec![b'x'; 40_000]).unwrap();
    let output = Command::new(example("grpc_files"))
        .arg(&folder)
        .args(["large", "missing", "empty", "../secret", "large"])
        .env("DYNTRACE", format!("record:{}", recording.display()))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = said.lines().collect();
    let [first, missing, empty, secret, again] = lines[..] else { panic!("{said}") };
    assert_eq!(first, "call-1: large has 40000 bytes, in 3 chunks");
    assert!(missing.starts_with("call-2: cannot read missing: ") && missing.contains("No such file"), "{missing}");
    assert_eq!(empty, "call-3: empty has 0 bytes, in 0 chunks");
    assert!(secret.starts_with("call-4: cannot read ../secret: ") && secret.contains("leaves the folder"), "{secret}");
    assert_eq!(again, "call-5: large has 40000 bytes, in 3 chunks");

    // Each stream ends with a READ of no bytes.
    let large = vec!["OPEN", "READ", "READ", "READ", "READ", "CLOSE"];
    let operations = trace::of(&recording);
    let tags: Vec<_> = trace::by_tag(&operations).into_iter().collect();
    assert_eq!(
        tags,
        [
            ("call-1", large.clone()),
            ("call-2", vec!["OPEN"]),
            ("call-3", vec!["OPEN", "READ", "CLOSE"]),
            ("call-5", large)
        ]
    );
}
