//! Source lines of code addresses, by the debug information of the program and its libraries.

use std::cell::OnceCell;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use addr2line::Context;
use gimli::{Dwarf, EndianRcSlice, RunTimeEndian};
use object::{Object as _, ObjectSection as _, ObjectSegment as _};

/// Begins a place without a source line, in the JSON of a document.
pub(crate) const PLACE: &str = r#"{"address": ""#;

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
        Symbols { modules: known }
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

    /// Returns the line of the instruction before a return address.
    fn line(&self, address: u64) -> Option<Line> {
        let address = address.checked_sub(1)?;
        let is_inside = |module: &Module| (module.first..module.end).contains(&address);
        let (module, file) = self.modules.iter().find(|(module, _)| is_inside(module))?;
        let file = file.get_or_init(|| File::read(Path::new(&module.path))).as_ref()?;
        let place = address - module.first + module.offset;
        let is_segment =
            |&&(start, size, _): &&(u64, u64, u64)| (start..start + size).contains(&place);
        let &(start, _, base) = file.segments.iter().find(is_segment)?;
        let found = file.context.find_location(place - start + base).ok()??;
        let name = found.file?;
        let here = std::env::current_dir().ok();
        let relative = here.and_then(|here| Path::new(name).strip_prefix(here).ok()?.to_str());
        Some(Line {
            file: relative.unwrap_or(name).to_owned(),
            line: found.line?,
            column: found.column.unwrap_or(0),
        })
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
