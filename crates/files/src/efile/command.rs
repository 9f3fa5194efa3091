//! The commands of the file driver: one table, the source of the enum, the reference page and the scripts' maps.

use std::fmt;

use crate::aio_pool::{Counts, Lane};

/// One of the string and integer arguments of `efile_drv-entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// The first string.
    S1,
    /// The second string.
    S2,
    /// The first integer.
    I1,
    /// The second integer.
    I2,
    /// The third integer.
    I3,
    /// The fourth integer.
    I4,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Position::S1 => "s1",
            Position::S2 => "s2",
            Position::I1 => "i1",
            Position::I2 => "i2",
            Position::I3 => "i3",
            Position::I4 => "i4",
        })
    }
}

/// One argument of `efile_drv-entry`, as one command uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Which argument.
    pub position: Position,
    /// Its name: Erlang's where Erlang has one.
    pub meaning: &'static str,
    /// Whether only dyntrace fills this position: Erlang's driver leaves it empty.
    pub added: bool,
}

macro_rules! commands {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident $name:literal = $number:literal,
        [$($position:ident $meaning:literal),*] + [$($added:ident $added_meaning:literal),*];
    )+) => {
        /// A command of the file driver: names the kind of an operation.
        ///
        /// Numbers up to 31 and their names are those of Erlang's file driver; from 64 up they are dyntrace's own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i32)]
        pub enum Command {
            $($(#[doc = $doc])+ $variant = $number,)+
        }

        impl Command {
            /// Every command, in the order of their numbers.
            pub const ALL: &'static [Command] = &[$(Command::$variant),+];

            /// Returns the command's name as scripts print it, such as `RENAME`.
            pub const fn name(self) -> &'static str {
                match self { $(Command::$variant => $name,)+ }
            }

            /// Returns the command's number as probes carry it.
            pub const fn number(self) -> i32 {
                self as i32
            }

            /// Describes the command in one sentence.
            pub const fn description(self) -> &'static str {
                match self { $(Command::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// Returns the arguments that the command fills. A string that is not listed is a null pointer, an integer is 0.
            pub const fn arguments(self) -> &'static [Argument] {
                match self {
                    $(Command::$variant => &[
                        $(Argument { position: Position::$position, meaning: $meaning, added: false },)*
                        $(Argument { position: Position::$added, meaning: $added_meaning, added: true },)*
                    ],)+
                }
            }
        }
    };
}

commands! {
    /// Opens a file.
    Open "OPEN" = 1, [S1 "path", I1 "flags"] + [I2 "mode"];
    /// Reads at the file's cursor.
    Read "READ" = 2, [I1 "fd", I2 "flags", I3 "size"] + [];
    /// Moves the file's cursor.
    Lseek "LSEEK" = 3, [I1 "fd", I2 "offset", I3 "origin"] + [];
    /// Writes at the file's cursor.
    Write "WRITE" = 4, [I1 "fd", I2 "flags", I3 "size"] + [];
    /// Gets the metadata of an open file, or of the file at a path.
    Fstat "FSTAT" = 5, [I1 "fd"] + [S1 "path"];
    /// Gets the current directory.
    Pwd "PWD" = 6, [] + [];
    /// Lists a directory.
    Readdir "READDIR" = 7, [S1 "path"] + [];
    /// Sets the current directory.
    Chdir "CHDIR" = 8, [S1 "path"] + [];
    /// Brings a file's data and metadata to the disk.
    Fsync "FSYNC" = 9, [I1 "fd"] + [];
    /// Makes a directory.
    Mkdir "MKDIR" = 10, [S1 "path"] + [];
    /// Removes a file.
    Delete "DELETE" = 11, [S1 "path"] + [];
    /// Gives a file another name.
    Rename "RENAME" = 12, [S1 "old_name", S2 "new_name"] + [];
    /// Removes an empty directory.
    Rmdir "RMDIR" = 13, [S1 "path"] + [];
    /// Sets the length of an open file.
    Truncate "TRUNCATE" = 14, [I1 "fd", I2 "flags"] + [I3 "length"];
    /// Reads a whole file.
    ReadFile "READ_FILE" = 15, [S1 "path"] + [];
    /// Sets the permissions, the owner or the times of a file.
    WriteInfo "WRITE_INFO" = 16, [I1 "mode", I2 "uid", I3 "gid"] + [S1 "path", I4 "fd"];
    /// Gets the metadata of a name without following a symbolic link.
    Lstat "LSTAT" = 19, [S1 "path"] + [];
    /// Gets the target of a symbolic link.
    Readlink "READLINK" = 20, [S1 "path"] + [];
    /// Makes a hard link.
    Link "LINK" = 21, [S1 "existing_path", S2 "new_path"] + [];
    /// Makes a symbolic link.
    Symlink "SYMLINK" = 22, [S1 "existing_path", S2 "new_path"] + [];
    /// Closes a file.
    Close "CLOSE" = 23, [I1 "fd", I2 "flags"] + [];
    /// Writes at an offset.
    Pwritev "PWRITEV" = 24, [I1 "fd", I2 "flags", I3 "size"] + [I4 "offset"];
    /// Reads at an offset.
    Preadv "PREADV" = 25, [I1 "fd", I2 "flags", I3 "size"] + [I4 "offset"];
    /// Sets an option of an open file.
    Setopt "SETOPT" = 26, [I1 "opt_name", I2 "opt_specific_value"] + [I3 "fd"];
    /// Reads the bytes that a header in the file points to.
    Ipread "IPREAD" = 27, [I1 "fd", I2 "flags", I3 "offsets[0]", I4 "size"] + [];
    /// Gets a name's other form, where a system has such.
    Altname "ALTNAME" = 28, [S1 "path"] + [];
    /// Reads ahead until the buffer holds the end of a line.
    ReadLine "READ_LINE" = 29, [I1 "fd", I2 "flags", I3 "read_offset", I4 "read_ahead"] + [];
    /// Brings a file's data to the disk.
    Fdatasync "FDATASYNC" = 30, [I1 "fd"] + [];
    /// Tells the system how a part of a file will be used.
    Fadvise "FADVISE" = 31, [I1 "fd", I2 "offset", I3 "length", I4 "advise_type"] + [];
    /// Gets the absolute path without symbolic links.
    Canonicalize "CANONICALIZE" = 64, [] + [S1 "path"];
    /// Copies a file's data and permissions.
    Copy "COPY" = 65, [] + [S1 "from", S2 "to"];
    /// Writes a whole file.
    WriteFile "WRITE_FILE" = 66, [] + [S1 "path", I3 "size"];
    /// Makes a directory and the missing ones above it.
    MkdirAll "MKDIR_ALL" = 67, [] + [S1 "path"];
    /// Removes a directory and everything in it.
    RmdirAll "RMDIR_ALL" = 68, [] + [S1 "path"];
}

/// The file driver's name in the pool's counts.
const DRIVER: &str = "efile_drv";

impl Command {
    /// Counts an operation for the pool's metrics.
    pub(super) fn count(self, counts: &mut Counts, succeeded: bool, bytes: u64) {
        counts.add(DRIVER, self.name(), succeeded, bytes);
    }

    /// Returns the command's number among those that are answered inline.
    pub(super) fn inline_number(self) -> usize {
        use Command::{
            Canonicalize, Close, Fstat, Lseek, Lstat, Open, Preadv, Pwritev, Read, ReadFile, Readlink, Write,
        };
        match self {
            Read => 0,
            Preadv => 1,
            ReadFile => 2,
            Fstat => 3,
            Lstat => 4,
            Open => 5,
            Close => 6,
            Lseek => 7,
            Readlink => 8,
            Canonicalize => 9,
            Write => 10,
            Pwritev => 11,
            _ => 15,
        }
    }

    /// Returns the names that the pool's counts give an operation.
    pub(super) fn counted_as(self) -> (&'static str, &'static str) {
        (DRIVER, self.name())
    }

    /// Returns whether the command reads, writes or copies bytes of files. `efile_drv-return` shows how many.
    ///
    /// ```
    /// use dyntrace::efile::Command;
    ///
    /// assert!(Command::Copy.moves_bytes() && !Command::Rename.moves_bytes());
    /// ```
    pub const fn moves_bytes(self) -> bool {
        use Command::{Copy, Ipread, Preadv, Pwritev, Read, ReadFile, ReadLine, Write, WriteFile};
        matches!(self, Copy | Ipread | Preadv | Pwritev | Read | ReadFile | ReadLine | Write | WriteFile)
    }

    /// The pool's lane for the command. Commands that wait for disk writes, or always take long, get a thread each.
    pub(super) fn lane(self) -> Lane {
        match self {
            Command::Fsync | Command::Fdatasync | Command::Copy | Command::RmdirAll => Lane::Slow,
            _ => Lane::Fast,
        }
    }
}

impl fmt::Display for Command {
    /// As scripts print it: `RENAME (12)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `FILE_NAME number` and the `dt_` lines under it, as in Erlang's guide.
    const ERLANG: &str = "
        OPEN 1 i1=flags s1=path
        READ 2 i1=fd i2=flags i3=size
        LSEEK 3 i1=fd i2=offset i3=origin
        WRITE 4 i1=fd i2=flags i3=size
        FSTAT 5 i1=fd
        PWD 6
        READDIR 7 s1=path
        CHDIR 8 s1=path
        FSYNC 9 i1=fd
        MKDIR 10 s1=path
        DELETE 11 s1=path
        RENAME 12 s1=old_name s2=new_name
        RMDIR 13 s1=path
        TRUNCATE 14 i1=fd i2=flags
        READ_FILE 15 s1=path
        WRITE_INFO 16 i1=mode i2=uid i3=gid
        LSTAT 19 s1=path
        READLINK 20 s1=path
        LINK 21 s1=existing_path s2=new_path
        SYMLINK 22 s1=existing_path s2=new_path
        CLOSE 23 i1=fd i2=flags
        PWRITEV 24 i1=fd i2=flags i3=size
        PREADV 25 i1=fd i2=flags i3=size
        SETOPT 26 i1=opt_name i2=opt_specific_value
        IPREAD 27 i1=fd i2=flags i3=offsets[0] i4=size
        ALTNAME 28 s1=path
        READ_LINE 29 i1=fd i2=flags i3=read_offset i4=read_ahead
        FDATASYNC 30 i1=fd
        FADVISE 31 i1=fd i2=offset i3=length i4=advise_type
    ";

    #[test]
    fn erlangs_commands_are_the_same_here() {
        let erlang = ERLANG.lines().map(str::trim).filter(|line| !line.is_empty());
        let ours = Command::ALL.iter().filter(|command| command.number() < 64);
        assert_eq!(erlang.clone().count(), 29);
        assert_eq!(ours.clone().count(), 29);
        for (line, command) in erlang.zip(ours) {
            let mut words: Vec<String> = command
                .arguments()
                .iter()
                .filter(|argument| !argument.added)
                .map(|argument| format!("{}={}", argument.position, argument.meaning))
                .collect();
            words.sort();
            let mut expected: Vec<&str> = line.split(' ').collect();
            expected[2..].sort();
            assert_eq!(&expected[..2], [command.name(), &command.number().to_string()]);
            assert_eq!(&expected[2..], words, "{command}");
        }
    }

    #[test]
    fn numbers_rise_and_positions_are_used_once() {
        assert!(Command::ALL.is_sorted_by(|a, b| a.number() < b.number()));
        for command in Command::ALL {
            let positions: Vec<_> = command.arguments().iter().map(|argument| argument.position).collect();
            let unique: std::collections::HashSet<_> = positions.iter().collect();
            assert_eq!(unique.len(), positions.len(), "{command}");
        }
    }

    /// The reference page is made from the table: `DYNTRACE_BLESS=1 cargo test reference_page` writes it.
    #[test]
    fn the_reference_page_is_that_of_the_table() {
        let mut page = String::from(
            "| number | command | s1 | s2 | i1 | i2 | i3 | i4 | what it does |\n|---|---|---|---|---|---|---|---|---|\n",
        );
        for command in Command::ALL {
            page += &format!("| {} | {} |", command.number(), command.name());
            for position in [Position::S1, Position::S2, Position::I1, Position::I2, Position::I3, Position::I4] {
                let argument = command.arguments().iter().find(|argument| argument.position == position);
                page += &match argument {
                    Some(argument) if argument.added => format!(" *{}* |", argument.meaning),
                    // Escaped, so that brackets make no link.
                    Some(argument) => format!(" {} |", argument.meaning.replace('[', "\\[").replace(']', "\\]")),
                    None => " |".to_owned(),
                };
            }
            page += &format!(" {} |\n", command.description());
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/efile/commands.md");
        if std::env::var_os("DYNTRACE_BLESS").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), page);
    }
}
