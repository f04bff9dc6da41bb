//! The crates of the workspace and what they declare, as `cargo metadata` tells it.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A crate of the workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// Its `Cargo.toml`.
    pub(crate) manifest: PathBuf,
    /// The root file of its library, if it has one.
    pub(crate) library: Option<PathBuf>,
    /// What it declares to depend on, for all targets and features.
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency as it is declared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Dependency {
    /// The name of the package, not what it is renamed to.
    pub(crate) name: String,
    /// When it is needed.
    pub(crate) kind: Kind,
    /// Whether it stands behind a feature.
    pub(crate) optional: bool,
}

/// When a dependency is needed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// By the crate itself.
    Normal,
    /// By its build script.
    Build,
    /// By its tests, examples and benches.
    Development,
}

/// Asks cargo about the workspace at `root`.
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
        // Anything that is not one of these is a library, whatever its crate type.
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
    fn refuses_what_it_does_not_know() {
        assert!(parse("").is_err());
        assert!(parse("{}").is_err());
        assert!(parse(&SAMPLE.replace("\"dev\"", "\"odd\"")).is_err());
        assert!(parse(&SAMPLE.replace("\"optional\"", "\"choice\"")).is_err());
    }
}
