//! Holds pages of the book against the command: two are made from its help, one from the variables that the sources read, and each
//! command line of a page must be one that the command accepts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Arg, Command, Parser as _};

use crate::Arguments;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Holds a page against the text that it must have. With UPDATE_GOLDEN set, it writes the page.
fn hold(page: &str, text: &str) {
    let path = root().join("docs").join(page);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap();
    assert!(written == text, "docs/{page} is not what the command says: UPDATE_GOLDEN=1 writes it anew");
}

/// The commands that help shows, in its order; those of a command follow it.
fn commands() -> Vec<(String, Command)> {
    let mut command = crate::command();
    command.build();
    let mut found = Vec::new();
    below(&command, &mut found);
    found
}

fn below(command: &Command, found: &mut Vec<(String, Command)>) {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help") {
        let name = inner.get_bin_name().unwrap_or(inner.get_name());
        found.push((name.to_owned(), inner.clone()));
        below(inner, found);
    }
}

/// A line of a table: the argument as it is written, and its help.
fn row(argument: &Arg) -> String {
    let mut names: Vec<String> = Vec::new();
    names.extend(argument.get_short().map(|short| format!("-{short}")));
    names.extend(argument.get_long().map(|long| format!("--{long}")));
    let values: Vec<&str> = argument.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect();
    let values = values.join(" ");
    let is_option = !names.is_empty();
    let mut shown = names.join(", ");
    if !is_option {
        shown = values;
    } else if argument.get_action().takes_values() && !values.is_empty() {
        let is_optional = argument.get_num_args().is_some_and(|number| number.min_values() == 0);
        shown += &if is_optional { format!("[={values}]") } else { format!(" {values}") };
    }
    let mut help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let values = argument.get_possible_values();
    if is_option && argument.get_action().takes_values() && !values.is_empty() {
        let values: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        let _ = write!(help, ": {}", values.join(", "));
    }
    let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if is_option
        && argument.get_action().takes_values()
        && !defaults.is_empty()
        && !argument.is_hide_default_value_set()
    {
        let _ = write!(help, " [default: {}]", defaults.join(", "));
    }
    format!(
        "| `{}` | {} |\n",
        shown.replace('|', "\\|"),
        help.replace('|', "\\|").replace('*', "\\*").replace('<', "&lt;").replace('\n', " ")
    )
}

#[test]
fn the_page_of_options_is_made_from_the_help() {
    let mut page = "# Options\n\n\
        This page is made from the command's help: `dyntrace COMMAND --help` has the same, with examples. `-h` and `--help` are options of\n\
        each command, and so is `--color=auto|always|never`.\n"
        .to_owned();
    for (name, command) in commands() {
        let _ = write!(page, "\n{} {name}\n\n", if name.split(' ').count() > 2 { "###" } else { "##" });
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, "{}.", about.replace('\n', " "));
        let is_shown =
            |argument: &&Arg| !argument.is_hide_set() && !["help", "color"].contains(&argument.get_id().as_str());
        let rows: String = command.get_arguments().filter(is_shown).map(row).collect();
        if !rows.is_empty() {
            let _ = write!(page, "\n| argument | meaning |\n|---|---|\n{rows}");
        }
    }
    hold("options.md", &page);
}

#[test]
fn help_has_two_screens() {
    /// Two screens of 50 lines.
    const LINES: usize = 100;
    // Without the orders of `trace` and `code`.
    let lines = |mut command: Command| {
        command.render_long_help().to_string().lines().count() - command.get_subcommands().count()
    };
    let lines = commands().into_iter().map(|(name, command)| (name, lines(command)));
    let long: Vec<_> = lines.filter(|(_, lines)| *lines > LINES).collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn the_page_of_exit_statuses_is_made_from_the_help() {
    let mut page = "# Exit statuses\n\n\
        This page is made from the command's help. An error is a line on standard error that begins with `dyntrace:`.\n"
        .to_owned();
    let mut told = 0;
    for (name, command) in commands() {
        let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        let Some((_, statuses)) = help.split_once("Exit status") else { continue };
        let (first, table) = statuses.split_once('\n').unwrap();
        let table = table.split("\n\n").next().unwrap().trim_end();
        let _ = write!(page, "\n## {name}\n\n```text\nExit status{first}\n{table}\n```\n");
        told += 1;
    }
    assert!(told > 15, "only {told} commands tell their statuses");
    hold("exit_statuses.md", &page);
}

/// The words of a command line up to a comment, a pipe or a redirection, as a shell splits it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                let quoted = characters.by_ref().take_while(|next| *next != character);
                word.get_or_insert_default().extend(quoted);
            }
            ' ' => words.extend(word.take()),
            '#' | '|' | '>' | '<' | '&' | ';' if word.is_none() => break,
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[test]
fn each_command_line_of_the_pages_is_accepted() {
    let mut pages: Vec<PathBuf> = fs::read_dir(root().join("docs")).unwrap().map(|page| page.unwrap().path()).collect();
    pages.push(root().join("README.md"));
    let mut lines = 0;
    let mut wrong = Vec::new();
    for page in pages.iter().filter(|page| page.extension().is_some_and(|extension| extension == "md")) {
        let text = fs::read_to_string(page).unwrap();
        let blocks = text.split("```").skip(1).step_by(2).flat_map(str::lines);
        for line in blocks.filter_map(|line| line.strip_prefix("$ ").or(line.strip_prefix("# "))) {
            let Some((before, arguments)) = line.split_once("dyntrace ") else { continue };
            // Variables may come first.
            if !before.split(' ').all(|word| word.is_empty() || word.contains('=')) {
                continue;
            }
            let arguments = words(arguments).into_iter().map(argument);
            if let Err(error) = Arguments::try_parse_from(["dyntrace".to_owned()].into_iter().chain(arguments))
                && !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
            {
                wrong.push(format!("{}: {line}\n{error}", page.display()));
            }
            lines += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(lines > 100, "only {lines} lines");
}

/// A word of a page with a number in place of a name for one.
fn argument(word: String) -> String {
    match &*word {
        "N" | "ID" => "1".to_owned(),
        _ if word.starts_with("PID_") => "4711".to_owned(),
        _ => word.replace("PID", "4711"),
    }
}

/// Names of variables that a text reads: the literals behind these calls.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let calls = ["var(\"", "var_os(\"", "from_environment(\"", "const VARIABLE: &str = \""];
    let literals = calls.into_iter().flat_map(move |call| text.split(call).skip(1));
    literals.filter_map(|rest| rest.split('"').next()).filter(|name| !name.starts_with("CARGO") && *name != "OUT_DIR")
}

fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn the_page_of_variables_has_those_that_the_sources_read() {
    let mut texts = Vec::new();
    sources(&root().join("src"), &mut texts);
    let crates = "analysis cli dist files folders formats inspect probes processes programs reader resources runs tasks terminal";
    for name in crates.split(' ') {
        sources(&root().join("crates").join(name).join("src"), &mut texts);
    }
    let read: BTreeSet<&str> = texts.iter().flat_map(|text| variables(text)).collect();
    let page = fs::read_to_string(root().join("docs/environment.md")).unwrap();
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    // Options of a variable are in small letters.
    let is_variable = |name: &&str| name.starts_with(char::is_uppercase) && !name.starts_with("RUSTFLAGS");
    let told: BTreeSet<&str> = cells.filter(is_variable).collect();
    assert_eq!(told, read, "left: told by docs/environment.md, right: read by the sources");
}
