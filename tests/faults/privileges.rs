//! Root records in a folder where another user can rename, replace and prepare anything.
//!
//! The other user is a forked child of the user `nobody`, in its own folder, which is not sticky, so that the kernel's protection
//! of symbolic links (`fs.protected_symlinks`) does not apply.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dyntrace::recorder::Session;

use crate::support::{alone, fire, options, times};

const NOBODY: u32 = 65534;

/// A folder of the user nobody, and a folder of root that nobody attacks.
struct Places {
    _all: tempfile::TempDir,
    attackers: PathBuf,
    victim: PathBuf,
}

/// The content of the victim's files.
const SECRET: &str = "root's own";

impl Places {
    /// Returns `None`, with a message, if this is not root.
    fn new(test: &str) -> Option<Places> {
        if !rustix::process::geteuid().is_root() {
            crate::missing::skip("root", &format!("{test}: it takes root to be two users"));
            return None;
        }
        let all = tempfile::tempdir().unwrap();
        fs::set_permissions(all.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let (attackers, victim) = (all.path().join("attackers"), all.path().join("victim"));
        fs::create_dir(&attackers).unwrap();
        chown(&attackers, Some(NOBODY), Some(NOBODY)).unwrap();
        fs::create_dir(&victim).unwrap();
        fs::set_permissions(&victim, fs::Permissions::from_mode(0o700)).unwrap();
        for name in [".metadata.new", "metadata", "process"] {
            fs::write(victim.join(name), SECRET).unwrap();
        }
        Some(Places { _all: all, attackers, victim })
    }

    fn assert_victim_is_unchanged(&self) {
        let mut names: Vec<_> = fs::read_dir(&self.victim).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".metadata.new", "metadata", "process"]);
        for name in names {
            assert_eq!(fs::read_to_string(self.victim.join(&name)).unwrap(), SECRET, "{name:?}");
        }
    }
}

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

/// A process of nobody that alternately replaces a folder by a symbolic link and restores it, until it is dropped.
struct Attacker {
    child: libc::pid_t,
    /// Number of replacements, shared with the child.
    swaps: &'static std::sync::atomic::AtomicU64,
}

impl Attacker {
    /// Replaces `name` by a link to `target`, and renames the old entry to a new name each time.
    fn start(name: &Path, target: &Path) -> Attacker {
        use std::sync::atomic::{AtomicU64, Ordering};
        let (name, target, away) = (c_path(name), c_path(target), c_path(&name.with_file_name("away")));
        // SAFETY: a new mapping of a zeroed page, never unmapped; an AtomicU64 of zeros is valid.
        let swaps: &'static AtomicU64 = unsafe {
            let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
            let page = libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0);
            assert_ne!(page, libc::MAP_FAILED);
            &*page.cast()
        };
        // SAFETY: the child makes only system calls, with memory allocated before.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            // SAFETY: the strings end with NUL; `_exit` runs no code of this program.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::setgroups(0, std::ptr::null()) != 0 || libc::setgid(NOBODY) != 0 || libc::setuid(NOBODY) != 0 {
                    libc::_exit(1);
                }
                loop {
                    libc::rename(name.as_ptr(), away.as_ptr());
                    libc::unlink(name.as_ptr());
                    if libc::symlink(target.as_ptr(), name.as_ptr()) == 0 {
                        swaps.fetch_add(1, Ordering::Relaxed);
                    }
                    libc::unlink(name.as_ptr());
                }
            }
        }
        Attacker { child, swaps }
    }

    fn swaps(&self) -> u64 {
        self.swaps.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        // SAFETY: the child made above, waited for only here.
        unsafe {
            libc::kill(self.child, libc::SIGKILL);
            libc::waitpid(self.child, std::ptr::null_mut(), 0);
        }
    }
}

