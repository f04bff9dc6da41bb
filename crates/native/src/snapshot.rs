//! A snapshot of the program before main: the pages that a run may change, and how to put them back.
//!
//! One OS thread runs, so the state of the program is memory and registers. The arena is shared memory, and raddle's
//! own data is left out, so raddle keeps its state. What the kernel knows of the process (files, mappings, signal
//! handlers) is not in the snapshot: a program that changes these is checked with forks.

use std::ptr;

use crate::{heap, names, system};

const PAGE: usize = 4096;

/// The memory of the program at one moment.
pub(crate) struct Snapshot {
    /// The addresses of the pages that were in use.
    pages: Vec<usize>,
    /// Their contents, in the same order.
    copy: *mut u8,
    /// Parts of the program's data and heap that were not in use, as first and last byte. They read as zero.
    holes: Vec<(usize, usize)>,
    /// The end of the heap.
    heap_end: usize,
    /// The lowest number of a file that is not open.
    free_file: usize,
}

impl Snapshot {
    /// Takes a snapshot. The program is not running.
    pub(crate) fn take() -> Snapshot {
        let mut snapshot = Snapshot {
            pages: Vec::new(),
            copy: ptr::null_mut(),
            holes: Vec::new(),
            heap_end: heap_end(0),
            free_file: free_file(),
        };
        for_each_part(|part, is_data| snapshot.add(part, is_data));
        let bytes = snapshot.pages.len() * PAGE;
        snapshot.copy = crate::arena::pages(bytes);
        assert!(!snapshot.copy.is_null(), "raddle: no memory for a snapshot of {bytes} bytes");
        for (index, &page) in snapshot.pages.iter().enumerate() {
            // SAFETY: inside the block.
            let to = unsafe { snapshot.copy.add(index * PAGE) };
            // SAFETY: the page is in use, and the block is elsewhere.
            unsafe { ptr::copy_nonoverlapping(ptr::with_exposed_provenance(page), to, PAGE) };
        }
        snapshot
    }

    /// Adds a mapping. `is_data` says that its unused pages read as zero.
    fn add(&mut self, part: &Part<'_>, is_data: bool) {
        let in_use = names::pages_in_use(part.first, part.end);
        for (index, is_used) in in_use.into_iter().enumerate() {
            let page = part.first + index * PAGE;
            match self.holes.last_mut() {
                _ if is_used => self.pages.push(page),
                _ if !is_data => {}
                Some(hole) if hole.1 == page => hole.1 = page + PAGE,
                Some(_) | None => self.holes.push((page, page + PAGE)),
            }
        }
    }

    /// Puts the program's memory back. The program is not running, and has not changed its mappings.
    pub(crate) fn restore(&self) {
        for (index, &page) in self.pages.iter().enumerate() {
            // SAFETY: inside the block.
            let from = unsafe { self.copy.add(index * PAGE) };
            // SAFETY: the page is still mapped, no reference into the program's memory exists, and this code, its stack
            // and its data are elsewhere.
            unsafe { ptr::copy_nonoverlapping(from, ptr::with_exposed_provenance_mut(page), PAGE) };
        }
        if heap_end(0) != self.heap_end {
            heap_end(self.heap_end);
        }
        for &(first, end) in &self.holes {
            let arguments = [first, end - first, libc::MADV_DONTNEED as usize, 0, 0, 0];
            // SAFETY: what the run wrote there is not needed any more.
            unsafe { system::call(libc::SYS_madvise as usize, arguments) };
        }
    }

    /// Returns whether the run left files open or closed others.
    pub(crate) fn has_other_files(&self) -> bool {
        free_file() != self.free_file
    }
}

/// Sets the end of the heap, unless `end` is zero. Returns it.
fn heap_end(end: usize) -> usize {
    // SAFETY: the heap ends where it ended before the run.
    unsafe { system::call(libc::SYS_brk as usize, [end, 0, 0, 0, 0, 0]) as usize }
}

/// Returns the lowest number of a file that is not open.
fn free_file() -> usize {
    // SAFETY: opens a file again and closes it.
    let file = unsafe { system::call(libc::SYS_dup as usize, [1, 0, 0, 0, 0, 0]) as usize };
    // SAFETY: the file was just opened.
    unsafe { system::call(libc::SYS_close as usize, [file, 0, 0, 0, 0, 0]) };
    file
}

/// Returns the data of the program and its libraries, and libc's heap, as first and last addresses.
pub(crate) fn data() -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for_each_part(|part, is_data| {
        if is_data {
            found.push((part.first, part.end));
        }
    });
    found
}

/// Calls a function with each mapping that a run may change, and whether it is data of a file or libc's heap.
fn for_each_part(mut call: impl FnMut(&Part<'_>, bool)) {
    let table = std::fs::read("/proc/self/maps").unwrap_or_default();
    let table = String::from_utf8_lossy(&table).into_owned();
    // The kernel gives the zeroed end of a file's data no name: it belongs to the mapping before it.
    let (mut own_end, mut file_end) = (0, 0);
    for line in table.lines() {
        let Some(part) = Part::parse(line) else { continue };
        if part.path.ends_with("libraddle_native.so")
            || part.path.is_empty() && part.first == own_end
        {
            own_end = part.end;
            continue;
        }
        let is_file = part.path.starts_with('/') || part.path.is_empty() && part.first == file_end;
        if is_file {
            file_end = part.end;
        }
        if part.is_private && part.is_writable && !heap::is_own(part.first) {
            call(&part, is_file || part.path == "[heap]");
        }
    }
}

/// A mapping.
struct Part<'a> {
    first: usize,
    end: usize,
    is_writable: bool,
    is_private: bool,
    path: &'a str,
}

impl Part<'_> {
    /// Reads a line of `/proc/self/maps`.
    fn parse(line: &str) -> Option<Part<'_>> {
        let mut words = line.splitn(6, ' ');
        let (first, end) = words.next()?.split_once('-')?;
        let access = words.next()?.as_bytes();
        let path = words.nth(3).unwrap_or_default().trim_start();
        let number = |word| usize::from_str_radix(word, 16).ok();
        Some(Part {
            first: number(first)?,
            end: number(end)?,
            is_writable: *access.get(1)? == b'w',
            is_private: *access.get(3)? == b'p',
            path,
        })
    }
}
