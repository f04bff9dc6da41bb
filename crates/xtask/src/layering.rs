//! Checks which crate depends on which.
//!
//! [`TABLE`] is the table of layers in ARCHITECTURE.md. Normal and build dependencies must follow it. Development
//! dependencies are free, except for the tools that raddle is compared with: these belong to the workspace in
//! `evaluation/`. Some crates must also declare `no_std` or `forbid(unsafe_code)` in their root file.

use std::fs;
use std::path::Path;

use crate::metadata::{self, Dependency, Kind, Package};
use crate::violation::Violation;

/// Every crate of the workspace, lowest first; crates that are planned stand here already.
const TABLE: &[Layer] = &[
    Layer {
        name: "raddle-core",
        may_use: &[],
        external: External::Optional(&["serde"]),
        promises: &[Promise::NoStd, Promise::NoUnsafe],
    },
    Layer {
        name: "raddle-engine",
        may_use: &["raddle-core"],
        external: External::Any,
        promises: &[Promise::NoStd, Promise::NoUnsafe],
    },
    Layer {
        name: "raddle-strategy",
        may_use: &["raddle-core"],
        external: External::Any,
        promises: &[Promise::NoStd, Promise::NoUnsafe],
    },
    Layer {
        name: "raddle-solve",
        may_use: &[],
        external: External::Any,
        promises: &[Promise::NoUnsafe],
    },
    Layer {
        name: "raddle-results",
        may_use: &["raddle-core"],
        external: External::Any,
        promises: &[Promise::NoUnsafe],
    },
    Layer {
        name: "raddle-analysis",
        may_use: &["raddle-core", "raddle-engine", "raddle-results"],
        external: External::Any,
        promises: &[Promise::NoUnsafe],
    },
    Layer {
        name: "raddle-explore",
        may_use: &[
            "raddle-core",
            "raddle-engine",
            "raddle-strategy",
            "raddle-solve",
            "raddle-results",
            "raddle-analysis",
        ],
        external: External::Any,
        promises: &[Promise::NoUnsafe],
    },
    Layer {
        name: "raddle-runtime",
        may_use: &["raddle-core", "raddle-engine", "raddle-results"],
        external: External::Any,
        promises: &[],
    },
    Layer {
        name: "raddle-report",
        may_use: &["raddle-core", "raddle-results", "raddle-analysis"],
        external: External::Any,
        promises: &[Promise::NoUnsafe],
    },
    Layer { name: "raddle-macros", may_use: &[], external: External::Any, promises: &[] },
    Layer {
        name: "raddle",
        may_use: &[
            "raddle-core",
            "raddle-engine",
            "raddle-strategy",
            "raddle-results",
            "raddle-explore",
            "raddle-runtime",
            "raddle-report",
            "raddle-macros",
        ],
        external: External::Any,
        promises: &[],
    },
    Layer {
        name: "raddle-native",
        may_use: &[
            "raddle-core",
            "raddle-engine",
            "raddle-results",
            "raddle-explore",
            "raddle-report",
        ],
        external: External::Any,
        promises: &[],
    },
    Layer {
        name: "raddle-command",
        may_use: &["raddle", "raddle-results", "raddle-report"],
        external: External::Any,
        promises: &[],
    },
    Layer {
        name: "cargo-raddle",
        may_use: &["raddle", "raddle-results", "raddle-analysis", "raddle-report"],
        external: External::Any,
        promises: &[],
    },
    Layer {
        name: "raddle-testkit",
        may_use: &[
            "raddle-core",
            "raddle-engine",
            "raddle-strategy",
            "raddle-analysis",
            "raddle-explore",
            "raddle-solve",
            "raddle-runtime",
        ],
        external: External::Any,
        promises: &[Promise::NoUnsafe],
    },
    Layer {
        name: "raddle-programs",
        may_use: &["raddle"],
        external: External::Any,
        promises: &[Promise::NoUnsafe],
    },
    Layer { name: "raddle-loom", may_use: &["raddle"], external: External::Any, promises: &[] },
    Layer {
        name: "raddle-shuttle",
        may_use: &["raddle"],
        external: External::Any,
        promises: &[Promise::NoUnsafe],
    },
    Layer { name: "xtask", may_use: &[], external: External::Any, promises: &[] },
];

/// Crates that only `evaluation` may depend on.
const EVALUATION_ONLY: &[&str] = &["loom", "shuttle", "z3"];

