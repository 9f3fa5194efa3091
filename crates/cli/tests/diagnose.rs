//! `dyntrace diagnose` on the example slow_shop, which knows nothing of dyntrace.
#![cfg(target_os = "linux")]

#[path = "common/interrupts.rs"]
mod interrupts;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::sys::statfs::{TMPFS_MAGIC, statfs};
use nix::unistd::Pid;
use serde_json::Value;

/// The example with all debug information, which only the dev profile gives it.
fn slow_shop() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Beside an example of the workspace: with the features of its tests, for others Cargo would build the library again.
    let build = ["build", "--quiet", "--workspace", "--bin", "slow_shop", "--example", "file_server"];
    assert!(Command::new(env!("CARGO")).args(build).current_dir(root).status().unwrap().success());
    target.join("debug/slow_shop")
}

/// A running server, killed when this is dropped.
struct Shop {
    child: Child,
    address: SocketAddr,
    folder: tempfile::TempDir,
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shop {
    fn start() -> Shop {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(slow_shop());
        command.arg(folder.path().join("orders")).env("TOKIO_WORKER_THREADS", "2").stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let address = said.trim_end().strip_prefix("listens on http://").expect(&said).parse().unwrap();
        Shop { child, address, folder }
    }

    /// Asks for the path again and again, until the end.
    fn ask(&self, path: &str, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            let mut connection = TcpStream::connect(self.address).unwrap();
            write!(connection, "GET {path} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n").unwrap();
            let mut answer = String::new();
            connection.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
    }

    fn diagnose(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
        command.args(["diagnose", "-p", &self.child.id().to_string()]);
        command
    }
}

/// Sets it when it is dropped, so that threads of a test that fails end.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whether the kernel lets this test read other processes.
fn is_refused(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    let is_refused = !output.status.success() && said.contains("ptrace_scope");
    if is_refused {
        println!("skipped: {said}");
    }
    is_refused
}

/// Diagnoses the shop under this load until the causes are found: of a kind, in a function, with a resource. `None` if the kernel refuses.
fn finds(shop: &Shop, load: &[(&str, usize)], causes: &[(&str, &str, &str)]) -> Option<Value> {
    let is_over = &AtomicBool::new(false);
    thread::scope(|scope| {
        let _over = Over(is_over);
        for (path, clients) in load {
            (0..*clients).for_each(|_| _ = scope.spawn(|| shop.ask(path, is_over)));
        }
        // A busy machine lets it look seldom.
        for patience in (0..5).rev() {
            let mut command = shop.diagnose();
            command.args(["--for", "3s", "--json", "--folded"]).arg(shop.folder.path().join("stacks"));
            let output = command.arg("-o").arg(shop.folder.path().join("page.html")).output().unwrap();
            if is_refused(&output) {
                return None;
            }
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            let told: Vec<_> = answer["causes"].as_array().unwrap().iter().collect();
            let has = |(kind, function, resource): &(&str, &str, &str)| {
                told.iter().any(|cause| {
                    cause["kind"] == *kind && cause["function"] == *function && cause["resource"] == *resource
                })
            };
            if causes.iter().all(has) {
                return Some(answer);
            }
            assert!(patience > 0, "{causes:?}: {answer:#}");
        }
        unreachable!("the last try returns or panics")
    })
}

#[test]
fn each_cause_of_a_slow_shop_has_its_function() {
    let shop = Shop::start();
    let lock = ("lock", "slow_shop::cart::priced", "Mutex");
    let blocks = ("blocking_call", "slow_shop::report::print", "clock_nanosleep");
    if finds(&shop, &[("/cart", 3), ("/report", 1)], &[lock, blocks]).is_some() {
        let read = |name| std::fs::read_to_string(shop.folder.path().join(name)).unwrap();
        let stacks = read("stacks");
        for stack in ["slow_shop::cart::priced;waits for Mutex", "slow_shop::report::print;clock_nanosleep"] {
            assert!(stacks.contains(&format!(";{stack} ")), "{stacks}");
        }
        assert!(read("page.html").contains("<code>slow_shop::report::print</code>"));
    }
    if statfs(shop.folder.path()).unwrap().filesystem_type() == TMPFS_MAGIC {
        println!("skipped: in a file system in memory nothing waits for a disk");
        return;
    }
    let answer =
        finds(&shop, &[("/order", 2)], &[("blocking_job", "slow_shop::order::placed", "a job of the blocking pool")]);
    let pool =
        answer.map(|answer| answer["pool"].as_array().unwrap().iter().map(|call| call["call"].clone()).collect());
    assert!(pool.is_none_or(|pool: Vec<Value>| pool.contains(&"fsync".into())));
}

#[test]
fn an_interrupt_ends_it_and_a_quiet_shop_has_no_cause() {
    let shop = Shop::start();
    let mut command = shop.diagnose();
    command.args(["--for", "1h"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = interrupts::heed(&mut command).spawn().unwrap();
    let mut said = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    errors.read_line(&mut said).unwrap();
    let begins = said.contains("watching");
    if begins {
        kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    if !begins {
        assert!(said.contains("ptrace_scope"), "{said}");
        println!("skipped: {said}");
        return;
    }
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.starts_with("No cause"), "{told}");
}

/// Each line that the chapter names is that of the example's fault.
#[test]
fn the_chapter_names_the_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let chapter = read("docs/slow_polls.md");
    for (file, code) in [
        ("cart.rs", "carts.priced.lock().await"),
        ("cart.rs", "price(carts.prices).await"),
        ("order.rs", "file.sync_all().await"),
        ("report.rs", "thread::sleep("),
    ] {
        let path = format!("examples/slow_shop/src/{file}");
        let source = read(&path);
        let line = source[..source.find(code).unwrap()].lines().count();
        assert!(chapter.contains(&format!("{path}:{line}")), "{path}:{line} has {code}");
    }
}
