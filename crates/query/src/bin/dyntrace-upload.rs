//! The program `dyntrace-upload`.

use std::process::ExitCode;

fn main() -> ExitCode {
    dyntrace_query::upload()
}
