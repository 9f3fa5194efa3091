// Compares the results of each call with tokio's: values, error kinds and errnos.

fn outcome<T: std::fmt::Debug>(answer: io::Result<T>) -> String {
    match answer {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{:?} {:?}", error.kind(), error.raw_os_error()),
    }
}

macro_rules! outcomes {
    ($told:ident; $($call:expr;)+) => { $(
        $told.push(format!("{}: {}", stringify!($call), outcome($call.await)));
    )+ };
}

/// Every combination of options, on an existing and on a missing file.
pub async fn outcomes_of_options(place: &Path) -> Vec<String> {
    let mut told = Vec::new();
    for bits in 0..64u32 {
        for there in [false, true] {
            let path = place.join(format!("{bits} {there}"));
            if there {
                std::fs::write(&path, "there").unwrap();
            }
            let bit = |n: u32| bits & 1 << n != 0;
            let mut options = fs::OpenOptions::new();
            options.read(bit(0)).write(bit(1)).append(bit(2)).truncate(bit(3)).create(bit(4)).create_new(bit(5));
            let mut line = format!("{bits:06b} there {there}: ");
            match options.open(&path).await {
                Ok(mut file) => {
                    let mut two = [0; 2];
                    line += &outcome(file.read(&mut two).await.map(|count| two[..count].to_vec()));
                    let _ = file.write_all(b"ours").await;
                    line += &outcome(file.flush().await);
                    // dyntrace keeps unwritten bytes and would repeat the error; a seek discards them.
                    line += &outcome(file.stream_position().await);
                    line += &outcome(file.sync_all().await);
                }
                Err(error) => line += &outcome::<()>(Err(error)),
            }
            let mode = std::fs::metadata(&path).map(|metadata| metadata.mode());
            line += &format!(", {:?}, {mode:?}", std::fs::read_to_string(&path).ok(), mode = mode.ok());
            told.push(line);
        }
    }
    told
}

