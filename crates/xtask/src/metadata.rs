//! The crates of the workspace and their dependencies, from `cargo metadata`.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A crate of the workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The path of its `Cargo.toml`.
    pub(crate) manifest: PathBuf,
    /// The root file of its library; `None` if it has no library.
    pub(crate) library: Option<PathBuf>,
    /// The declared dependencies, for all targets and features.
    pub(crate) dependencies: Vec<Dependency>,
}

/// A declared dependency.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Dependency {
    /// The original name of the package, also if the dependency renames it.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Whether a feature enables it.
    pub(crate) optional: bool,
}

/// The kind of a dependency.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Used by the crate itself.
    Normal,
    /// Used by its build script.
    Build,
    /// Used by its tests, examples and benches.
    Development,
}

/// Reads the crates of the workspace at `root`.
pub(crate) fn read(root: &Path) -> Result<Vec<Package>, String> {
    let mut command = crate::cargo();
    command.args(["metadata", "--format-version", "1", "--no-deps"]).current_dir(root);
    parse(&crate::output(&mut command)?)
}

fn parse(json: &str) -> Result<Vec<Package>, String> {
    let value: Value =
        serde_json::from_str(json).map_err(|error| format!("cargo metadata: {error}"))?;
    array(&value, "packages")?.iter().map(package).collect()
}

fn package(value: &Value) -> Result<Package, String> {
    Ok(Package {
        name: text(value, "name")?.to_string(),
        manifest: text(value, "manifest_path")?.into(),
        library: library(value)?,
        dependencies: array(value, "dependencies")?
            .iter()
            .map(dependency)
            .collect::<Result<_, _>>()?,
    })
}

fn library(package: &Value) -> Result<Option<PathBuf>, String> {
    for target in array(package, "targets")? {
        // A target of any other kind is a library.
        let other = ["bin", "example", "test", "bench", "custom-build"];
        if !array(target, "kind")?.iter().any(|kind| other.iter().any(|name| kind == name)) {
            return Ok(Some(text(target, "src_path")?.into()));
        }
    }
    Ok(None)
}

fn dependency(value: &Value) -> Result<Dependency, String> {
    let kind = match value["kind"].as_str() {
        None => Kind::Normal,
        Some("build") => Kind::Build,
        Some("dev") => Kind::Development,
        Some(unknown) => return Err(format!("cargo metadata: unknown dependency kind {unknown}")),
    };
    let optional = value["optional"].as_bool().ok_or("cargo metadata: no `optional`")?;
    Ok(Dependency { name: text(value, "name")?.to_string(), kind, optional })
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    value[key].as_str().ok_or_else(|| format!("cargo metadata: no text `{key}`"))
}

fn array<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], String> {
    let items = value[key].as_array().ok_or_else(|| format!("cargo metadata: no list `{key}`"))?;
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"{"packages": [
        {"name": "a", "manifest_path": "crates/a/Cargo.toml",
         "targets": [{"kind": ["custom-build"], "src_path": "crates/a/build.rs"},
                     {"kind": ["lib"], "src_path": "crates/a/src/lib.rs"}],
         "dependencies": [{"name": "b", "kind": null, "optional": false},
                          {"name": "c", "kind": "dev", "optional": false},
                          {"name": "d", "kind": "build", "optional": true}]},
        {"name": "e", "manifest_path": "crates/e/Cargo.toml",
         "targets": [{"kind": ["bin"], "src_path": "crates/e/src/main.rs"}],
         "dependencies": []}]}"#;

    #[test]
    fn reads_packages() {
        let depends = |name: &str, kind, optional| Dependency { name: name.into(), kind, optional };
        let packages = parse(SAMPLE).unwrap();
        assert_eq!(
            packages,
            [
                Package {
                    name: "a".into(),
                    manifest: "crates/a/Cargo.toml".into(),
                    library: Some("crates/a/src/lib.rs".into()),
                    dependencies: vec![
                        depends("b", Kind::Normal, false),
                        depends("c", Kind::Development, false),
                        depends("d", Kind::Build, true),
                    ],
                },
                Package {
                    name: "e".into(),
                    manifest: "crates/e/Cargo.toml".into(),
                    library: None,
                    dependencies: vec![],
                },
            ]
        );
    }

    #[test]
    fn refuses_unknown_input() {
        assert!(parse("").is_err());
        assert!(parse("{}").is_err());
        assert!(parse(&SAMPLE.replace("\"dev\"", "\"odd\"")).is_err());
        assert!(parse(&SAMPLE.replace("\"optional\"", "\"choice\"")).is_err());
    }
}
