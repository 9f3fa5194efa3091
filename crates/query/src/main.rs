//! The program `dyntrace-query`.

use std::process::ExitCode;

fn main() -> ExitCode {
    dyntrace_query::query()
}
