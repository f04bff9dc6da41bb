//! A working folder that is empty at the beginning of every run.
//!
//! The host must not use functions of libc that allocate: its memory between runs is not libc's heap. So the folder is
//! read by system calls.

use std::ffi::{CStr, CString};

use crate::system;

/// The place of the length and of the name in an entry of a folder, as the kernel writes it.
const LENGTH: usize = 16;
const NAME: usize = 19;

/// Removes everything in a folder.
pub(crate) fn empty(folder: &CStr) {
    let here = libc::AT_FDCWD as usize;
    if let Some(folder) = open(here, folder) {
        clear(folder);
        close(folder);
    }
}

fn open(at: usize, name: &CStr) -> Option<usize> {
    let flags = (libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC) as usize;
    let arguments = [at, name.as_ptr().addr(), flags, 0, 0, 0];
    // SAFETY: the name is a C string.
    let file = unsafe { system::call(libc::SYS_openat as usize, arguments) };
    usize::try_from(file).ok()
}

fn close(file: usize) {
    // SAFETY: the file was opened here.
    unsafe { system::call(libc::SYS_close as usize, [file, 0, 0, 0, 0, 0]) };
}

/// Removes the entries of an open folder.
fn clear(folder: usize) {
    loop {
        let names = names(folder);
        let removed = names.iter().filter(|name| remove(folder, name)).count();
        if removed == 0 {
            return;
        }
        // SAFETY: the next pass begins with the first entry.
        unsafe { system::call(system::LSEEK, [folder, 0, 0, 0, 0, 0]) };
    }
}

/// Returns some of the names in a folder.
fn names(folder: usize) -> Vec<CString> {
    let mut buffer = vec![0u8; 16 * 1024];
    let arguments = [folder, buffer.as_mut_ptr().expose_provenance(), buffer.len(), 0, 0, 0];
    // SAFETY: the kernel writes to the buffer.
    let size = unsafe { system::call(libc::SYS_getdents64 as usize, arguments) };
    let mut rest = &buffer[..usize::try_from(size).unwrap_or(0)];
    let mut names = Vec::new();
    while rest.len() > NAME {
        let length = usize::from(u16::from_ne_bytes([rest[LENGTH], rest[LENGTH + 1]]));
        let name = CStr::from_bytes_until_nul(&rest[NAME..]).unwrap_or_default();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    names
}

/// Removes an entry of a folder. Returns whether it is gone.
fn remove(folder: usize, name: &CStr) -> bool {
    let unlink = |flags: i32| {
        let arguments = [folder, name.as_ptr().addr(), flags as usize, 0, 0, 0];
        // SAFETY: the name is a C string.
        unsafe { system::call(libc::SYS_unlinkat as usize, arguments) == 0 }
    };
    if unlink(0) {
        return true;
    }
    if let Some(inner) = open(folder, name) {
        clear(inner);
        close(inner);
    }
    unlink(libc::AT_REMOVEDIR)
}