/// One row of the table.
struct Layer {
    name: &'static str,
    /// The crates of the workspace that it may depend on.
    may_use: &'static [&'static str],
    /// The crates from outside the workspace that it may depend on.
    external: External,
    /// The attributes that its root file must have.
    promises: &'static [Promise],
}

/// Which crates from outside the workspace a crate may depend on.
enum External {
    Any,
    /// Only these, and only as optional dependencies.
    Optional(&'static [&'static str]),
}

/// An attribute at the top of a root file.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Promise {
    NoStd,
    NoUnsafe,
}

impl Promise {
    fn attribute(self) -> &'static str {
        match self {
            Promise::NoStd => "#![no_std]",
            Promise::NoUnsafe => "#![forbid(unsafe_code)]",
        }
    }

    /// Returns whether the content of an attribute, without spaces, makes this promise.
    fn made_by(self, inside: &str) -> bool {
        match self {
            Promise::NoStd => inside == "no_std",
            Promise::NoUnsafe => inside
                .strip_prefix("forbid(")
                .and_then(|rest| rest.strip_suffix(')'))
                .is_some_and(|lints| lints.split(',').any(|lint| lint == "unsafe_code")),
        }
    }
}

/// Checks the workspace at `root`.
pub(crate) fn check(root: &Path) -> Result<Vec<Violation>, String> {
    let mut packages = metadata::read(root)?;
    // The crates that are workspaces of their own.
    packages.extend(metadata::read(&root.join("crates/native"))?);
    let mut violations = violations(&packages, |library| {
        fs::read_to_string(library)
            .map_err(|error| format!("cannot read {}: {error}", library.display()))
    })?;
    let prefix = format!("{}/", root.display());
    for violation in &mut violations {
        violation.file = violation.file.replacen(&prefix, "", 1);
    }
    Ok(violations)
}

/// Checks `packages`, the crates of a workspace. `read` returns the text of a root file.
fn violations(
    packages: &[Package],
    read: impl Fn(&Path) -> Result<String, String>,
) -> Result<Vec<Violation>, String> {
    let names: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut violations = Vec::new();
    for package in packages {
        let Some(layer) = layer(&package.name) else {
            violations.push(about(&package.manifest, unlisted(&package.name)));
            continue;
        };
        let edges = package.dependencies.iter();
        let wrong = edges.filter_map(|dependency| edge(layer, dependency, &names));
        violations.extend(wrong.map(|message| about(&package.manifest, message)));
        match &package.library {
            Some(library) => {
                let broken = broken_promises(layer, &read(library)?);
                violations.extend(broken.into_iter().map(|message| about(library, message)));
            }
            None if layer.promises.is_empty() => {}
            None => {
                let message = format!("{} must be a library", layer.name);
                violations.push(about(&package.manifest, message));
            }
        }
    }
    Ok(violations)
}

fn layer(name: &str) -> Option<&'static Layer> {
    TABLE.iter().find(|layer| layer.name == name)
}

fn unlisted(name: &str) -> String {
    format!(
        "{name} is not in the table of layers: add it, with the crates that it may depend on, to \
         crates/xtask/src/layering.rs and to ARCHITECTURE.md"
    )
}

/// Returns why a dependency of `from` is not allowed, or `None` if it is allowed. `workspace` contains the
/// names of all crates of the workspace.
fn edge(from: &Layer, to: &Dependency, workspace: &[&str]) -> Option<String> {
    let (name, on) = (from.name, to.name.as_str());
    if EVALUATION_ONLY.contains(&on) {
        return Some(format!("{name} → {on} is not allowed: only evaluation may depend on {on}"));
    }
    match to.kind {
        Kind::Normal | Kind::Build => {}
        Kind::Development => return None,
    }
    if layer(on).is_some() || workspace.contains(&on) {
        let allowed = match from.may_use {
            [] => "no crate of the workspace".to_string(),
            some => some.join(", "),
        };
        return (!from.may_use.contains(&on))
            .then(|| format!("{name} → {on} is not allowed: {name} may depend on {allowed}"));
    }
    match from.external {
        External::Any => None,
        External::Optional(some) if to.optional && some.contains(&on) => None,
        External::Optional(some) => Some(format!(
            "{name} → {on} is not allowed: from outside the workspace {name} may depend only on \
             {}, and only as optional",
            some.join(", ")
        )),
    }
}