#[test]
fn a_folder_of_another_user_is_refused_by_name() {
    let Some(places) = Places::new("a_folder_of_another_user_is_refused_by_name") else { return };
    let trace = places.attackers.join("trace");
    fs::create_dir(&trace).unwrap();
    chown(&trace, Some(NOBODY), Some(NOBODY)).unwrap();
    let error = Session::start(options(&trace, "")).unwrap_err().to_string();
    assert!(error.contains("belongs to user 65534") && error.contains("name a new folder"), "{error}");
    assert_eq!(fs::read_dir(&trace).unwrap().count(), 0);
    // A folder of root that others can write is refused, too.
    chown(&trace, Some(0), Some(0)).unwrap();
    fs::set_permissions(&trace, fs::Permissions::from_mode(0o777)).unwrap();
    let error = Session::start(options(&trace, "")).unwrap_err().to_string();
    assert!(error.contains("mode 777") && error.contains("chmod go-w"), "{error}");
    // So is a symbolic link of the user, even to a folder of root.
    let link = places.attackers.join("link");
    std::os::unix::fs::symlink(&places.victim, &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(NOBODY), Some(NOBODY)).unwrap();
    for path in [link.clone(), link.join("below")] {
        let error = Session::start(options(&path, "")).unwrap_err().to_string();
        assert!(error.contains("symbolic link that another user can change"), "{error}");
    }
    places.assert_victim_is_unchanged();
}

/// The user replaces the folder of the process by a link during the recording, while the metadata is rewritten repeatedly.
#[test]
fn a_link_in_place_of_the_processs_folder_is_not_followed() {
    let _alone = alone();
    let Some(places) = Places::new("a_link_in_place_of_the_processs_folder_is_not_followed") else { return };
    let trace = places.attackers.join("trace");
    let session = Session::start(options(&trace, "")).unwrap();
    let folder = session.status().unwrap().folder;
    let metadata = fs::metadata(folder.join("metadata")).unwrap().ino();
    // The owner of the parent folder renames root's folder, and replaces it by another.
    let away = places.attackers.join("away");
    fs::rename(&trace, &away).unwrap();
    fs::create_dir(&trace).unwrap();
    chown(&trace, Some(NOBODY), Some(NOBODY)).unwrap();
    std::os::unix::fs::symlink(&places.victim, trace.join(folder.file_name().unwrap())).unwrap();
    (1..=1000).for_each(|number| fire(1, number));
    let own = away.join(folder.file_name().unwrap());
    let limit = Instant::now() + Duration::from_secs(60);
    while fs::metadata(own.join("metadata")).unwrap().ino() == metadata {
        assert!(Instant::now() < limit, "the metadata is not written again");
        std::thread::sleep(Duration::from_millis(10));
    }
    let summary = session.stop().unwrap();
    assert!(summary.errors.is_empty(), "{:?}", summary.errors);
    places.assert_victim_is_unchanged();
    assert_eq!(crate::support::read(&away)[&1].len(), 1000);
}

/// The user does this continuously while sessions start and stop.
#[test]
fn nobody_wins_the_race_for_the_folder_of_a_trace() {
    let _alone = alone();
    let Some(places) = Places::new("nobody_wins_the_race_for_the_folder_of_a_trace") else { return };
    let trace = places.attackers.join("trace");
    let attacker = Attacker::start(&trace, &places.victim);
    let (mut started, mut refused, mut swaps) = (0, 0, 0);
    let limit = Instant::now() + Duration::from_secs(120);
    while started + refused < times(100, 2000) || started == 0 || refused == 0 || swaps < 100 {
        assert!(Instant::now() < limit, "{started} started, {refused} refused, {swaps} swaps");
        match Session::start(options(&trace, "")) {
            Ok(session) => {
                fire(1, 1);
                // The files are this session's own, even if the name was replaced.
                let summary = session.stop().unwrap();
                assert!(summary.errors.is_empty(), "{:?}", summary.errors);
                started += 1;
            }
            Err(_) => refused += 1,
        }
        swaps = attacker.swaps();
        let _ = fs::remove_dir_all(places.attackers.join("away"));
    }
    drop(attacker);
    places.assert_victim_is_unchanged();
}
