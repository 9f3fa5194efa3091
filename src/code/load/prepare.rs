//! Preparing a module: loading it without effect on running code.
//!
//! 1. Open the file, and check that it may be loaded ([`policy`](super::policy)).
//! 2. Copy the open file to a private folder ([`copies`](super::copies)). The copy is checked and mapped from here on.
//! 3. Inspect the copy ([`inspect`](super::inspect)): it is complete, for this machine, with this program's fingerprint.
//! 4. Write the host's address into the copy, so that the module's first constructor makes its copy of this crate a guest before any
//!    other code of it runs. Then let the dynamic linker map it ([`library`](super::library)).
//! 5. Bind its imports to the host's entries.
//! 6. Make it a version with counters ([`counters`](crate::code::version::counters)).
//! 7. Run its `on_load`.
//!
//! Steps 4 and 7 run the module's own code, so each has a time limit ([`job`](super::job)).

use std::fs::File;
use std::path::{Path, PathBuf};

use dyntrace_probes::{host, thread_progress};
use rustix::fs::{StatVfsMountFlags, statvfs};

use super::copies::Copy;
use super::inspect::{Inspected, inspect};
use super::job::{Job, run_job};
use super::library::Library;
use super::policy::{Allowed, allowed};
use crate::code::error::Error;
use crate::code::load_error::LoadError;
use crate::code::module::host_interface::HostAddress;
use crate::code::version::descriptor::{Descriptor, ExportDescriptor};
use crate::code::version::prepared::Prepared;
use crate::code::version::{VersionHold, still_mapped};

/// Loads the module in this file without effect on running code: maps it, checks it and runs its `on_load`.
/// [`finish`](crate::code::finish()) makes it current, alone or together with others. Any number of modules can be prepared at once.
///
/// The file is copied first, so later changes of it do not matter. Copying takes most of the time if the file has much debug
/// information. Each call has a thread of its own, without a limit; no thread of the runtime is blocked.
///
/// # Errors
///
/// The program does not [`allow`](crate::code::allow) the file; it is incomplete, no module, or has another fingerprint; the dynamic
/// linker refuses it; it exports two functions of one name; its `on_load` fails, panics or exceeds its time limit; the limit of
/// versions is reached. A file that is refused before it is mapped leaves nothing. Once it is mapped its constructors have run, so
/// that it stays in memory and is [counted](still_mapped::kept()), unless it is [`Unloadable`](crate::code::Unloadable).
///
/// Constructors of the library (`.init_array`) run before its descriptor can be read. One that does not return holds up every later
/// load, too, since the dynamic linker has a lock.
///
/// # Cancellation
///
/// If dropped, it is completed in the background, and its result is dropped.
pub async fn prepare(path: impl Into<PathBuf>) -> Result<Prepared, Error> {
    let path = path.into();
    if host::is_guest() {
        return Err(LoadError::in_module(&format!("load the module {path:?}")).into());
    }
    if thread_progress::is_pinned() {
        return Err(Error::InView);
    }
    let allowed = allowed()?;
    run_job("code-prepare", allowed.patience, move |job| load(&path, &allowed, job)).await
}

fn load(path: &Path, allowed: &Allowed, job: &Job<Prepared>) -> Result<Prepared, Error> {
    let mut file = allowed.open(path)?; // 1
    let mut sum = allowed.sum();
    let mut copy = Copy::of(&mut file, path, &allowed.copies, sum.as_mut())?; // 2
    allowed.check_sum(path, sum)?;
    let copied = File::open(copy.path()).map_err(LoadError::system(|| format!("open the copy of {path:?}")))?;
    let Inspected { addresses, host_address } = inspect(&copied, path)?; // 3
    // Before the module becomes a guest, which copies whether pins need barriers.
    let _ = thread_progress::prepare();
    copy.complete(&HostAddress::for_guests(), host_address)?; // 4
    let source = path.to_owned();
    // SAFETY: inspected above; no one else writes the copy.
    let open = move || unsafe { Library::open(copy, source, addresses) };
    let library = job.step("constructors", format!("{path:?}"), open)?;
    let library = library.map_err(|why| not_mapped(path, why, &allowed.copies))?; // 4
    let descriptor = library.descriptor();
    // 5
    if let Err(error) = bind(descriptor, path) {
        // SAFETY: only the module's lists of exports and imports have been used.
        unsafe { still_mapped::discard(descriptor, &library) };
        return Err(error.into());
    }
    let prepared = Prepared::new(descriptor, Box::new(library))?; // 6
    if let Some(on_load) = descriptor.on_load {
        job.hook("on_load", VersionHold::new(prepared.version()), on_load)?; // 7
    }
    Ok(prepared)
}

/// Adds a reason that the dynamic linker does not give.
fn not_mapped(path: &Path, mut why: String, copies: &Path) -> LoadError {
    if statvfs(copies).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOEXEC)) {
        why += &format!("; {copies:?} is mounted with noexec; set another directory by `Policy::copies_in`");
    }
    LoadError::Linker { path: path.to_owned(), why }
}

/// Binds the module's imports, and checks the names of its exports.
fn bind(descriptor: &'static Descriptor, path: &Path) -> Result<(), LoadError> {
    (descriptor.imports)().into_iter().for_each(|import| import.resolve());
    let mut exports = (descriptor.exports)();
    exports.sort_by_key(|export| export.name);
    match exports.iter().zip(exports.iter().skip(1)).find(|(one, other)| one.name == other.name) {
        None => Ok(()),
        Some((one, other)) => {
            let signature = |of: &ExportDescriptor| (of.signature_text)().to_owned();
            let (path, module, export) = (path.to_owned(), descriptor.name.to_owned(), one.name.to_owned());
            Err(LoadError::ExportedTwice { path, module, export, first: signature(one), second: signature(other) })
        }
    }
}
