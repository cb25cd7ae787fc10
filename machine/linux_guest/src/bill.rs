//! The bill of materials of an image, as CycloneDX 1.5 in JSON.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::image::FileMark;

/// A part of an image.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The path in the guest, or the name of a package.
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    /// Name of Debian's package, where it is known.
    pub(crate) package: Option<String>,
    pub(crate) mark: FileMark,
}

impl Part {
    /// Describes a file of this machine's, with Debian's package that it is from.
    pub(crate) fn of_file(path: &Path, bytes: &[u8]) -> Self {
        let package = owner(path);
        let version = package.as_deref().and_then(version);
        Self { name: path.display().to_string(), version, package, mark: FileMark::of(bytes) }
    }

    fn component(&self) -> Value {
        let mut component = json!({
            "type": if self.package.is_some() { "library" } else { "file" },
            "name": self.name,
            "hashes": [{ "alg": "SHA-256", "content": self.mark.sha256 }],
        });
        if let Some(version) = &self.version {
            component["version"] = version.clone().into();
        }
        if let Some(package) = &self.package {
            let version = self.version.as_ref().map(|it| format!("@{it}")).unwrap_or_default();
            component["purl"] = format!("pkg:deb/debian/{package}{version}?arch=amd64").into();
        }
        component
    }
}

/// Writes the bill of all parts. It has no date and no serial number, so that the same parts give
/// the same bytes.
pub(crate) fn write(parts: &[Part]) -> Vec<u8> {
    let components: Vec<Value> = parts.iter().map(Part::component).collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": { "type": "operating-system", "name": "quietcore-guest" } },
        "components": components,
    });
    serde_json::to_vec_pretty(&bill).expect("plain data")
}

/// Returns Debian's package that a file is from; `None` where nobody knows.
fn owner(path: &Path) -> Option<String> {
    let asked = |path: &Path| {
        let output = Command::new("dpkg-query").arg("--search").arg(path).output().ok()?;
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        Some(text.split([':', ',']).next()?.trim().to_owned())
    };
    // Packages know libraries by the names before `/lib` became `/usr/lib`, or by those after.
    asked(path).or_else(|| asked(&path.canonicalize().ok()?)).or_else(|| {
        let real = path.canonicalize().ok()?;
        asked(&Path::new("/").join(real.strip_prefix("/usr").ok()?))
    })
}

fn version(package: &str) -> Option<String> {
    let format = "--showformat=${Version}";
    let output = Command::new("dpkg-query").args(["--show", format, package]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    // A package of several architectures is listed once for each.
    text.lines().next().map(str::to_owned).filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bill_names_each_part_with_its_sum_and_package() {
        let part = Part {
            name: "/lib/libm.so.6".to_owned(),
            version: Some("2.36".to_owned()),
            package: Some("libc6".to_owned()),
            mark: FileMark::of(b"a library"),
        };
        let own = Part { package: None, version: None, name: "init".to_owned(), ..part.clone() };
        let bill: Value = serde_json::from_slice(&write(&[part, own])).expect("JSON");
        assert_eq!(bill["bomFormat"], "CycloneDX");
        let [library, init] = [0, 1].map(|index| &bill["components"][index]);
        assert_eq!(library["purl"], "pkg:deb/debian/libc6@2.36?arch=amd64");
        assert_eq!(library["hashes"][0]["content"].as_str().map(str::len), Some(64));
        assert_eq!((&init["type"], init.get("purl")), (&"file".into(), None));
    }
}
