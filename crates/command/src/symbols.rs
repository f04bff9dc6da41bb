//! Source lines of code addresses, by the debug information of the program and its libraries.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use addr2line::{Context, Location};
use gimli::{Dwarf, EndianRcSlice, RunTimeEndian};
use object::{Object as _, ObjectSection as _, ObjectSegment as _};

/// Begins a place without a source line, in the JSON of a document.
pub(crate) const PLACE: &str = r#"{"address": ""#;
/// Parts of the paths of libraries: Rust's own, and those that Cargo has downloaded.
const LIBRARIES: [&str; 4] = ["/rustc/", "/rustlib/src/", "/registry/src/", "/git/checkouts/"];

/// Parts of the paths of headers that are not the program's, such as those of the C++ library.
const HEADERS: [&str; 3] = ["/usr/include/", "/usr/lib/gcc/", "/usr/lib/llvm"];

type Reader = EndianRcSlice<RunTimeEndian>;

/// A part of a file that was mapped into the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Module {
    pub(crate) first: u64,
    pub(crate) end: u64,
    /// The place of the part in the file.
    pub(crate) offset: u64,
    pub(crate) path: String,
}

/// The source lines of a process.
pub(crate) struct Symbols {
    modules: Vec<(Module, Rc<OnceCell<Option<File>>>)>,
    /// Stacks of calls, by the words that stand for them: return addresses, the innermost first.
    stacks: HashMap<u64, Vec<u64>>,
    /// The folder of the code under test. Of a stack its innermost line is shown. `None`: the innermost of all.
    own: Option<PathBuf>,
}

/// A call on a stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    pub(crate) function: String,
    line: Line,
    /// The return address.
    pub(crate) address: u64,
}

/// The debug information of a file.
struct File {
    context: Context<Reader>,
    /// Parts of the file: place, size, and address in the file's own numbering.
    segments: Vec<(u64, u64, u64)>,
}

/// A place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Line {
    file: String,
    line: u32,
    column: u32,
}

impl Symbols {
    pub(crate) fn new(modules: Vec<Module>) -> Symbols {
        let mut known: Vec<(Module, Rc<OnceCell<Option<File>>>)> = Vec::new();
        for module in modules {
            let same = known.iter().find(|(other, _)| other.path == module.path);
            let file = same.map_or_else(Rc::default, |(_, file)| file.clone());
            known.push((module, file));
        }
        Symbols { modules: known, stacks: HashMap::new(), own: None }
    }

    /// Shows of each stack the innermost line in a folder.
    pub(crate) fn with_stacks(
        self,
        stacks: HashMap<u64, Vec<u64>>,
        own: Option<PathBuf>,
    ) -> Symbols {
        Symbols { stacks, own, ..self }
    }

    /// Returns the calls on a stack, the innermost first. Calls that were inlined are among them.
    pub(crate) fn frames(&self, stack: u64) -> Vec<Frame> {
        let addresses = self.stacks.get(&stack).map_or(&[][..], |addresses| addresses);
        addresses.iter().flat_map(|&address| self.calls(address)).collect()
    }

    /// Returns the number of calls that are inside of the code under test, or `None` if the stack has no such code.
    pub(crate) fn outside(&self, frames: &[Frame]) -> Option<usize> {
        let own = self.own.as_ref()?;
        let is_own = |frame: &Frame| {
            let file = &frame.line.file;
            let is_library = LIBRARIES.iter().any(|part| file.contains(part));
            Path::new(file).starts_with(own) || !is_library
        };
        frames.iter().position(is_own)
    }

