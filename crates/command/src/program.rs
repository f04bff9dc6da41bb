//! What a program is, before it is started: whether raddle can check it, and how much it will see.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Object as _, ObjectSymbol as _};

use crate::{Problem, compile};

/// A program that can be checked.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// Whether its accesses to memory are instrumented. Otherwise raddle sees calls of libc only.
    pub(crate) is_instrumented: bool,
}

impl Program {
    /// Looks at a file, which is searched as a shell does.
    pub(crate) fn find(name: &Path) -> Result<Program, Problem> {
        let is_name = name.components().count() == 1 && !name.starts_with(".");
        let in_path = || name.to_str().and_then(compile::find);
        let path =
            if name.is_file() { Some(name.to_owned()) } else { in_path().filter(|_| is_name) };
        let shown = name.display();
        let path = path.ok_or_else(|| Problem(format!("there is no program {shown}")))?;
        let path = std::path::absolute(&path).unwrap_or(path);
        let problem = |text: &str| Problem(format!("{shown} {text}"));
        let metadata =
            fs::metadata(&path).map_err(|error| problem(&format!("cannot be read: {error}")))?;
        let mode = metadata.permissions().mode();
        if mode & 0o111 == 0 {
            return Err(problem("is not executable"));
        }
        if mode & 0o6000 != 0 {
            return Err(problem(
                "runs as another user or group (setuid or setgid), so nothing can be loaded into it; check a copy \
                 without that",
            ));
        }
        let bytes =
            fs::read(&path).map_err(|error| problem(&format!("cannot be read: {error}")))?;
        if bytes.starts_with(b"#!") {
            return Err(problem("is a script; name the program that it starts"));
        }
        let is_instrumented = inspect(&bytes).map_err(problem)?;
        Ok(Program { path, is_instrumented })
    }
}

/// Returns whether a program is instrumented, or why it cannot be checked.
fn inspect(bytes: &[u8]) -> Result<bool, &'static str> {
    const OTHER: &str = "is not a program for Linux on x86-64";
    match object::FileKind::parse(bytes) {
        Ok(object::FileKind::Elf64) => {}
        Ok(object::FileKind::Elf32) => {
            return Err("is a 32-bit program; compile it for x86-64 (without -m32)");
        }
        _ => return Err(OTHER),
    }
    let file = ElfFile64::<object::Endianness>::parse(bytes).map_err(|_| OTHER)?;
    if file.elf_header().e_machine(file.endian()) != object::elf::EM_X86_64 {
        return Err(OTHER);
    }
    let is_dynamic = file
        .elf_program_headers()
        .iter()
        .any(|header| header.p_type(file.endian()) == object::elf::PT_INTERP);
    if !is_dynamic {
        return Err(
            "is linked statically, so nothing can be loaded into it; link it without -static",
        );
    }
    let libraries = needed(&file);
    if libraries.iter().any(|name| name.starts_with("libtsan.")) {
        return Err(
            "is linked with ThreadSanitizer's own library; build it with `raddle cc` or `raddle c++`, which link \
             raddle's",
        );
    }
    let is_defined = |prefix: &str| {
        let mut symbols = file.symbols();
        symbols.any(|symbol| {
            symbol.is_definition() && symbol.name().is_ok_and(|name| name.starts_with(prefix))
        })
    };
    if is_defined("__tsan_func_entry") {
        return Err(
            "contains ThreadSanitizer's own library; build it with `raddle cc` or `raddle c++`, which link raddle's",
        );
    }
    if is_defined("__asan_init") || libraries.iter().any(|name| name.starts_with("libasan.")) {
        return Err("is built with AddressSanitizer, which excludes raddle; build it without");
    }
    let mut imports = file.dynamic_symbols();
    Ok(imports.any(|symbol| symbol.name().is_ok_and(|name| name.starts_with("__tsan_"))))
}

/// Returns the names of the libraries that a program needs.
fn needed(file: &ElfFile64<'_, object::Endianness>) -> Vec<String> {
    let (endian, data) = (file.endian(), file.data());
    let Ok(sections) = file.elf_header().sections(endian, data) else { return Vec::new() };
    let Ok(Some((entries, strings))) = sections.dynamic(endian, data) else { return Vec::new() };
    let strings = sections.strings(endian, data, strings).unwrap_or_default();
    let is_library = |entry: &&object::elf::Dyn64<object::Endianness>| {
        entry.tag32(endian) == Some(object::elf::DT_NEEDED)
    };
    let libraries = entries.iter().filter(is_library);
    let name = |entry: &object::elf::Dyn64<object::Endianness>| {
        let name = strings.get(entry.val32(endian)?).ok()?;
        Some(String::from_utf8_lossy(name).into_owned())
    };
    libraries.filter_map(name).collect()
}
