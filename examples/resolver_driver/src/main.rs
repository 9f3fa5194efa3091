//! Looks up names concurrently with its own driver, `driver.rs`; `resolver.d` declares the probes.
//!
//! Trace it with one of the scripts beside it:
//!
//! ```text
//! dyntrace run examples/resolver_driver/scripts/look_ups.bt -- target/release/resolver_driver localhost ::1
//! ```

mod driver;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use driver::{Command, Resolver};
use dyntrace::aio_pool::Pool;

const HELP: &str = "\
Examples:
  resolver_driver localhost 127.0.0.1
  resolver_driver --ipv6 localhost ::1

Exit status: 0 if every name has an address, 1 if one has none or cannot be looked up, 2 for wrong arguments.";

/// Look up the addresses of names
///
/// Each name is a request with a user tag of its own: req-1, req-2 and so on.
#[derive(Parser)]
#[command(after_help = HELP)]
struct Arguments {
    /// Only IPv4 addresses
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Only IPv6 addresses
    #[arg(short = '6', long)]
    ipv6: bool,
    /// Number of concurrent look-ups
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Names, or addresses
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let command = match arguments {
        Arguments { ipv4: true, .. } => Command::Ipv4,
        Arguments { ipv6: true, .. } => Command::Ipv6,
        _ => Command::Any,
    };
    let resolver = Resolver::new(Pool::builder().threads(arguments.threads.into()).build());

    let mut requests = Vec::new();
    for (name, number) in arguments.names.into_iter().zip(1..) {
        dyntrace::put_tag(format!("req-{number}"))?;
        // Submits the look-up with this tag; the loop below awaits the result.
        let answer = resolver.look_up(command, &name);
        requests.push((name, answer));
    }

    let mut status = ExitCode::SUCCESS;
    for (name, answer) in requests {
        match answer.await {
            Ok(addresses) if !addresses.is_empty() => {
                let addresses: Vec<_> = addresses.iter().map(ToString::to_string).collect();
                writeln!(io::stdout(), "{name}: {}", addresses.join(" ")).context("cannot write the addresses")?;
                continue;
            }
            Ok(_) => eprintln!("resolver_driver: {name:?} has no address of that kind"),
            Err(error) => eprintln!("resolver_driver: looking up {name:?}: {error}"),
        }
        status = ExitCode::FAILURE;
    }
    Ok(status)
}
