// Included with `fs` in scope, as a module of its own for each API.

use std::fs::Permissions;
use std::io::{self, SeekFrom};
use std::os::unix::fs::PermissionsExt;

use fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufWriter};

use crate::files::{BLOCK, SMALL};
use crate::task::{ENTRIES, Task, Use};

const PIECE: &[u8] = &[7; 100];

async fn to_append(path: impl AsRef<std::path::Path>) -> io::Result<File> {
    File::options().append(true).create(true).open(path).await
}

pub async fn run(mut task: Task) -> io::Result<Task> {
    let (own, other) = (task.own("own"), task.own("other"));
    match task.used {
        Use::SeekRead => {
            let mut file = File::open(task.blocks()).await?;
            let mut block = vec![0; BLOCK];
            while task.goes_on() {
                file.seek(SeekFrom::Start(task.offset())).await?;
                file.read_exact(&mut block).await?;
            }
        }
        Use::SeekWrite => {
            let mut file = File::options().write(true).open(task.blocks()).await?;
            while task.goes_on() {
                file.seek(SeekFrom::Start(task.offset())).await?;
                file.write_all(&[7; BLOCK]).await?;
                file.flush().await?;
            }
        }
        Use::ReadAt => {
            let mut file = File::open(task.blocks()).await?;
            let mut block = vec![0; BLOCK];
            while task.goes_on() {
                block = read_at(&mut file, block, task.offset()).await?;
            }
        }
        Use::WriteAt => {
            let mut file = File::options().write(true).open(task.blocks()).await?;
            let mut block = vec![7; BLOCK];
            while task.goes_on() {
                block = write_at(&mut file, block, task.offset()).await?;
            }
        }
        Use::Rewind => {
            let mut file = File::open(task.blocks()).await?;
            while task.goes_on() {
                file.rewind().await?;
            }
        }
        Use::Read64k => {
            let mut file = File::open(task.blocks()).await?;
            let mut bytes = vec![0; 64 << 10];
            while task.goes_on() {
                if file.read(&mut bytes).await? == 0 {
                    file.rewind().await?;
                }
            }
        }
        Use::Reader => {
            let mut block = vec![0; BLOCK];
            while task.goes_on() {
                let mut file = BufReader::new(File::open(task.blocks()).await?);
                for _ in 0..(16 << 20) / BLOCK {
                    file.read_exact(&mut block).await?;
                }
            }
        }
        Use::Append => {
            let mut file = to_append(&own).await?;
            while task.goes_on() {
                file.write_all(PIECE).await?;
            }
            file.flush().await?;
        }
        Use::AppendFlush | Use::AppendOneFile => {
            let path = if task.used == Use::AppendFlush { own } else { task.shared() };
            let mut file = to_append(path).await?;
            while task.goes_on() {
                file.write_all(PIECE).await?;
                file.flush().await?;
            }
        }
        Use::AppendSync => {
            let mut file = to_append(&own).await?;
            while task.goes_on() {
                file.write_all(&[7; BLOCK]).await?;
                file.sync_data().await?;
            }
        }
        Use::Writer => {
            while task.goes_on() {
                let mut file = BufWriter::new(File::create(&own).await?);
                for _ in 0..1024 {
                    file.write_all(&[7; 1024]).await?;
                }
                file.flush().await?;
            }
        }
        Use::SetLen => {
            let file = File::create(&own).await?;
            while task.goes_on() {
                file.set_len(task.offset()).await?;
            }
        }
        Use::SetPermissions => {
            fs::write(&own, PIECE).await?;
            let mut mode = 0o600;
            while task.goes_on() {
                mode ^= 0o044;
                fs::set_permissions(&own, Permissions::from_mode(mode)).await?;
            }
        }
        Use::FileMetadata => {
            let file = File::open(task.small()).await?;
            while task.goes_on() {
                assert_eq!(file.metadata().await?.len(), SMALL as u64);
            }
        }
        Use::TryClone => {
            let file = File::open(task.small()).await?;
            while task.goes_on() {
                drop(file.try_clone().await?);
            }
        }
        Use::Open => {
            while task.goes_on() {
                drop(File::open(task.small()).await?);
            }
        }
        Use::Stat => {
            while task.goes_on() {
                assert_eq!(fs::metadata(task.small()).await?.len(), SMALL as u64);
            }
        }
        Use::Exists => {
            while task.goes_on() {
                assert!(fs::try_exists(task.small()).await?);
            }
        }
        Use::ReadLink => {
            fs::symlink(task.blocks(), &own).await?;
            while task.goes_on() {
                fs::read_link(&own).await?;
            }
        }
        Use::Canonicalize => {
            while task.goes_on() {
                fs::canonicalize(task.small()).await?;
            }
        }
        Use::ReadSmall => {
            while task.goes_on() {
                assert_eq!(fs::read(task.small()).await?.len(), SMALL);
            }
        }
        Use::Write4k | Use::Write1m => {
            let size = if task.used == Use::Write4k { BLOCK } else { 1 << 20 };
            while task.goes_on() {
                // As a program that has made its text for this file.
                fs::write(&own, vec![7; size]).await?;
            }
        }
        Use::WriteRename => {
            while task.goes_on() {
                fs::write(&own, [7; BLOCK]).await?;
                fs::rename(&own, &other).await?;
            }
        }
        Use::Copy16k => {
            while task.goes_on() {
                fs::copy(task.small(), &own).await?;
            }
        }
        Use::Copy64m => {
            while task.goes_on() {
                fs::copy(task.blocks(), &own).await?;
            }
        }
        Use::CreateRemove => {
            while task.goes_on() {
                drop(File::create(&own).await?);
                fs::remove_file(&own).await?;
            }
        }
        Use::Rename => {
            fs::write(&own, PIECE).await?;
            let mut names = [own, other];
            while task.goes_on() {
                fs::rename(&names[0], &names[1]).await?;
                names.reverse();
            }
        }
        Use::LinkRemove => {
            fs::write(&own, PIECE).await?;
            while task.goes_on() {
                fs::hard_link(&own, &other).await?;
                fs::remove_file(&other).await?;
            }
        }
        Use::SymlinkRemove => {
            while task.goes_on() {
                fs::symlink(&own, &other).await?;
                fs::remove_file(&other).await?;
            }
        }
        Use::MkdirRmdir => {
            while task.goes_on() {
                fs::create_dir(&own).await?;
                fs::remove_dir(&own).await?;
            }
        }
        Use::Trees => {
            while task.goes_on() {
                fs::create_dir_all(own.join("a/b")).await?;
                for folder in ["", "a", "a/b"] {
                    fs::write(own.join(folder).join("file"), PIECE).await?;
                }
                fs::remove_dir_all(&own).await?;
            }
        }
        Use::ListTypes | Use::ListMetadata => {
            while task.goes_on() {
                let mut entries = fs::read_dir(task.listed()).await?;
                let mut files = 0;
                while let Some(entry) = entries.next_entry().await? {
                    files += usize::from(match task.used {
                        Use::ListTypes => entry.file_type().await?.is_file(),
                        _ => entry.metadata().await?.is_file(),
                    });
                }
                assert_eq!(files, ENTRIES);
            }
        }
    }
    Ok(task)
}
