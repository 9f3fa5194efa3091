//! A page of documentation for a provider.

use std::fmt::Write as _;

use crate::markdown;
use crate::model::{Probe, Provider};

/// Generates Markdown that documents the probes of a provider: a heading for each first part of their names, below it each probe with its
/// comment and a table of its arguments.
///
/// ```
/// let provider = dyntrace_build::parse(
///     "provider shop {
///          /** A customer paid.
///              @param cents the paid amount */
///          probe order__paid(uint32_t cents);
///      };",
///     "shop.d",
/// )?;
/// let page = dyntrace_build::page(&provider);
/// assert!(page.contains("### order-paid\n\nA customer paid.\n"));
/// assert!(page.contains("| `cents` | `uint32_t` | the paid amount |\n"));
/// # Ok::<(), dyntrace_build::Error>(())
/// ```
pub fn page(provider: &Provider) -> String {
    let mut page = String::new();
    let mut group = None;
    for probe in &provider.probes {
        let own = probe.name.split("__").next();
        if group != own {
            group = own;
            let _ = writeln!(page, "## {}\n", markdown::cell(own.unwrap_or_default()));
        }
        write(&mut page, probe);
    }
    page.truncate(page.trim_end().len());
    page + "\n"
}

fn write(page: &mut String, probe: &Probe) {
    let _ = writeln!(page, "### {}\n", markdown::cell(&probe.tool_name()));
    for line in markdown::lines(&probe.doc) {
        let _ = writeln!(page, "{line}");
    }
    if !probe.doc.is_empty() {
        page.push('\n');
    }
    if !probe.arguments.is_empty() {
        page.push_str("| argument | in D | meaning |\n|---|---|---|\n");
        for argument in &probe.arguments {
            let _ = writeln!(page, "| `{}` | `{}` | {} |", argument.name, argument.ty.c, markdown::cell(&argument.doc));
        }
        page.push('\n');
    }
}
