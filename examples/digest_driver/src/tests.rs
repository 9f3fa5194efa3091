//! Each operation has an entry and a return, whatever its outcome.

#[path = "../../common/recorded.rs"]
mod recorded;

use std::fs;

use dyntrace::aio_pool::Pool;
use recorded::operations;

use super::*;

const WORKED: [&str; 2] = ["int_entry", "int_return"];
const SHA256: Command = COMMANDS[0];

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_file_is_hashed_on_behalf_of_the_task_that_asks() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("abc");
    fs::write(&path, "abc").unwrap();
    let told = operations("digest_drv", async {
        let driver = Driver::new(Pool::builder().threads(1).build());
        let (digest, bytes) = with_tag("req-7", async { driver.hash(SHA256, path.clone()).await }).await.unwrap();
        // The example of FIPS 180-4.
        assert_eq!(hex(&digest), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(bytes, 3);
    });
    let [operation] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(operation.entry["user_tag"], "req-7");
    assert_eq!(operation.entry["path"], path.to_str().unwrap());
    assert_eq!(operation.between, WORKED);
    let returned = ["user_tag", "command", "success", "bytes", "error"].map(|name| operation.returned[name].as_str());
    assert_eq!(returned, ["req-7", "1", "1", "3", ""]);
}

#[test]
fn a_file_that_is_not_there_fails() {
    let told = operations("digest_drv", async {
        let driver = Driver::new(Pool::builder().threads(1).build());
        let error = driver.hash(SHA256, "no-such-file".into()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    });
    let [operation] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(operation.between, WORKED);
    assert_eq!(operation.returned["success"], "0");
    assert!(operation.returned["error"].starts_with("No such file"), "{operation:?}");
}

#[test]
fn a_hash_that_panics_fails_its_own_operation_alone() {
    const FAULTY: Command = Command { number: 99, name: "FAULTY", hash: |_| panic!("as the test wants it") };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("abc");
    fs::write(&path, "abc").unwrap();
    let told = operations("digest_drv", async {
        let driver = Driver::new(Pool::builder().threads(1).build());
        let operations = [SHA256, FAULTY, SHA256].map(|command| driver.hash(command, path.clone()));
        let mut went_well = Vec::new();
        for operation in operations {
            went_well.push(operation.await.is_ok());
        }
        assert_eq!(went_well, [true, false, true]);
    });
    let returned: Vec<_> = told.iter().map(|operation| operation.returned["success"].as_str()).collect();
    assert_eq!(returned, ["1", "0", "1"]);
    assert!(told.iter().all(|operation| operation.between == WORKED), "{told:?}");
    assert!(told[1].returned["error"].contains("panicked"), "{told:?}");
}

#[test]
fn an_operation_that_is_dropped_before_its_turn_is_never_done() {
    let told = operations("digest_drv", async {
        // Without threads the job stays in the queue.
        let driver = Driver::new(Pool::builder().threads(0).build());
        drop(driver.hash(SHA256, "no-such-file".into()));
    });
    let [operation] = told.as_slice() else { panic!("{told:?}") };
    assert!(operation.between.is_empty(), "{operation:?}");
    assert_eq!(operation.returned["success"], "0");
    assert!(operation.returned["error"].contains("dropped"), "{operation:?}");
}

#[test]
fn scripts_know_the_commands() {
    for file in ["digests.bt", "digests.d", "digests.stp"] {
        let script = fs::read_to_string(Path::new("scripts").join(file)).unwrap();
        let map: Vec<_> = script.lines().filter(|line| line.contains("op_map[") && line.contains("] = ")).collect();
        let ends = COMMANDS.map(|command| format!("op_map[{}] = \"{}\";", command.number, command.name));
        assert_eq!(map.len(), ends.len(), "{file}: {map:?}");
        assert!(map.iter().zip(&ends).all(|(line, end)| line.ends_with(end.as_str())), "{file}: {map:?}");
    }
}

#[test]
fn lines_are_those_of_sha256sum() {
    assert_eq!(line(&[0x0a, 0xff], Path::new("a b")), b"0aff  a b\n");
    assert_eq!(line(&[0x0a, 0xff], Path::new("a\n\\b")), b"\\0aff  a\\n\\\\b\n");
}
