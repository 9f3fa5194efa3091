//! `sparkles`: an event is a name and the time. It has no arguments, so both payloads are the same.

use std::path::Path;

use sparkles::FinalizeGuard;
use sparkles::config::SparklesConfig;
use sparkles::sender::file_sender::FileSenderConfig;
use sparkles_macro::instant_event;

use crate::payload::{Entry, Fire};

pub struct Names;

pub fn start(directory: &Path) -> FinalizeGuard {
    let file = FileSenderConfig::SingleFile(directory.join("sparkles.trace"));
    sparkles::init(SparklesConfig::default().with_file_sender(file))
}

impl Fire for Names {
    #[inline(always)]
    fn one(_value: i64) {
        instant_event!("one");
    }

    #[inline(always)]
    fn entry(_entry: &Entry<'_>) {
        instant_event!("entry");
    }
}