/// Returns a message for each promise of `layer` that the root file of its library does not make.
fn broken_promises(layer: &Layer, source: &str) -> Vec<String> {
    let attributes = crate_attributes(source);
    layer
        .promises
        .iter()
        .filter(|promise| !attributes.iter().any(|inside| promise.made_by(inside)))
        .map(|promise| {
            format!("{} must have {} at the top of this file", layer.name, promise.attribute())
        })
        .collect()
}

/// Returns the contents of the crate's attributes, which are before its first item, without spaces.
fn crate_attributes(source: &str) -> Vec<String> {
    let mut attributes = Vec::new();
    let mut open = String::new();
    for line in source.lines().map(str::trim) {
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        if open.is_empty() && !line.starts_with("#![") {
            break;
        }
        open.extend(line.chars().filter(|letter| !letter.is_whitespace()));
        if let Some(inside) = open.strip_prefix("#![").and_then(|rest| rest.strip_suffix(']')) {
            attributes.push(inside.replace(",)", ")"));
            open.clear();
        }
    }
    attributes
}

fn about(file: &Path, message: String) -> Violation {
    Violation { file: file.display().to_string(), line: None, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &[&str] = &["raddle-core", "raddle-engine", "raddle", "raddle-new"];

    fn verdict(from: &str, to: &str, kind: Kind, optional: bool) -> Option<String> {
        let dependency = Dependency { name: to.to_string(), kind, optional };
        edge(layer(from).unwrap(), &dependency, WORKSPACE)
    }

    fn allowed(from: &str, to: &str) -> bool {
        let normal = verdict(from, to, Kind::Normal, false);
        assert_eq!(normal, verdict(from, to, Kind::Build, false));
        normal.is_none()
    }

    #[test]
    fn edges_follow_the_table() {
        assert!(allowed("raddle-engine", "raddle-core"));
        assert!(allowed("raddle-explore", "raddle-strategy"));
        assert!(allowed("raddle-runtime", "raddle-engine"));
        assert!(allowed("raddle", "raddle-runtime"));
        assert!(allowed("cargo-raddle", "raddle-report"));
        assert!(allowed("raddle-programs", "raddle"));

        assert!(!allowed("raddle-core", "raddle-engine"));
        assert!(!allowed("raddle-engine", "raddle-strategy"));
        assert!(!allowed("raddle-engine", "raddle-explore"));
        assert!(!allowed("raddle-engine", "raddle-runtime"));
        assert!(!allowed("raddle-strategy", "raddle-engine"));
        assert!(!allowed("raddle-runtime", "raddle-explore"));
        assert!(!allowed("raddle-report", "raddle-engine"));
        assert!(!allowed("raddle-results", "raddle-engine"));
        assert!(!allowed("raddle-analysis", "raddle-strategy"));
        assert!(!allowed("raddle-analysis", "raddle-explore"));
        assert!(!allowed("raddle-macros", "raddle-core"));
        assert!(!allowed("raddle-explore", "raddle"));
        assert!(!allowed("cargo-raddle", "raddle-explore"));
        assert!(!allowed("raddle-programs", "raddle-engine"));
        assert!(!allowed("xtask", "raddle-core"));
    }

    #[test]
    fn a_forbidden_edge_is_named_with_what_is_allowed() {
        assert_eq!(
            verdict("raddle-runtime", "raddle-explore", Kind::Normal, false).unwrap(),
            "raddle-runtime → raddle-explore is not allowed: raddle-runtime may depend on \
             raddle-core, raddle-engine, raddle-results"
        );
        assert_eq!(
            verdict("xtask", "raddle", Kind::Normal, false).unwrap(),
            "xtask → raddle is not allowed: xtask may depend on no crate of the workspace"
        );
    }

    #[test]
    fn an_edge_behind_a_feature_is_an_edge() {
        assert!(verdict("raddle-report", "raddle-engine", Kind::Normal, true).is_some());
    }

    #[test]
    fn an_unlisted_crate_of_the_workspace_is_not_external() {
        assert!(!allowed("raddle", "raddle-new"));
    }

    fn package(name: &str, library: Option<&str>, dependencies: &[&str]) -> Package {
        let depends = |name: &&str| Dependency {
            name: name.to_string(),
            kind: Kind::Normal,
            optional: false,
        };
        Package {
            name: name.to_string(),
            manifest: format!("{name}/Cargo.toml").into(),
            library: library.map(Into::into),
            dependencies: dependencies.iter().map(depends).collect(),
        }
    }

    fn found(packages: &[Package]) -> Vec<String> {
        let read = |library: &Path| match library.to_str() {
            Some("good.rs") => Ok("#![no_std]\n#![forbid(unsafe_code)]\n".to_string()),
            Some("bad.rs") => Ok("#![no_std]\n".to_string()),
            Some(_) | None => Err("cannot read".to_string()),
        };
        violations(packages, read).unwrap().iter().map(Violation::to_string).collect()
    }

    #[test]
    fn all_violations_of_a_workspace_are_found() {
        let clean = [
            package("raddle-core", Some("good.rs"), &[]),
            package("raddle-runtime", Some("bad.rs"), &["raddle-core", "libc"]),
            package("xtask", None, &["serde_json"]),
        ];
        assert_eq!(found(&clean), [""; 0]);
        let found = found(&[
            package("raddle-core", Some("good.rs"), &["libc"]),
            package("raddle-engine", Some("bad.rs"), &["raddle-core", "raddle-new"]),
            package("raddle-report", None, &[]),
            package("raddle-new", None, &["raddle-programs"]),
        ]);
        let beginnings = [
            "raddle-core/Cargo.toml: raddle-core → libc is not allowed",
            "raddle-engine/Cargo.toml: raddle-engine → raddle-new is not allowed",
            "bad.rs: raddle-engine must have #![forbid(unsafe_code)]",
            "raddle-report/Cargo.toml: raddle-report must be a library",
            "raddle-new/Cargo.toml: raddle-new is not in the table of layers",
        ];
        assert_eq!(found.len(), beginnings.len(), "{found:?}");
        for (line, beginning) in found.iter().zip(beginnings) {
            assert!(line.starts_with(beginning), "{line}");
        }
        assert!(
            violations(&[package("raddle", Some("gone.rs"), &[])], |_| Err("x".into())).is_err()
        );
    }

    #[test]
    fn tests_may_use_anything_but_the_tools_compared_with() {
        assert!(verdict("raddle-engine", "raddle", Kind::Development, false).is_none());
        assert!(verdict("raddle-core", "proptest", Kind::Development, false).is_none());
        for tool in EVALUATION_ONLY {
            assert!(verdict("raddle-engine", tool, Kind::Development, false).is_some());
            for layer in TABLE {
                assert!(!allowed(layer.name, tool));
            }
        }
    }

    #[test]
    fn core_depends_on_nothing() {
        assert!(verdict("raddle-core", "serde", Kind::Normal, true).is_none());
        assert!(verdict("raddle-core", "serde", Kind::Normal, false).is_some());
        assert!(verdict("raddle-core", "libc", Kind::Normal, true).is_some());
        assert!(verdict("raddle-core", "cc", Kind::Build, false).is_some());
        assert!(allowed("raddle-runtime", "libc"));
    }

    #[test]
    fn the_table_is_in_order() {
        for (position, layer) in TABLE.iter().enumerate() {
            for used in layer.may_use {
                let below = TABLE[..position].iter().any(|other| other.name == *used);
                assert!(below, "{} may use {used}, which is not a lower layer", layer.name);
            }
        }
    }

    fn broken(name: &str, source: &str) -> usize {
        broken_promises(layer(name).unwrap(), source).len()
    }

    #[test]
    fn promises_stand_at_the_top() {
        let both =
            "//! Doc.\n#![no_std]\n\n// Why.\n#![forbid(unsafe_code)]\nextern crate alloc;\n";
        assert_eq!(broken("raddle-engine", both), 0);
        assert_eq!(
            broken(
                "raddle-engine",
                "#![forbid(\n    missing_docs,\n    unsafe_code,\n)]\n#![no_std]"
            ),
            0
        );
        assert_eq!(broken("raddle-explore", "#![forbid(unsafe_code)]"), 0);
        assert_eq!(broken("raddle-runtime", ""), 0);

        assert_eq!(broken("raddle-engine", ""), 2);
        assert_eq!(broken("raddle-engine", "#![no_std]"), 1);
        assert_eq!(broken("raddle-explore", "#![deny(unsafe_code)]"), 1);
        assert_eq!(broken("raddle-explore", "// #![forbid(unsafe_code)]"), 1);
        assert_eq!(broken("raddle-explore", "mod a;\n#![forbid(unsafe_code)]"), 1);
        assert_eq!(
            broken("raddle-engine", "#![cfg_attr(not(test), no_std)]\n#![forbid(unsafe_code)]"),
            1
        );
    }
}