    fn calls(&self, address: u64) -> Vec<Frame> {
        let Some((file, place)) = self.find(address) else { return Vec::new() };
        let Some(mut frames) = file.context.find_frames(place).skip_all_loads().ok() else {
            return Vec::new();
        };
        let mut calls = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|name| name.demangle().ok());
            let function = name.map(|name| name.into_owned()).unwrap_or_default();
            if let Some(line) = frame.location.and_then(|found| Line::new(&found)) {
                calls.push(Frame { function, line, address });
            }
        }
        calls
    }

    /// Returns `text`, the JSON of a document, with source lines in place of code addresses.
    pub(crate) fn resolve(&self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("0x") {
            let (before, number) = rest.split_at(at);
            let digits = number[2..].find(|digit: char| !digit.is_ascii_hexdigit());
            let (number, after) = number.split_at(digits.map_or(number.len(), |digits| digits + 2));
            let address = u64::from_str_radix(&number[2..], 16).ok();
            match address.and_then(|address| self.line(address)) {
                Some(line) if before.ends_with(PLACE) && after.starts_with("\"}") => {
                    let Line { file, line, column } = line;
                    result += &before[..before.len() - PLACE.len()];
                    let file = file.replace('\\', "\\\\").replace('"', "\\\"");
                    result +=
                        &format!(r#"{{"file": "{file}", "line": {line}, "column": {column}}}"#);
                    rest = &after[2..];
                }
                Some(line) => {
                    result += before;
                    result += &format!("{}:{}", line.file, line.line);
                    // The place of a failure has a column.
                    if before.ends_with(r#""place": ""#) {
                        result += &format!(":{}", line.column);
                    }
                    rest = after;
                }
                None => {
                    result += before;
                    result += number;
                    rest = after;
                }
            }
        }
        result + rest
    }

    /// Returns the line of the instruction before a return address, or the line of a stack.
    fn line(&self, address: u64) -> Option<Line> {
        if self.stacks.contains_key(&address) {
            let frames = self.frames(address);
            let shown = self.outside(&frames).unwrap_or(0);
            return frames.into_iter().nth(shown).map(|frame| frame.line.relative());
        }
        // Of calls that were inlined, the innermost that is no library's.
        let calls = self.calls(address);
        let is_own = |call: &&Frame| !HEADERS.iter().any(|part| call.line.file.contains(part));
        let shown = calls.iter().find(is_own).or(calls.first());
        shown.map(|call| call.line.clone().relative())
    }

    /// Returns the debug information for the instruction before a return address, and its place there.
    fn find(&self, address: u64) -> Option<(&File, u64)> {
        let address = address.checked_sub(1)?;
        let is_inside = |module: &Module| (module.first..module.end).contains(&address);
        let (module, file) = self.modules.iter().find(|(module, _)| is_inside(module))?;
        let file = file.get_or_init(|| File::read(Path::new(&module.path))).as_ref()?;
        let place = address - module.first + module.offset;
        let is_segment =
            |&&(start, size, _): &&(u64, u64, u64)| (start..start + size).contains(&place);
        let &(start, _, base) = file.segments.iter().find(is_segment)?;
        Some((file, place - start + base))
    }
}

impl Line {
    fn new(found: &Location<'_>) -> Option<Line> {
        let column = found.column.unwrap_or(0);
        Some(Line { file: found.file?.to_owned(), line: found.line?, column })
    }

    /// Names the file relative to this folder, if it is inside.
    fn relative(self) -> Line {
        let here = std::env::current_dir().ok();
        let path = Path::new(&self.file);
        let relative = here.and_then(|here| path.strip_prefix(here).ok()?.to_str());
        match relative.map(str::to_owned) {
            Some(file) => Line { file, ..self },
            None => self,
        }
    }
}

impl File {
    /// Returns `None` if the file has no debug information.
    fn read(path: &Path) -> Option<File> {
        let bytes = fs::read(path).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        let load = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
            let section = file.section_by_name(id.name());
            let data = section.and_then(|section| section.uncompressed_data().ok());
            Ok(EndianRcSlice::new(data.unwrap_or_default().into(), RunTimeEndian::Little))
        };
        let context = Context::from_dwarf(Dwarf::load(load).ok()?).ok()?;
        let segment = |segment: object::Segment<'_, '_>| {
            let (start, size) = segment.file_range();
            (start, size, segment.address())
        };
        let segments = file.segments().map(segment).collect();
        Some(File { context, segments })
    }
}
