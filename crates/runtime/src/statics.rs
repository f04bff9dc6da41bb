//! Statics: the writable segments of the program and its libraries, and what their files say they begin
//! with.

/// What is known of where something is in memory.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// In a static.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "it does not tell"))]
    Static,
    /// On the heap, a stack, or in a thread-local.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "it does not tell"))]
    Elsewhere,
    /// This system does not tell.
    #[cfg_attr(target_os = "linux", expect(dead_code, reason = "it does tell"))]
    Unknown,
}

#[cfg(target_os = "linux")]
pub(crate) use system::{is_as_compiled, place};

/// Where `address` is.
#[cfg(not(target_os = "linux"))]
pub(crate) fn place(_address: usize) -> Place {
    Place::Unknown
}

/// Whether these bytes of a static are still as the program file says.
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

    /// A writable part of what is loaded.
    struct Segment {
        range: Range<usize>,
        /// What it was loaded from, and from where in it. What the file does not have is zero.
        file: PathBuf,
        in_file: Range<u64>,
    }

    /// Where `address` is.
    pub(crate) fn place(address: usize) -> Place {
        let is_there = segments().iter().any(|segment| segment.range.contains(&address));
        if is_there { Place::Static } else { Place::Elsewhere }
    }

    /// Whether these bytes of a static are still as the program file says. No, if the file cannot be
    /// read.
    #[cold]
    pub(crate) fn is_as_compiled(data: *const u8, size: usize) -> bool {
        let Some(image) = image(data.addr(), size) else { return false };
        // SAFETY: both have so many bytes. Padding was loaded as well, and the comparison is made
        // elsewhere: nothing follows from its value here.
        unsafe { libc::memcmp(data.cast(), image.as_ptr().cast(), size) == 0 }
    }

    /// What the program file has for so many bytes of a static.
    fn image(address: usize, size: usize) -> Option<Vec<u8>> {
        let segment = segments().iter().find(|segment| segment.range.contains(&address))?;
        let start = segment.in_file.start + (address - segment.range.start) as u64;
        let there = usize::try_from(segment.in_file.end.saturating_sub(start)).ok()?.min(size);
        let mut bytes = vec![0; size];
        if there > 0 {
            File::open(&segment.file).ok()?.read_exact_at(&mut bytes[..there], start).ok()?;
        }
        Some(bytes)
    }

    /// The segments there were when somebody first asked. Libraries that are loaded later are not
    /// looked at: what programs under test share is linked to them.
    fn segments() -> &'static [Segment] {
        static SEGMENTS: OnceLock<Vec<Segment>> = OnceLock::new();
        SEGMENTS.get_or_init(|| {
            let mut found: Vec<Segment> = Vec::new();
            let data: *mut Vec<Segment> = &mut found;
            // SAFETY: `visit` takes the vector that is handed on, which is there during the call.
            unsafe { libc::dl_iterate_phdr(Some(visit), data.cast()) };
            found
        })
    }

    /// # Safety
    /// `info` is valid, and `data` a vector of segments that nobody else uses.
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        data: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: promised by the caller.
        let found = unsafe { &mut *data.cast::<Vec<Segment>>() };
        // SAFETY: likewise.
        let info = unsafe { &*info };
        // SAFETY: the system gives a text.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
        let program = || PathBuf::from("/proc/self/exe");
        let file = || if name.is_empty() { program() } else { OsStr::from_bytes(name).into() };
        let count = usize::from(info.dlpi_phnum);
        // SAFETY: there are so many headers.
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
    fn statics_are_told_from_the_rest() {
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
    fn what_the_compiler_put_there_is_told_from_what_came_later() {
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
