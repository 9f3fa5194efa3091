//! The table of `efile_by_tag` under bpftrace, with more rows than a map of bpftrace has.
//!
//! The script counts in maps of a fixed size. Operations beyond them it only counts, all together. `dyntrace run` has it print them instead
//! ([`parameter`]), a line each, and adds them up here: the table stays exact, and a lost line is counted as in other scripts.

use std::collections::BTreeMap;

use dyntrace::efile::Command;
use dyntrace_analysis::operation::op;

use crate::tracer::TracerKind;

use super::parameter::Parameter;

/// Begins the line of an operation that the script has not counted.
const UNCOUNTED: &str = "+ ";

/// The parameter by which the shipped `script` prints operations that it does not count. `None` for other scripts.
pub fn parameter(script: &str, kind: TracerKind) -> Option<Parameter> {
    let has_rows = script == "efile_by_tag" && kind == TracerKind::Bpftrace;
    has_rows.then_some(Parameter { name: "prints_uncounted", value: 1 })
}

/// Operations, errors, bytes and microseconds.
type Sums = [i64; 4];

/// The rows, from the lines of the script.
#[derive(Default)]
pub struct Rows {
    /// The end of the text so far, without its newline.
    line: String,
    /// By command and user tag.
    sums: BTreeMap<(i64, String), Sums>,
    /// How many operations the script has not counted.
    pub uncounted: u64,
}

impl Rows {
    /// Takes the next piece of the script's lines. Returns those that are no rows.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        self.line.push_str(piece);
        let text = std::mem::take(&mut self.line);
        for line in text.split_inclusive('\n') {
            match line.strip_suffix('\n') {
                None => line.clone_into(&mut self.line),
                Some(row) if self.take(row) => {}
                Some(_) => out.push_str(line),
            }
        }
        out
    }

    /// Returns the rows, by command and user tag, and a line that has not ended.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        for ((command, tag), [operations, errors, bytes, time_us]) in std::mem::take(&mut self.sums) {
            let op = op(command);
            out += &format!("{op:<13} {operations:>10} {errors:>8} {bytes:>14} {time_us:>12}  {tag}\n");
        }
        out + &std::mem::take(&mut self.line)
    }

    /// Adds a row, or an operation, to the sums. Returns false for other lines. Drops the empty lines with which bpftrace ends the table.
    fn take(&mut self, line: &str) -> bool {
        if line.is_empty() && !self.sums.is_empty() {
            return true;
        }
        let taken = match line.strip_prefix(UNCOUNTED) {
            Some(operation) => numbers(operation).map(|([command, errors, bytes, time_us], tag)| {
                self.uncounted += 1;
                (command, [1, errors, bytes, time_us], tag)
            }),
            None => row(line),
        };
        let Some((command, added, tag)) = taken else { return false };
        let sums = self.sums.entry((command, tag.to_owned())).or_default();
        for (sum, added) in sums.iter_mut().zip(added) {
            *sum = sum.saturating_add(added);
        }
        true
    }
}

/// Reads a row of the script's table: the command, the sums and the user tag.
fn row(line: &str) -> Option<(i64, Sums, &str)> {
    let (name, rest) = line.split_once(' ')?;
    let command = Command::ALL.iter().find(|command| command.name() == name)?;
    let (sums, tag) = numbers(rest)?;
    Some((command.number().into(), sums, tag))
}

/// Four numbers with blanks around them, and the text behind two blanks.
fn numbers(mut text: &str) -> Option<([i64; 4], &str)> {
    let mut numbers = [0; 4];
    for number in &mut numbers {
        let (word, rest) = text.trim_start_matches(' ').split_once(' ')?;
        *number = word.parse().ok()?;
        text = rest;
    }
    Some((numbers, text.strip_prefix(' ')?))
}

#[cfg(test)]
mod tests {
    use dyntrace::scripts;

    use super::*;

    const TITLES: &str = "command       operations   errors          bytes      time_us  user tag\n";

    #[test]
    fn the_script_declares_the_parameter() {
        let script = scripts::find("efile_by_tag").unwrap();
        let Parameter { name, .. } = parameter(script.name, TracerKind::Bpftrace).unwrap();
        assert_eq!(script.bt.matches(&format!("getopt(\"{name}\", 0)")).count(), 1);
        assert!(script.bt.contains(&format!("printf(\"{UNCOUNTED}%ld ")));
        assert!(parameter("efile_drv", TracerKind::Bpftrace).is_none());
        assert!(parameter(script.name, TracerKind::Dtrace).is_none());
    }

    #[test]
    fn rows_and_operations_add_up() {
        let text = format!(
            "+ 12 1 0 7  a\n{TITLES}OPEN                  32        0              0       782506  req 2\n\
             RENAME                 5        0              0           20  a\n+ 12 0 0 3  \n+ 1 0 9 1  a  b \n\n\nlate"
        );
        let expected = "\
OPEN                   1        0              9            1  a  b 
OPEN                  32        0              0       782506  req 2
RENAME                 1        0              0            3  
RENAME                 6        1              0           27  a
late";
        for size in [1, 10, 1000] {
            let mut rows = Rows::default();
            let pieces: Vec<char> = text.chars().collect();
            let passed: String = pieces.chunks(size).map(|piece| rows.push(&String::from_iter(piece))).collect();
            assert_eq!(passed, TITLES);
            assert_eq!(rows.finish(), expected);
            assert_eq!(rows.uncounted, 3);
        }
    }

    #[test]
    fn other_lines_pass() {
        let mut rows = Rows::default();
        for line in
            ["\n", "+ 1 2\n", "+ \n", "OPEN\n", "OPEN 1 2 3 4\n", "OPEN x 1 2 3  a\n", "Attaching 3 probes...\n"]
        {
            assert_eq!(rows.push(line), line);
        }
        assert_eq!(rows.finish(), "");
    }
}
