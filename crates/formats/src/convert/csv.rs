//! Tables for spreadsheets: a CSV file for each probe that fired.

use std::collections::{HashMap, HashSet};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Context as _;
use dyntrace_analysis::recording;
use dyntrace_analysis::render::Printer as _;
use dyntrace_analysis::view::Csv;
use dyntrace_reader::{Process, Trace};
use dyntrace_terminal::escape;
use dyntrace_terminal::private::{self, NewFile};

/// The longest name of a file, without its ending.
const LONGEST: usize = 200;

struct Table {
    file: BufWriter<NewFile>,
    rows: Csv,
}

/// Writes the tables to the folder `output`, which it creates if necessary.
pub fn convert(trace: &Trace, output: &Path) -> anyhow::Result<()> {
    let mode = recording::mode(trace);
    private::create_folder(output, mode)?;
    let (mut tables, mut taken) = (HashMap::<&str, Table>::new(), HashSet::new());
    let mut out = Vec::new();
    for event in recording::events(trace) {
        let probe = event.class.name.as_str();
        if !tables.contains_key(probe) {
            let path = output.join(file_name(probe, &mut taken));
            let file =
                private::replace(&path, mode).with_context(|| format!("cannot create {}", escape::path(&path)))?;
            // Versions of a program may have different fields.
            let classes = trace.processes().iter().flat_map(Process::classes).filter(|class| class.name == probe);
            tables.insert(probe, Table { file: BufWriter::new(file), rows: Csv::new(classes, &mut out) });
        }
        if let Some(table) = tables.get_mut(probe) {
            table.rows.event(&event, &mut out);
            table.file.write_all(&out)?;
        }
        out.clear();
    }
    for table in tables.into_values() {
        table.file.into_inner()?.finish()?;
    }
    Ok(())
}

/// A name for the file of a probe: `dyntrace.efile_drv-return.csv` for `dyntrace:efile_drv-return`. It is none of those `taken`.
fn file_name(probe: &str, taken: &mut HashSet<String>) -> String {
    let plain = |c: char| match c {
        ':' => '.',
        c if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') => c,
        _ => '_',
    };
    let name: String = probe.chars().take(LONGEST).map(plain).collect();
    let names = (2..).map(|number| format!("{name}-{number}.csv"));
    let name = [format!("{name}.csv")].into_iter().chain(names).find(|name| !taken.contains(name));
    let name = name.expect("one of them is free");
    taken.insert(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_stay_in_the_folder_and_apart() {
        let mut taken = HashSet::new();
        for (probe, expected) in [
            ("dyntrace:efile_drv-return", "dyntrace.efile_drv-return.csv"),
            ("../../etc:passwd", ".._.._etc.passwd.csv"),
            ("a:b c", "a.b_c.csv"),
            ("a:b/c", "a.b_c-2.csv"),
            ("a:b\nc", "a.b_c-3.csv"),
        ] {
            assert_eq!(file_name(probe, &mut taken), expected);
        }
        assert_eq!(file_name(&"x".repeat(5000), &mut taken).len(), LONGEST + 4);
    }
}
