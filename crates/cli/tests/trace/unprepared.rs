//! Programs without a control socket, which open it at a call of a traced function.

use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use dyntrace::trace::{Limits, Session};
use tokio::runtime::Builder;

use crate::shop::Shop;
use crate::{hand_over, missing};

fn may_ask() -> bool {
    let may = nix::unistd::geteuid().is_root();
    if !may {
        missing::skip("root", "without it the kernel may refuse the memory of another process");
    }
    may
}

fn socket_of(pid: u32) -> PathBuf {
    Path::new(&env::var_os("XDG_RUNTIME_DIR").unwrap()).join(format!("dyntrace/{pid}.sock"))
}

/// For each line, starts a child that calls a traced function before it executes another program; at the last line, calls it itself.
pub fn parent() {
    println!("\nopen");
    for line in io::stdin().lines() {
        if line.unwrap() == "0" {
            hand_over(1);
        } else {
            let mut child = Command::new("true");
            // SAFETY: the function and the look at the file take no lock that another thread of this program holds.
            unsafe {
                child.pre_exec(|| {
                    hand_over(1);
                    if socket_of(std::process::id()).exists() {
                        Err(io::ErrorKind::AlreadyExists.into())
                    } else {
                        Ok(())
                    }
                });
            }
            assert!(child.status().unwrap().success());
        }
        println!("sold");
    }
}

/// For each line, has a session of its own count that many calls, and sets and removes it meanwhile.
pub fn own_session() {
    let runtime = Builder::new_current_thread().build().unwrap();
    println!("\nopen");
    for line in io::stdin().lines() {
        let calls: u64 = line.unwrap().parse().unwrap();
        let session = Session::start(Limits::default(), |_| ()).unwrap();
        runtime.block_on(session.set("trace::hand_over do silent, count")).unwrap();
        (0..calls).for_each(|_| hand_over(1));
        assert_eq!(session.counts().iter().map(|count| count.calls).sum::<u64>(), calls);
        runtime.block_on(session.close());
        println!("sold");
    }
}

/// Asks the shop by a trace of one event, and has it act until the trace has ended.
fn trace_one(shop: &mut Shop, pattern: &str, number: u32) -> (Option<i32>, String, String) {
    let mut command = shop.command(&[pattern, "--max-events", "1"]);
    let mut trace = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while trace.try_wait().unwrap().is_none() {
        shop.sell(number);
    }
    let output = trace.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_traced_call_opens_the_socket() {
    if !may_ask() {
        return;
    }
    let mut shop = Shop::unprepared("shop");
    shop.sell(1);
    assert!(!shop.has_socket());
    let (status, out, errors) = trace_one(&mut shop, "trace::price(_, 250)", 1);
    assert_eq!(status, Some(0), "{errors}");
    assert!(out.contains("call   trace::price(Order { id: 7 }, 250)"), "{out}");
    assert!(shop.has_socket());
}

/// The first poll is the call.
#[test]
fn a_session_of_the_program_goes_on_meanwhile() {
    if !may_ask() {
        return;
    }
    let mut shop = Shop::unprepared("own session");
    let (status, out, errors) = trace_one(&mut shop, "trace::hand_over", 1000);
    assert_eq!(status, Some(0), "{errors}");
    assert!(out.contains("call   trace::hand_over(1)"), "{out}");
    shop.sell(1000);
}

/// A child may have been made while another thread held a lock, so it must open no socket for its parent.
#[test]
fn a_forked_child_answers_no_request_to_its_parent() {
    if !may_ask() {
        return;
    }
    let mut shop = Shop::unprepared("parent");
    let (status, _, errors) = trace_one(&mut shop, "**", 1);
    assert_eq!(status, Some(65));
    assert!(errors.contains("sent no message and called no traced function within 2 s"), "{errors}");
    assert!(!shop.has_socket());
    // The parent finds the request that its children did not take from it.
    shop.sell(0);
    assert!(shop.has_socket());
}

/// Killed when this is dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn example(name: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let path = profile.join("examples").join(name);
    if !path.exists() {
        let release = if profile.ends_with("release") { &["--release"][..] } else { &[] };
        let build = ["build", "-p", "dyntrace", "--example", name];
        assert!(Command::new(env!("CARGO")).args(build).args(release).status().unwrap().success());
    }
    path
}

/// Its program has neither file operations nor messages.
#[test]
fn the_example_of_the_chapter() {
    if !may_ask() {
        return;
    }
    let chapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/traced_functions.md");
    let chapter = fs::read_to_string(chapter).unwrap();
    let mut lines = chapter.lines().skip_while(|line| !line.starts_with("$ target/release/examples/traced_shop 60 &"));
    assert!(lines.next().is_some(), "the chapter starts the example without preparation");
    let trace = lines.next().unwrap().strip_prefix("$ dyntrace ").unwrap();
    assert!(trace.starts_with("trace -p PID '**::price(_, quantity) if quantity > 197' --return"), "{trace}");

    let place = tempfile::tempdir().unwrap();
    let mut shop = Command::new(example("traced_shop"));
    shop.arg("60").env_remove("DYNTRACE").env("XDG_RUNTIME_DIR", place.path());
    let mut shop = Program(shop.stdout(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(shop.0.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().starts_with("open for 60 s")));
    let trace = format!("exec \"$0\" {} --max-events 2", trace.replace("PID", &shop.0.id().to_string()));
    let mut traced = Command::new("sh");
    traced.args(["-c", &trace, env!("CARGO_BIN_EXE_dyntrace")]).env("XDG_RUNTIME_DIR", place.path());
    let output = traced.output().unwrap();
    let [out, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success() && errors.contains("1 function traced in session "), "{errors}");
    // The limit may leave out either end of a call.
    let mut lines = out.lines();
    assert!(lines.next().unwrap().contains("call   traced_shop::price(Order { id: "), "{out}");
    assert_eq!(lines.filter(|line| line.contains(" traced_shop::price")).count(), 1, "{out}");
}
