//! Statics: the writable segments of the program and its libraries, and their initial contents in the files.

/// The kind of memory at an address.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A static.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only known on Linux"))]
    Static,
    /// The heap, a stack, or a thread-local.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only known on Linux"))]
    Elsewhere,
    /// Unknown on this system.
    #[cfg_attr(target_os = "linux", expect(dead_code, reason = "always known on Linux"))]
    Unknown,
}

#[cfg(target_os = "linux")]
pub(crate) use system::{is_as_compiled, place};

/// Returns the kind of memory at `address`.
#[cfg(not(target_os = "linux"))]
pub(crate) fn place(_address: usize) -> Place {
    Place::Unknown
}

/// Returns whether these bytes of a static are still as in the program file.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_as_compiled(_data: *const u8, _size: usize) -> bool {
    false
}

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::{CStr, OsStr};
    use std::fs::File;
    use std::ops::Range;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::FileExt as _;
    use std::path::PathBuf;
    use std::sync::OnceLock;

    use super::Place;

    /// A writable segment of the program or a library.
    struct Segment {
        range: Range<usize>,
        /// The file that the segment was loaded from, and the part of it. The rest of the segment is zero.
        file: PathBuf,
        in_file: Range<u64>,
    }

    /// Returns the kind of memory at `address`.
    pub(crate) fn place(address: usize) -> Place {
        let is_static = segments().iter().any(|segment| segment.range.contains(&address));
        if is_static { Place::Static } else { Place::Elsewhere }
    }

    /// Returns whether these bytes of a static are still as in the program file. Returns false if the file cannot be read.
    pub(crate) fn is_as_compiled(data: *const u8, size: usize) -> bool {
        let Some(image) = image(data.addr(), size) else { return false };
        // SAFETY: both have `size` bytes. `memcmp` may read padding, which was loaded from the file too.
        unsafe { libc::memcmp(data.cast(), image.as_ptr().cast(), size) == 0 }
    }

    /// Returns the initial contents of `size` bytes of a static, or `None` if the file cannot be read.
    fn image(address: usize, size: usize) -> Option<Vec<u8>> {
        let segment = segments().iter().find(|segment| segment.range.contains(&address))?;
        let start = segment.in_file.start + (address - segment.range.start) as u64;
        let in_file = usize::try_from(segment.in_file.end.saturating_sub(start)).ok()?.min(size);
        let mut bytes = vec![0; size];
        if in_file > 0 {
            File::open(&segment.file).ok()?.read_exact_at(&mut bytes[..in_file], start).ok()?;
        }
        Some(bytes)
    }

    /// Returns the segments at the time of the first call. Libraries that are loaded later are ignored: the statics of a
    /// program under test are linked to it.
    fn segments() -> &'static [Segment] {
        static SEGMENTS: OnceLock<Vec<Segment>> = OnceLock::new();
        SEGMENTS.get_or_init(|| {
            let mut found: Vec<Segment> = Vec::new();
            let data: *mut Vec<Segment> = &mut found;
            // SAFETY: `visit` uses the vector behind `data`, which exists during the call.
            unsafe { libc::dl_iterate_phdr(Some(visit), data.cast()) };
            found
        })
    }

    /// Adds the writable segments of a loaded file to `data`.
    ///
    /// # Safety
    /// `info` is valid, and `data` points to a vector of segments without other references.
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        data: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the caller promises that `data` points to such a vector.
        let found = unsafe { &mut *data.cast::<Vec<Segment>>() };
        // SAFETY: the caller promises that `info` is valid.
        let info = unsafe { &*info };
        // SAFETY: the name is a string that ends with a null byte.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
        let program = || PathBuf::from("/proc/self/exe");
        let file = || if name.is_empty() { program() } else { OsStr::from_bytes(name).into() };
        let count = usize::from(info.dlpi_phnum);
        // SAFETY: the loader passes a pointer to `dlpi_phnum` headers.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, count) };
        for header in headers {
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
                let start = (info.dlpi_addr + header.p_vaddr) as usize;
                found.push(Segment {
                    range: start..start + header.p_memsz as usize,
                    file: file(),
                    in_file: header.p_offset..header.p_offset + header.p_filesz,
                });
            }
        }
        0
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::{Place, is_as_compiled, place};

    #[test]
    fn statics_are_distinguished_from_other_memory() {
        static FULL: AtomicU32 = AtomicU32::new(7);
        static EMPTY: AtomicU32 = AtomicU32::new(0);
        thread_local!(static LOCAL: AtomicU32 = const { AtomicU32::new(1) });
        let of = |number: &AtomicU32| place(std::ptr::from_ref(number).addr());
        assert_eq!((of(&FULL), of(&EMPTY)), (Place::Static, Place::Static));
        assert_eq!(of(&AtomicU32::new(1)), Place::Elsewhere);
        assert_eq!(of(&Box::new(AtomicU32::new(1))), Place::Elsewhere);
        assert_eq!(LOCAL.with(of), Place::Elsewhere);
    }

    #[test]
    fn the_compiled_value_is_distinguished_from_later_ones() {
        static FULL: AtomicU32 = AtomicU32::new(0x1234_5678);
        static EMPTY: AtomicU32 = AtomicU32::new(0);
        let untouched = |number: &AtomicU32| is_as_compiled(std::ptr::from_ref(number).cast(), 4);
        for number in [&FULL, &EMPTY] {
            assert!(untouched(number));
            let before = number.fetch_add(1, Ordering::Relaxed);
            assert!(!untouched(number));
            number.store(before, Ordering::Relaxed);
            assert!(untouched(number));
        }
    }
}
