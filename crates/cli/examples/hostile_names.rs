//! Renames missing files, with names and user tags that would harm a terminal or a trace if they were not escaped. Exits with status 7,
//! so that tests can tell its status from others.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, dyntrace::TagError> {
    let long = "ä".repeat(32 * 1024);
    let names: [&[u8]; 7] = [
        b"one\ntwo >\nefile_drv return tag={1,1} user tag  | RENAME (12) | errno 0\n",
        b"\x1b[31mred\x1b[m",
        b"no \xff\xfe UTF-8",
        b"\x07bell\ttab\rreturn\x7f",
        long.as_bytes(),
        br#""two" 'one' `back` \n %s%n ${HOME}"#,
        &[b'x'; 4096],
    ];
    for name in names {
        dyntrace::put_tag(String::from_utf8_lossy(name).into_owned())?;
        let name = OsStr::from_bytes(name);
        dyntrace::fs::rename(name, name).await.expect_err("there is no such file");
    }
    Ok(ExitCode::from(7))
}
