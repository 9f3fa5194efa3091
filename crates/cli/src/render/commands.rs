//! The names of the file driver's commands, by their numbers.

use dyntrace::efile::Command;

/// The names, each at the place of its number.
pub struct Commands(Vec<&'static str>);

impl Commands {
    /// Those of the file driver's table.
    pub fn new() -> Commands {
        let mut names = Vec::new();
        for command in Command::ALL {
            let number = usize::try_from(command.number()).expect("numbers of commands are small and positive");
            names.resize(names.len().max(number + 1), "");
            names[number] = command.name();
        }
        Commands(names)
    }

    /// The name of a command; empty, as in the scripts, if there is none of this number.
    pub fn name(&self, number: i64) -> &'static str {
        usize::try_from(number).ok().and_then(|number| self.0.get(number)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_number() {
        let commands = Commands::new();
        for command in Command::ALL {
            assert_eq!(commands.name(command.number().into()), command.name());
        }
        for number in [-1, 0, 17, 69, i64::MAX, i64::MIN] {
            assert_eq!(commands.name(number), "");
        }
    }
}
