// The lifetime of arguments. An `async fn` keeps them until it ends, as tokio's functions do, so ours do, too.

pub type Log = std::sync::Arc<std::sync::Mutex<Vec<String>>>;

/// An argument that logs uses of its path and its drop. The drop removes the file, and logs whether it existed. It is `Send` and
/// not `Sync`.
pub struct Argument {
    path: PathBuf,
    log: Log,
    _not_sync: std::cell::Cell<()>,
}

impl Argument {
    pub fn new(path: PathBuf, log: &Log) -> Argument {
        Argument { path, log: Log::clone(log), _not_sync: Default::default() }
    }

    fn name(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }
}

impl AsRef<Path> for Argument {
    fn as_ref(&self) -> &Path {
        self.log.lock().unwrap().push(format!("{} asked", self.name()));
        &self.path
    }
}

impl AsRef<[u8]> for Argument {
    fn as_ref(&self) -> &[u8] {
        b"contents"
    }
}

impl Drop for Argument {
    fn drop(&mut self) {
        let was_there = std::fs::remove_file(&self.path).or_else(|_| std::fs::remove_dir_all(&self.path)).is_ok();
        self.log.lock().unwrap().push(format!("{} dropped, there: {was_there}", self.name()));
    }
}

/// An argument that must stay on its thread.
struct Local {
    path: PathBuf,
    _not_send: std::rc::Rc<()>,
}

impl AsRef<Path> for Local {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// The paths for a call: a file, a directory with a file in it, a symbolic link.
pub fn prepare(folder: &Path) {
    std::fs::create_dir(folder).unwrap();
    std::fs::write(folder.join("file"), "contents").unwrap();
    std::fs::create_dir(folder.join("directory")).unwrap();
    std::os::unix::fs::symlink("file", folder.join("symlink")).unwrap();
}

/// Returns whether a type known to the compiler is `Send`: an inherent method takes precedence over that of a trait.
struct Sends<T>(std::marker::PhantomData<T>);

impl<T> Sends<T> {
    fn of(_: &T) -> Sends<T> {
        Sends(std::marker::PhantomData)
    }
}

impl<T: Send> Sends<T> {
    fn is_send(&self) -> bool {
        true
    }
}

trait Else {
    fn is_send(&self) -> bool;
}

impl<T> Else for Sends<T> {
    fn is_send(&self) -> bool {
        false
    }
}

/// Makes each call three times: to its end, dropped after one poll, and dropped before. Returns the results, the arguments'
/// logs, and which futures are `Send`.
macro_rules! calls {
    ($place:ident, $told:ident, $argument:ident; $($call:expr;)+) => { $(
        for stage in ["ended", "polled", "unpolled"] {
            let folder = $place.join(format!("{} {stage}", $told.len()));
            prepare(&folder);
            let log = Log::default();
            let $argument = |name: &str| Argument::new(folder.join(name), &log);
            let mut call = Box::pin($call);
            let sends = Sends::of(&call).is_send();
            let answer = match stage {
                "ended" => Some(call.as_mut().await.map(drop).map_err(|error| error.kind())),
                "polled" => { let _ = poll_once(call.as_mut()); None }
                _ => None,
            };
            let with_answer = log.lock().unwrap().clone();
            drop(call);
            let mut seen = std::mem::take(&mut *log.lock().unwrap());
            if stage == "ended" {
                assert_eq!(with_answer, seen, "{}: dropped with the answer, not with the future", stringify!($call));
            } else {
                // The operation may have ended or not.
                seen.iter_mut().for_each(|line| line.truncate(line.find(',').unwrap_or(line.len())));
            }
            let local = {
                let $argument = |name: &str| Local { path: folder.join(name), _not_send: Default::default() };
                Sends::of(&$call).is_send()
            };
            $told.push(format!("{} {stage}: {answer:?}, {seen:?}, Send {sends}, with a !Send argument {local}", stringify!($call)));
        }
    )+ };
}

/// Compares when each function that both libraries have drops its arguments.
pub async fn fates_of_arguments(place: &Path) -> Vec<String> {
    let mut told = Vec::new();
    let permissions = std::fs::metadata(place).unwrap().permissions();
    let builder = fs::DirBuilder::new();
    let mut options = fs::OpenOptions::new();
    options.read(true);
    calls! { place, told, argument;
        fs::canonicalize(argument("file"));
        fs::copy(argument("file"), argument("new"));
        fs::create_dir(argument("new"));
        fs::create_dir_all(argument("new"));
        fs::hard_link(argument("file"), argument("new"));
        fs::metadata(argument("file"));
        fs::read(argument("file"));
        fs::read_dir(argument("directory"));
        fs::read_link(argument("symlink"));
        fs::read_to_string(argument("file"));
        fs::remove_dir(argument("directory"));
        fs::remove_dir_all(argument("directory"));
        fs::remove_file(argument("file"));
        fs::rename(argument("file"), argument("new"));
        fs::set_permissions(argument("file"), permissions.clone());
        fs::symlink(argument("file"), argument("new"));
        fs::symlink_metadata(argument("symlink"));
        fs::try_exists(argument("file"));
        fs::write(argument("new"), "contents");
        builder.create(argument("new"));
        options.open(argument("file"));
        fs::File::open(argument("file"));
        fs::File::create(argument("new"));
        fs::File::create_new(argument("new"));
    }
    assert!(fs::try_exists(Argument::new(place.join("0 ended/symlink"), &Log::default())).await.is_ok());
    std::fs::write(place.join("there"), "").unwrap();
    assert!(fs::try_exists(Argument::new(place.join("there"), &Log::default())).await.unwrap());
    told
}
