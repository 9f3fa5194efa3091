//! Executes the lines of its standard input, and prints the results.

use std::error::Error;
use std::ffi::c_int;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{io, thread};

use dyntrace::code::{self, Policy, Purged};
use dyntrace::probes::{efile_drv, user_trace};

unsafe extern "C" {
    safe fn fork() -> c_int;
    safe fn _exit(status: c_int) -> !;
    fn waitpid(child: c_int, status: *mut c_int, options: c_int) -> c_int;
}

/// A second provider, with a name that ends with a digit, which definitions cannot have, and a probe with a long name.
fn second(number: i32) {
    dyntrace::sdt::if_enabled!("dof_v2", "several__words__in__it", second, {
        dyntrace::sdt::site!("dof_v2", "several__words__in__it", (i32 number "int"));
    });
}

/// Fires in a child until the file exists, as a tracer needs time to see the child.
fn in_child(end: &Path) {
    match fork() {
        0 => {
            while !end.exists() {
                dyntrace::user_trace::s1("from the child");
                thread::sleep(Duration::from_millis(100));
            }
            _exit(0)
        }
        child => {
            println!("child {child}");
            let mut status = 0;
            // SAFETY: a child of this process; the status is valid for writes.
            unsafe { waitpid(child, &raw mut status, 0) };
            println!("child ended {status}");
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    for line in io::stdin().lines() {
        match *line?.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["status"] => println!("status {:?}", dyntrace::sdt::register()),
            ["elsewhere"] => println!("elsewhere {:?}", thread::scope(|s| s.spawn(dyntrace::sdt::deregister).join())),
            ["enabled"] => println!("enabled {}", user_trace::s1::is_enabled()),
            ["fire"] => {
                efile_drv::entry(|| {
                    (-1, 2, "some-user-tag", 12, "old-name", "new-name", -5, i64::MAX, 7, i64::MIN, "#Port<0.1>")
                });
                user_trace::i4s4(|| ("<0.1.0>", "tag", 1, -2, i64::MAX, i64::MIN, "a", "b", "c", "d"));
                second(-7);
                println!("fired");
            }
            ["say", text] => {
                dyntrace::user_trace::s1(text);
                println!("said {text}");
            }
            ["allow", directory] => {
                code::allow(Policy::new().directory(directory))?;
                println!("allowed");
            }
            ["load", path] => {
                let module = code::prepare(path).await?;
                code::finish([module]).await?;
                println!("loaded");
            }
            ["module"] => println!("module {}", code::lookup::<fn() -> String>("worker", "status")?.call()?),
            ["work"] => println!("worked, enabled {}", code::lookup::<fn() -> bool>("worker", "work")?.call()?),
            ["unload"] => {
                code::delete("worker").await?;
                println!("unloaded {}", code::purge("worker").await? == Purged::Unloaded);
            }
            ["fork", end] => in_child(end.as_ref()),
            // Becomes another program, with other probes, in the same process.
            ["exec", path] => return Err(Command::new(path).exec().into()),
            ref other => panic!("{other:?}"),
        }
    }
    Ok(())
}
