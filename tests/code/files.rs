//! Files that may not or cannot be loaded. Each gives an error that says why, and leaves nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::Command;

use dyntrace::code::{self, Error, LoadError, Policy};

use crate::support::{Turn, module};

/// Returns why the file is refused, and checks that nothing is left of it.
async fn refusal(turn: &Turn, path: &Path) -> LoadError {
    let (copies, kept) = (turn.copies(), code::kept());
    let error = match code::prepare(path).await {
        Err(Error::Load(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!((turn.copies(), code::kept()), (copies, kept), "{error}");
    let name = path.file_name().unwrap().to_string_lossy();
    assert!(error.to_string().contains(&*name), "{error}");
    error
}

fn place_of(bytes: &[u8], of: &[u8]) -> usize {
    bytes.windows(of.len()).position(|window| window == of).unwrap()
}

#[tokio::test]
async fn files_that_are_no_modules_are_refused() {
    let turn = Turn::take().await;
    let text = turn.path("text.so");
    fs::write(&text, "no library").unwrap();
    assert!(refusal(&turn, &text).await.to_string().contains("no ELF"));
    fs::write(&text, "").unwrap();
    assert!(refusal(&turn, &text).await.to_string().contains("no ELF"));
    assert!(matches!(refusal(&turn, turn.place.path()).await, LoadError::NotAFile(_)));
    assert!(matches!(refusal(&turn, &turn.path("nothing.so")).await, LoadError::System { .. }));
    let pipe = turn.path("pipe.so");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(matches!(refusal(&turn, &pipe).await, LoadError::NotAFile(_)));
    let other = turn.path("other.so");
    let source = turn.path("other.rs");
    fs::write(&source, "").unwrap();
    let rustc = Command::new("rustc").args(["--crate-type", "cdylib", "-o"]).arg(&other).arg(&source).status();
    assert!(rustc.unwrap().success());
    assert!(matches!(refusal(&turn, &other).await, LoadError::NoModule { .. }));
}

#[tokio::test]
async fn truncated_modules_are_refused() {
    let turn = Turn::take().await;
    let length = fs::metadata(module("pricing_1")).unwrap().len() as usize;
    for left in [17, 63, 64, 1000, length / 2, length - 1] {
        let path = turn.changed("pricing_1", |bytes| bytes.truncate(left));
        assert!(matches!(refusal(&turn, &path).await, LoadError::Object { .. }), "{left}");
    }
}

#[tokio::test]
async fn modules_for_another_machine_are_refused() {
    let turn = Turn::take().await;
    for place in [4, 5, 18] {
        let path = turn.changed("pricing_1", |bytes| bytes[place] ^= 3);
        let error = refusal(&turn, &path).await.to_string();
        assert!(error.contains("another machine") && error.contains("same target"), "{error}");
    }
}

#[tokio::test]
async fn modules_of_another_compiler_are_refused() {
    let turn = Turn::take().await;
    let path = turn.changed("pricing_1", |bytes| {
        let place = place_of(bytes, b"; rustc 1.") + b"; rustc ".len();
        bytes[place] = b'0';
    });
    let LoadError::Fingerprint { module, program, .. } = refusal(&turn, &path).await else { panic!() };
    assert!(module.contains("rustc 0.") && program.contains("rustc 1."), "{module} {program}");
}

#[tokio::test]
async fn modules_that_the_linker_refuses() {
    let turn = Turn::take().await;
    // A missing library.
    let path = turn.changed("pricing_1", |bytes| {
        let place = place_of(bytes, b"libc.so.6\0");
        bytes[place + 3] = b'?';
    });
    let error = refusal(&turn, &path).await;
    assert!(matches!(&error, LoadError::Linker { why, .. } if why.contains("lib?.so.6")), "{error}");
}

#[tokio::test]
async fn modules_in_other_folders_are_refused() {
    let turn = Turn::take().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join("libpricing.so");
    fs::copy(module("pricing_1"), &path).unwrap();
    assert!(matches!(refusal(&turn, &path).await, LoadError::Outside { .. }));
    let link = turn.path("linked.so");
    symlink(&path, &link).unwrap();
    let error = refusal(&turn, &link).await;
    assert!(matches!(&error, LoadError::Outside { real, .. } if *real == path), "{error}");
    let folder = turn.path("folder");
    symlink(elsewhere.path(), &folder).unwrap();
    assert!(matches!(refusal(&turn, &folder.join("libpricing.so")).await, LoadError::Outside { .. }));
    let upwards = turn.place.path().join("..").join(elsewhere.path().file_name().unwrap()).join("libpricing.so");
    assert!(matches!(refusal(&turn, &upwards).await, LoadError::Outside { .. }));
    let within = turn.path("within.so");
    symlink(module("pricing_1"), &within).unwrap();
    drop(code::prepare(within).await.unwrap());
}

#[tokio::test]
async fn modules_that_other_users_can_change_are_refused() {
    let turn = Turn::take().await;
    let path = turn.changed("pricing_1", |_| {});
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    let error = refusal(&turn, &path).await;
    assert!(
        matches!(error, LoadError::Open { mode: 0o664, .. }) && error.to_string().contains("chmod go-w"),
        "{error}"
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let open = turn.path("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(code::allow(turn.policy().directory(&open)), Err(LoadError::Open { .. })));
    // Only root can give files away.
    if chown(&path, Some(65_534), None).is_ok() {
        assert!(matches!(refusal(&turn, &path).await, LoadError::Owner { owner: 65_534, .. }));
    }
}

#[tokio::test]
async fn modules_without_their_sum_in_the_list_are_refused() {
    let turn = Turn::take().await;
    let zeros = "0".repeat(64);
    code::allow(turn.policy().sha256([&zeros])).unwrap();
    let path = module("pricing_1");
    let LoadError::Sha256 { found, .. } = refusal(&turn, &path).await else { panic!() };
    let printed = Command::new("sha256sum").arg(&path).output().unwrap().stdout;
    assert!(String::from_utf8(printed).unwrap().starts_with(&found));
    code::allow(turn.policy().sha256([&zeros, &found])).unwrap();
    drop(code::prepare(&path).await.unwrap());
    assert!(matches!(code::allow(turn.policy().sha256(["12"])), Err(LoadError::NoSha256(_))));
    code::allow(Policy::new()).unwrap();
    assert!(matches!(refusal(&turn, &path).await, LoadError::Outside { .. }));
}
