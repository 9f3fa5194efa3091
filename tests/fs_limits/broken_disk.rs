//! A disk on which everything but reads fails: each command returns the error. A seccomp filter simulates the disk.

use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;

use dyntrace::aio_pool::Pool;
use dyntrace::efile::Driver;
use dyntrace::fs::{self, Advice, File};
use libc::{c_long, sock_filter, sock_fprog};
use rustix::io::Errno;
use tokio::io::{AsyncSeekExt, AsyncWriteExt};

use crate::{errno, inside, run};

const BROKEN: Option<i32> = Some(Errno::IO.raw_os_error());

/// Makes these system calls return EIO in this thread and those that it starts; only for `descriptor`, if there is one.
fn break_calls(calls: &[c_long], descriptor: Option<i32>) -> io::Result<()> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    // Offsets in `seccomp_data`: the number, and the lower half of the first argument.
    const NUMBER: u32 = 0;
    const FIRST: u32 = if cfg!(target_endian = "little") { 16 } else { 20 };
    let step = |code, k, jt, jf| sock_filter { code, jt, jf, k };
    let mut filter = Vec::new();
    for &call in calls {
        filter.push(step(LOAD, NUMBER, 0, 0));
        match descriptor {
            None => filter.push(step(JUMP_IF_EQUAL, call as u32, 0, 1)),
            Some(descriptor) => filter.extend([
                step(JUMP_IF_EQUAL, call as u32, 0, 3),
                step(LOAD, FIRST, 0, 0),
                step(JUMP_IF_EQUAL, descriptor as u32, 0, 1),
            ]),
        }
        filter.push(step(RETURN, libc::SECCOMP_RET_ERRNO | Errno::IO.raw_os_error() as u32, 0, 0));
    }
    filter.push(step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0));
    let program = sock_fprog { len: filter.len().try_into().unwrap(), filter: filter.as_mut_ptr() };
    // SAFETY: takes no pointers.
    let is_allowed = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1_u64, 0_u64, 0_u64, 0_u64) } == 0;
    let filters = u64::from(libc::SECCOMP_MODE_FILTER);
    // SAFETY: `program` and its filter are valid during the call, which copies them.
    match is_allowed && unsafe { libc::prctl(libc::PR_SET_SECCOMP, filters, &raw const program) } == 0 {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}

/// Runs the test of this name in its own process, if system calls can be filtered here.
fn can_break(test: &str) -> bool {
    let tried = std::thread::spawn(|| break_calls(&[], None)).join().unwrap();
    if let Err(error) = &tried {
        crate::missing::skip("filters", &format!("{test}: system calls cannot be filtered here: {error}"));
    }
    tried.is_ok() && inside(test, |program| Command::new(program))
}

#[test]
fn every_command_on_an_open_file_tells_of_it() {
    if !can_break("broken_disk::every_command_on_an_open_file_tells_of_it") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    let open = std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    let calls = [
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_pwrite64,
        libc::SYS_pwritev,
        libc::SYS_read,
        libc::SYS_pread64,
        libc::SYS_preadv,
        libc::SYS_lseek,
        libc::SYS_fsync,
        libc::SYS_fdatasync,
        libc::SYS_ftruncate,
        libc::SYS_fadvise64,
        libc::SYS_fchmod,
        libc::SYS_statx,
        libc::SYS_close,
    ];
    break_calls(&calls, Some(open.as_raw_fd())).unwrap();
    run(async {
        let mut file = File::from_std(open);
        assert_eq!(errno(file.metadata().await), BROKEN);
        assert_eq!(errno(file.set_len(1).await), BROKEN);
        assert_eq!(errno(file.sync_all().await), BROKEN);
        assert_eq!(errno(file.sync_data().await), BROKEN);
        assert_eq!(errno(file.advise(0, 0, Advice::Normal).await), BROKEN);
        let permissions = std::fs::metadata("/").unwrap().permissions();
        assert_eq!(errno(file.set_permissions(permissions).await), BROKEN);
        assert_eq!(errno(file.rewind().await), BROKEN);
        assert_eq!(errno(file.read_at(vec![0; 3], 0).await.0), BROKEN);
        assert_eq!(errno(file.read_vectored_at(vec![vec![0; 3]; 2], 0).await.0), BROKEN);
        let (written, buffer) = file.write_at(b"not lost".to_vec(), 0).await;
        assert_eq!((errno(written), &buffer[..]), (BROKEN, &b"not lost"[..]));
        assert_eq!(errno(file.write_vectored_at(vec![vec![0; 3]; 2], 0).await.0), BROKEN);
        // Accepted; each operation that needs the write returns the error until it succeeds.
        file.write_all(b"kept").await.unwrap();
        for _ in 0..2 {
            assert_eq!(errno(file.flush().await), BROKEN);
            assert_eq!(errno(file.sync_all().await), BROKEN);
        }
        assert_eq!(errno(file.close().await), BROKEN);
    });
}

