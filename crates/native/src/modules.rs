//! The program and its libraries: whose code makes an access or a system call.

use std::collections::BTreeMap;
use std::fs;

use object::{Object as _, ObjectSymbol as _};

use crate::names;
use crate::run::State;

/// What raddle knows of a piece of code.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// Its accesses to memory are instrumented.
    Instrumented,
    /// The C library, or raddle's own.
    Libc,
    /// A library that is not instrumented.
    Other,
}

/// The code of the process, found when it is first asked for.
#[derive(Default)]
pub(crate) struct Modules {
    /// By the last address of a part.
    parts: BTreeMap<usize, (usize, Origin, String)>,
}

impl Modules {
    /// Returns the code that contains an address, and its file.
    fn find(&self, pc: usize) -> Option<(Origin, &str)> {
        let (_, (first, origin, path)) = self.parts.range(pc..).next()?;
        (*first <= pc).then_some((*origin, path))
    }

    fn read(&mut self) {
        let mut known: BTreeMap<String, Origin> = BTreeMap::new();
        for module in names::modules() {
            let path = module.path.clone();
            let origin = *known.entry(path.clone()).or_insert_with(|| origin(&path));
            self.parts.insert(module.end - 1, (module.first, origin, path));
        }
    }
}

impl State {
    /// Returns whose code an address belongs to.
    pub(crate) fn origin(&self, pc: usize) -> Origin {
        if self.modules.borrow().parts.is_empty() {
            self.as_host(|| self.modules.borrow_mut().read());
        }
        self.modules.borrow().find(pc).map_or(Origin::Other, |found| found.0)
    }

    /// Returns the file whose code an address belongs to.
    pub(crate) fn file(&self, pc: usize) -> String {
        self.origin(pc);
        let modules = self.modules.borrow();
        modules.find(pc).map_or_else(|| format!("{pc:#x}"), |found| found.1.to_owned())
    }
}

/// Returns whose code a file contains.
pub(crate) fn origin(path: &str) -> Origin {
    const LIBC: [&str; 4] = ["libc.so", "ld-linux", "libpthread", "libraddle_native"];
    let name = path.rsplit('/').next().unwrap_or(path);
    if LIBC.iter().any(|known| name.starts_with(known)) {
        return Origin::Libc;
    }
    let Ok(bytes) = fs::read(path) else { return Origin::Other };
    let Ok(file) = object::File::parse(&*bytes) else { return Origin::Other };
    let is_hook = |symbol: object::Symbol<'_, '_>| {
        symbol.is_undefined() && symbol.name().is_ok_and(|name| name.starts_with("__tsan_"))
    };
    if file.dynamic_symbols().any(is_hook) { Origin::Instrumented } else { Origin::Other }
}
