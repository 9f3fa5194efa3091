//! Things with a tag of their own, and the ways in which tasks and closures get the tag of the process that starts them.

mod children;
mod things;

use std::sync::mpsc;

use tokio::runtime::{Builder, Runtime};

fn tag() -> Option<String> {
    dyntrace::get_tag().map(|tag| tag.to_string())
}

fn tag_data() -> Option<String> {
    dyntrace::get_tag_data().map(|tag| tag.to_string())
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn runtimes() -> [Runtime; 2] {
    [Builder::new_current_thread().build().unwrap(), Builder::new_multi_thread().worker_threads(2).build().unwrap()]
}

/// Reports the tag that it sees when it is dropped.
struct Witness(mpsc::Sender<Option<String>>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.send(tag()).unwrap();
    }
}