/// Tries the documented errors and results of each function.
pub async fn outcomes_of_functions(place: &Path) -> Vec<String> {
    let mut told = Vec::new();
    let at = |name: &str| place.join(name);
    std::fs::write(at("file"), "contents").unwrap();
    std::fs::create_dir_all(at("full/inner")).unwrap();
    std::fs::create_dir(at("empty")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
    std::os::unix::fs::symlink("file", at("symlink")).unwrap();
    let mode = Permissions::from_mode(0o640);
    let relative = |path: PathBuf| path.strip_prefix(place.canonicalize().unwrap()).unwrap().to_owned();
    let kind = |metadata: Metadata| (metadata.is_file(), metadata.is_dir(), metadata.is_symlink(), metadata.len());
    outcomes! { told;
        async { fs::canonicalize(at("full/../symlink")).await.map(relative) };
        async { fs::canonicalize(at("dangling")).await.map(relative) };
        fs::copy(at("file"), at("copy"));
        fs::copy(at("file"), at("full"));
        fs::copy(at("full"), at("copy"));
        fs::copy(at("missing"), at("copy"));
        fs::read_to_string(at("copy"));
        fs::create_dir(at("empty"));
        fs::create_dir(at("file/below"));
        fs::create_dir_all(at("empty"));
        fs::create_dir_all(at("file"));
        fs::create_dir_all("");
        fs::hard_link(at("file"), at("copy"));
        fs::hard_link(at("file"), at("linked"));
        fs::hard_link(at("full"), at("linked too"));
        async { fs::metadata(at("symlink")).await.map(|metadata| metadata.is_file()) };
        async { fs::metadata(at("dangling")).await.map(kind) };
        async { fs::metadata(at("file/")).await.map(kind) };
        async { fs::symlink_metadata(at("symlink")).await.map(kind) };
        async { fs::symlink_metadata(at("file/below")).await.map(kind) };
        fs::read(at("file"));
        fs::read("/dev/null");
        fs::read(at("dangling"));
        fs::read_link(at("symlink"));
        fs::read_link(at("file"));
        fs::remove_dir(at("full"));
        fs::remove_dir(at("file"));
        fs::remove_dir(at("empty"));
        fs::remove_dir_all(at("symlink"));
        fs::remove_dir_all(at("missing"));
        fs::remove_file(at("full"));
        fs::remove_file(at("dangling"));
        fs::rename(at("missing"), at("elsewhere"));
        fs::rename(at("full"), at("file"));
        fs::rename(at("file"), at("full"));
        fs::rename(at("linked"), at("renamed"));
        fs::set_permissions(at("file"), mode.clone());
        fs::set_permissions(at("missing"), mode.clone());
        async { fs::metadata(at("file")).await.map(|metadata| metadata.mode() & 0o7777) };
        fs::symlink("anything", at("file"));
        fs::symlink("", at("to nothing"));
        fs::try_exists(at("file/below"));
        fs::try_exists(at("missing"));
        fs::write(at("file"), "");
        fs::read(at("file"));
        fs::write(at("full"), "");
        fs::write("", "");
        fs::DirBuilder::new().create(at("full"));
        fs::DirBuilder::new().recursive(true).create(at("file"));
        fs::DirBuilder::new().recursive(true).mode(0o711).create(at("made/of/parts"));
        async { fs::metadata(at("made/of")).await.map(|metadata| metadata.mode() & 0o777) };
        async { fs::read_dir(at("file")).await.map(drop) };
        async { fs::read_dir(at("missing")).await.map(drop) };
    }
    // A name that is removed after it was listed.
    let mut entries = fs::read_dir(at("full")).await.unwrap();
    std::fs::remove_dir_all(at("full")).unwrap();
    let entry = entries.next_entry().await.unwrap().unwrap();
    outcomes! { told;
        async { entry.file_type().await.map(|of| of.is_dir()) };
        async { entry.metadata().await.map(kind) };
        async { entries.next_entry().await.map(|entry| entry.is_none()) };
        async { entries.next_entry().await.map(|entry| entry.is_none()) };
    }
    told
}

/// Open files: pending errors, and the operations that return them.
pub async fn outcomes_of_files(place: &Path) -> Vec<String> {
    let mut told = Vec::new();
    let full = async || {
        let mut file = fs::File::options().write(true).open("/dev/full").await.unwrap();
        file.write_all(b"no room").await.unwrap();
        file
    };
    let kind = |answer: io::Result<()>| answer.map_err(|error| error.kind());
    // The error stays with the file that accepted the bytes; clones and std do not get it.
    let mut file = full().await;
    let mut clone = file.try_clone().await.unwrap();
    told.push(format!("clone {:?}", kind(clone.flush().await)));
    told.push(format!("file {:?}", kind(file.flush().await)));
    drop(full().await.into_std().await);
    let file = full().await;
    told.push(format!("metadata {:?}", file.metadata().await.map(|metadata| metadata.len()).ok()));
    let mut file = full().await;
    told.push(format!("write {:?}", kind(file.write_all(b"more").await)));
    let mut file = full().await;
    told.push(format!("shutdown {:?}", kind(file.shutdown().await)));

    // Clones and std see all of a write in flight.
    let path = place.join("written");
    let data = vec![b'x'; 3 << 20];
    let mut file = fs::File::create(&path).await.unwrap();
    file.write_all(&data).await.unwrap();
    let clone = file.try_clone().await.unwrap();
    told.push(format!("clone {:?}", clone.metadata().await.map(|metadata| metadata.len()).ok()));
    file.write_all(&data).await.unwrap();
    let std = file.into_std().await;
    told.push(format!("std {:?}", std.metadata().map(|metadata| metadata.len()).ok()));
    // The write waits for the started read, and writes at the caller's position.
    let mut file = fs::File::options().read(true).write(true).open(&path).await.unwrap();
    file.read_exact(&mut [0; 5]).await.unwrap();
    file.write_all(b"five").await.unwrap();
    file.set_permissions(Permissions::from_mode(0o600)).await.unwrap();
    file.sync_data().await.unwrap();
    told.push(format!("position {:?}", file.stream_position().await.ok()));
    told.push(format!("{:?}", &std::fs::read(&path).unwrap()[..10]));
    told.push(format!("{:?}", file.set_len(u64::MAX).await.map_err(|error| error.kind())));
    told.push(format!("{:?}", kind(file.seek(SeekFrom::End(i64::MIN)).await.map(drop))));
    told.push(format!("position {:?}", file.stream_position().await.ok()));
    told
}

/// The last destructors of a thread drop a file that has accepted bytes, and call file functions.
pub async fn a_threads_destructors_use_files(place: &Path) {
    struct Last(Option<fs::File>);

    impl Drop for Last {
        fn drop(&mut self) {
            let file = self.0.take().unwrap();
            assert!(file.as_raw_fd() >= 0);
            drop(file);
        }
    }

    thread_local! {
        static LAST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) };
    }
    let mut last = file(place, "").await;
    let handle = tokio::runtime::Handle::current();
    std::thread::spawn(move || {
        let _inside = handle.enter();
        LAST.set(None);
        // The thread-local values of pool, tags and numbers are used first, so that they are destroyed first.
        let data = [b'x'; 100];
        assert!(poll_once(pin!(last.write_all(&data))).is_ready());
        LAST.set(Some(Last(Some(last))));
    })
    .join()
    .unwrap();
    while contents(place).len() < 100 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