#[test]
fn every_command_on_a_path_tells_of_it() {
    if !can_break("broken_disk::every_command_on_a_path_tells_of_it") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("name");
    let calls = [
        libc::SYS_openat,
        libc::SYS_statx,
        libc::SYS_mkdirat,
        libc::SYS_unlinkat,
        libc::SYS_renameat,
        libc::SYS_renameat2,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_readlinkat,
        libc::SYS_fchmodat,
        libc::SYS_fchownat,
        libc::SYS_getcwd,
        libc::SYS_chdir,
        libc::SYS_open,
        libc::SYS_mkdir,
        libc::SYS_unlink,
        libc::SYS_rmdir,
        libc::SYS_rename,
        libc::SYS_link,
        libc::SYS_symlink,
        libc::SYS_readlink,
        libc::SYS_chmod,
        libc::SYS_chown,
    ];
    let permissions = std::fs::metadata("/").unwrap().permissions();
    let tells = async move |path: &Path| {
        assert_eq!(errno(File::open(path).await), BROKEN);
        assert_eq!(errno(fs::read(path).await), BROKEN);
        assert_eq!(errno(fs::write(path, "").await), BROKEN);
        assert_eq!(errno(fs::copy(path, path).await), BROKEN);
        assert_eq!(errno(fs::metadata(path).await), BROKEN);
        assert_eq!(errno(fs::symlink_metadata(path).await), BROKEN);
        assert_eq!(errno(fs::try_exists(path).await), BROKEN);
        assert_eq!(errno(fs::canonicalize(path).await), BROKEN);
        assert_eq!(errno(fs::read_dir(path).await), BROKEN);
        assert_eq!(errno(fs::create_dir(path).await), BROKEN);
        assert_eq!(errno(fs::create_dir_all(path).await), BROKEN);
        assert_eq!(errno(fs::remove_dir(path).await), BROKEN);
        assert_eq!(errno(fs::remove_dir_all(path).await), BROKEN);
        assert_eq!(errno(fs::remove_file(path).await), BROKEN);
        assert_eq!(errno(fs::rename(path, path).await), BROKEN);
        assert_eq!(errno(fs::hard_link(path, path).await), BROKEN);
        assert_eq!(errno(fs::symlink(path, path).await), BROKEN);
        assert_eq!(errno(fs::read_link(path).await), BROKEN);
        assert_eq!(errno(fs::set_permissions(path, permissions.clone()).await), BROKEN);
        assert_eq!(errno(fs::chown(path, Some(0), None).await), BROKEN);
        assert_eq!(errno(fs::current_dir().await), BROKEN);
        assert_eq!(errno(fs::set_current_dir(path).await), BROKEN);
    };
    // On another thread, so that this one can remove the directory.
    let test = std::thread::spawn(move || {
        break_calls(&calls, None).unwrap();
        run(tells(&path));
    });
    test.join().unwrap();
}

/// Returns the error after the entries that were read before.
#[test]
fn an_error_in_a_listing_comes_in_its_place() {
    if !can_break("broken_disk::an_error_in_a_listing_comes_in_its_place") {
        return;
    }
    const FILES: usize = 1000;
    let place = tempfile::tempdir().unwrap();
    for file in 0..FILES {
        std::fs::write(place.path().join(format!("{file:0>250}")), "").unwrap();
    }
    // Each thread makes one trip: the first can read, the second cannot.
    let pool = Pool::builder().threads(0).build();
    Driver::install(Driver::new(pool.clone())).unwrap();
    let trip = move |broken: &'static [c_long]| {
        let pool = pool.clone();
        std::thread::spawn(move || {
            break_calls(broken, None).unwrap();
            while !pool.run_one() {
                std::thread::yield_now();
            }
        })
    };
    run(async {
        let first = trip(&[]);
        let mut entries = fs::read_dir(place.path()).await.unwrap();
        first.join().unwrap();
        let second = trip(&[libc::SYS_getdents64]);
        let mut count = 0;
        let error = loop {
            match entries.next_entry().await {
                Ok(entry) => count += usize::from(entry.is_some()),
                Err(error) => break error,
            }
        };
        second.join().unwrap();
        assert_eq!(error.raw_os_error(), BROKEN);
        // More entries than one trip returns.
        assert!((256..FILES).contains(&count), "{count}");
    });
}
