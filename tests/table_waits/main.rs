//! The table of tasks has the wait of each task, with its operation, place and resource, and none that has ended.
#![cfg(all(not(dyntrace_without_probes), target_os = "linux", feature = "recorder", feature = "fs"))]

#[path = "../common/forked.rs"]
mod forked;

mod enclosed;
mod files;
mod sets;
mod several;

use std::env;
use std::fs::File;
use std::path::PathBuf;
use std::process::{self, Command};

use dyntrace::process::Pid;
use dyntrace_task_table::{Table, Thing};
use tokio::runtime::Builder;
use tokio::task::yield_now;

const CHILD: &str = "DYNTRACE_TEST_CHILD";

/// The table is the whole program's, so each of these has a program of its own.
macro_rules! programs {
    ($($test:ident: $program:path)*) => {
        $(
            #[test]
            fn $test() {
                let folder = tempfile::tempdir().unwrap();
                let mut child = Command::new(env::current_exe().unwrap());
                let child = child.args(["--exact", "child", "--nocapture"]).env("XDG_RUNTIME_DIR", folder.path());
                let output = child.env(CHILD, stringify!($test)).output().unwrap();
                let (said, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                assert!(output.status.success() && said.contains("checked"), "{said}{error}");
            }
        )*

        #[test]
        fn child() {
            match env::var(CHILD).as_deref() {
                $(Ok(stringify!($test)) => run($program()),)*
                Ok(unknown) => panic!("{unknown}"),
                Err(_) => return,
            }
            println!("checked");
        }
    };
}

programs! {
    a_file_operation_is_waited_for_until_it_is_answered: files::answered
    a_recording_that_is_full_leaves_the_waits_as_they_are: files::full_recording
    a_file_operation_that_is_given_up_leaves_no_wait: files::given_up
    a_sync_that_is_given_up_leaves_no_wait: files::sync_given_up
    a_task_that_ends_in_a_file_operation_leaves_no_wait: files::ended
    a_forked_child_leaves_the_wait_of_its_parent: files::forked
    a_set_waits_for_its_first_task: sets::joined
    a_timeout_is_waited_for_while_no_wait_inside_is_told: enclosed::in_timeout
    a_timeout_takes_the_place_of_a_wait_that_was_left: enclosed::left_before_timeout
    a_named_wait_gives_way_to_one_inside_of_it: enclosed::in_named
    a_wait_that_lasts_is_in_the_table_when_a_shorter_one_has_ended: several::shorter_ended
    a_wait_around_others_takes_the_place_of_one_beside_it: several::one_beside_it_ended
    a_wait_that_outlasts_timeouts_is_in_the_table: several::timeouts_in_turn
    a_wait_moves_to_the_task_that_polls_its_future: several::moved
    a_wait_that_ends_in_another_task_leaves_the_table: several::moved_and_ended
    the_end_of_a_moved_wait_leaves_another_wait: several::moved_from_a_waiting_task
}

fn run(program: impl Future<Output = ()>) {
    dyntrace::recorder::tasks().unwrap();
    Builder::new_current_thread().enable_all().build().unwrap().block_on(program);
}

/// Lets all other tasks run until they wait.
async fn turns() {
    for _ in 0..20 {
        yield_now().await;
    }
}

fn table() -> Table {
    let folder = PathBuf::from(env::var_os("XDG_RUNTIME_DIR").unwrap());
    Table::read(&File::open(folder.join(format!("dyntrace/{}.tasks", process::id()))).unwrap()).unwrap()
}

/// The operation, the place and the resource for which a task waits. `None` if it does not wait, or is not in the table.
fn wait(of: Pid) -> Option<(String, String, Thing)> {
    let table = table();
    let task = table.tasks.iter().find(|seen| format!("<0.{}.0>", seen.task.pid) == of.to_string())?;
    let wait = task.wait.clone()?;
    let site = wait.site.unwrap();
    Some((site.first.to_string(), site.second.to_string(), wait.resource))
}

/// The operation, and the name of the resource.
fn named(of: Pid) -> Option<(String, String)> {
    let (operation, _, resource) = wait(of)?;
    let Thing::Named(name) = resource else { panic!("{resource:?}") };
    Some((operation, name.unwrap().first.to_string()))
}
