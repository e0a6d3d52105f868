//! The identity of a directory, whatever its name. inotify watches inodes, but not on every file system.

use std::io;
use std::path::Path;

use rustix::fs::{FileType, Stat};

use super::walk::{look, present};
use semdex_fs::{Descent, Identity, Reader, identity};

/// The identity of the directory at a path. `None` if there is none, or if a link leads there.
pub(super) fn identity_of(reader: &Reader, path: &Path) -> io::Result<Option<Identity>> {
    Ok(look(reader, path)?.filter(is_directory).map(|found| identity(&found)))
}

/// The same for a directory reached during a descent.
pub(super) fn identity_on_the_way(descent: &mut Descent, path: &Path) -> io::Result<Option<Identity>> {
    let Ok(below) = path.strip_prefix(descent.reader().root()) else { return Ok(None) };
    let found = present(descent.stat(below).map_err(io::Error::from))?;
    Ok(found.filter(is_directory).map(|found| identity(&found)))
}

/// The identity of the directory that the path means now, as the kernel resolves it when a watch is set.
pub(super) fn identity_now(reader: &Reader, path: &Path) -> io::Result<Option<Identity>> {
    let Ok(below) = path.strip_prefix(reader.root()) else { return Ok(None) };
    present(reader.identity_now(below).map_err(io::Error::from))
}

fn is_directory(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::Directory
}

/// Whether a directory can change without notice to this machine's kernel.
pub(super) fn is_remote(directory: &Path) -> io::Result<bool> {
    // The `f_type` of statfs(2): 9p, AFS, Ceph, CIFS, Coda, FUSE, NCP, NFS, SMB, SMB2, VirtualBox's shared folders.
    const REMOTE: [u32; 11] = [
        0x0102_1997,
        0x5346_414f,
        0x00c3_6400,
        0xff53_4d42,
        0x7375_7245,
        0x6573_5546,
        0x564c,
        0x6969,
        0x517b,
        0xfe53_4d42,
        0x786f_4256,
    ];
    let found = present(rustix::fs::statfs(directory).map_err(io::Error::from))?;
    // The type's width differs between machines; the numbers have 32 bits.
    Ok(found.is_some_and(|found| REMOTE.contains(&(found.f_type as u32))))
}
