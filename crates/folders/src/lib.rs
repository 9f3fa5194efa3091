//! Folders that dyntrace writes into, and folders that it reads, both used by descriptor.
//!
//! The rule for writing, in one sentence: **dyntrace writes files only into folders that belong to root or to the user of the process,
//! and in which no other user can write.** [`Folder`] is the only way to get a file that is written:
//!
//! - A path is resolved once, name by name, by descriptor. A symbolic link on the way is followed only if it and the folder that holds
//!   it obey the rule, so that no other user can redirect the path.
//! - A missing folder is created with mode 0700. An existing folder of another user, or one that others can write in, is refused by a
//!   [`Distrust`] that names the remedy. A sticky folder, such as `/tmp`, may hold new folders, but no files.
//! - Everything below is done by descriptor, on a single name without `/`: a file is new (`O_EXCL`) or a regular file (`O_NOFOLLOW`).
//!
//! [`OutputPlace`] is for output, which a user may want in any folder, also in `/tmp`: links are followed by the same rule, and the [`Output`] is a
//! new file that takes the place of an old one.
//!
//! [`Reading`] is the same for traces that are read: regular files only, and no symbolic link below the folder that the user named.
//! [`open_regular`] opens a single file whose path is another user's choice. [`Scratch`] is a folder for one process, which the next process removes if this one is killed.
//!
//! [`process_folder`] is the folder in /proc by which a process is read.

#[cfg(not(unix))]
compile_error!("dyntrace serves Unix systems: Linux, macOS, illumos, FreeBSD and their kin");

mod distrust;
mod folder;
mod output;
mod process;
mod reading;
mod regular;
mod scratch;
mod walk;

pub use distrust::Distrust;
pub use folder::{Folder, NewFile, remove_empty};
pub use output::{Output, OutputPlace, make_folder, settle};
pub use process::{exists, living_thread, process_folder};
pub use reading::Reading;
pub use regular::open_regular;
pub use scratch::Scratch;
