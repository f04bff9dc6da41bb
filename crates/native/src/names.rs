//! Where code and data of the program are, and what its global variables are called.

use std::fs;

use object::{Object as _, ObjectSymbol as _, SymbolKind};
use raddle_core::{ObjectId, Trace};
use raddle_results::{Report, Verdict};

use crate::run;

/// A part of a file that is mapped into the process.
pub(crate) struct Module {
    pub(crate) first: usize,
    pub(crate) end: usize,
    /// The place of the part in the file.
    pub(crate) offset: usize,
    pub(crate) path: String,
    /// Whether it can be executed.
    pub(crate) is_code: bool,
}

/// Returns the parts of files that contain code or data of the process.
pub(crate) fn modules() -> Vec<Module> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let module = |line: &str| {
        let mut words = line.splitn(6, ' ');
        let (first, end) = words.next()?.split_once('-')?;
        let is_code = words.next()?.contains('x');
        let offset = words.next()?;
        let path = words.nth(2)?.trim_start();
        let number = |word: &str| usize::from_str_radix(word, 16).ok();
        path.starts_with('/').then_some(())?;
        let (first, end, offset) = (number(first)?, number(end)?, number(offset)?);
        Some(Module { first, end, offset, path: path.to_owned(), is_code })
    };
    maps.lines().filter_map(module).collect()
}

/// Returns the first and the last address of the program's image, with its variables that are initially zero.
pub(crate) fn image() -> (usize, usize) {
    let Ok(program) = fs::read_link("/proc/self/exe") else { return (0, 0) };
    let parts: Vec<Module> = modules();
    let is_program = |part: &&Module| std::path::Path::new(&part.path) == program;
    let mut own = parts.iter().filter(is_program);
    let Some(first) = own.next() else { return (0, 0) };
    let end = own.next_back().map_or(first.end, |part| part.end);
    (first.first, end.max(end_of_data(first.first)) - 1)
}

/// Returns the end of the program's variables by its own headers.
fn end_of_data(base: usize) -> usize {
    use object::ObjectSegment as _;
    let Ok(bytes) = fs::read("/proc/self/exe") else { return 0 };
    let Ok(file) = object::File::parse(&*bytes) else { return 0 };
    let ends = file.segments().map(|segment| segment.address() + segment.size());
    let end = ends.max().unwrap_or(0) as usize;
    if is_relocated(&file) { base + end } else { end }
}

/// Returns whether addresses in the file are relative to where it is loaded.
fn is_relocated(file: &object::File<'_>) -> bool {
    file.kind() == object::ObjectKind::Dynamic
}

/// Gives global variables their names in the failing executions of a report.
pub(crate) fn name_objects(report: &mut Report) {
    let Ok(bytes) = fs::read("/proc/self/exe") else { return };
    let Ok(file) = object::File::parse(&*bytes) else { return };
    let load_base = if is_relocated(&file) { 0 } else { run::state().image.get().0 as u64 };
    if let Verdict::Failed(failure) = &mut report.verdict {
        name_trace(&mut failure.trace, &file, load_base);
    }
    for cause in report.failures.iter_mut().flat_map(|failures| &mut failures.causes) {
        name_trace(&mut cause.failure.trace, &file, load_base);
    }
}

fn name_trace(trace: &mut Trace, file: &object::File<'_>, load_base: u64) {
    let mut names: Vec<(ObjectId, String)> = Vec::new();
    for (index, info) in trace.objects.iter().enumerate().filter(|(_, info)| info.identity != 0) {
        // The identity is an address relative to the image, and what it is used as.
        let address = (info.identity >> 8) + load_base;
        if let Some(name) = name_of(file, address) {
            let is_taken = names.iter().any(|(_, known)| *known == name);
            if !is_taken {
                names.push((ObjectId(index as u32), name));
            }
        }
    }
    trace.object_names = names;
}

/// Returns the name of a variable, and the place in it if that is not its beginning.
fn name_of(file: &object::File<'_>, address: u64) -> Option<String> {
    let overlaps = |symbol: &object::Symbol<'_, '_>| {
        let (first, size) = (symbol.address(), symbol.size().max(1));
        symbol.kind() == SymbolKind::Data && first <= address && address < first + size
    };
    // The compiler's own variables have names with dots.
    let is_own =
        |symbol: &object::Symbol<'_, '_>| symbol.name().is_ok_and(|name| name.contains('.'));
    let symbol = file.symbols().filter(overlaps).min_by_key(is_own)?;
    let name = symbol.name().ok()?;
    Some(match address.saturating_sub(symbol.address()) {
        0 => name.to_owned(),
        inside => format!("{name}+{inside}"),
    })
}

/// Returns for each page from `first` to `end` whether it is in memory or swapped out.
pub(crate) fn pages_in_use(first: usize, end: usize) -> Vec<bool> {
    use std::os::unix::fs::FileExt as _;
    const PAGE: usize = 4096;
    /// Bits of an entry: in memory, and swapped out.
    const IN_USE: u64 = 0b11 << 62;
    let count = (end - first) / PAGE;
    let mut entries = vec![0u8; count * 8];
    let read = fs::File::open("/proc/self/pagemap")
        .and_then(|file| file.read_exact_at(&mut entries, (first / PAGE * 8) as u64));
    if read.is_err() {
        // Without the table all pages are taken for used.
        return vec![true; count];
    }
    let entry = |bytes: &[u8]| {
        bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte)) & IN_USE != 0
    };
    entries.chunks_exact(8).map(entry).collect()
}
