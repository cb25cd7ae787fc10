//! An image, and all that there are.

use std::fmt;

/// An image of a guest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Image {
    name: &'static str,
    bytes: &'static [u8],
}

/// There is no image in this build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    name: &'static str,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "this build has no image `{}` of a guest: it was built for a machine other than \
             x86-64, or without Rust's library for x86_64-unknown-none; `rustup target add \
             x86_64-unknown-none` and build again",
            self.name
        )
    }
}

impl std::error::Error for Missing {}

macro_rules! image {
    ($name:literal) => {
        Image { name: $name, bytes: include_bytes!(concat!(env!("OUT_DIR"), "/", $name)) }
    };
}

/// A partition: its program, its fieldbus and its channels.
pub const PARTITION: Image = image!("partition");
/// The probe `irq`.
pub const IRQ: Image = image!("irq");
/// The probe `osek`.
pub const OSEK: Image = image!("osek");
/// The probe `ethercat`.
pub const ETHERCAT: Image = image!("ethercat");
/// The probe `latency`.
pub const LATENCY: Image = image!("latency");

impl Image {
    /// Returns its name without `quietcore-image-`.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The ELF file, with symbols and without debug information.
    ///
    /// # Errors
    /// [`Missing`] where it could not be built.
    pub fn bytes(self) -> Result<&'static [u8], Missing> {
        if self.bytes.is_empty() { Err(Missing { name: self.name }) } else { Ok(self.bytes) }
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({}, {} bytes)", self.name, self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_an_elf_program_for_this_processor_or_says_why_it_is_not_there() {
        for image in [IRQ, OSEK, ETHERCAT, LATENCY, PARTITION] {
            match image.bytes() {
                Ok(bytes) => {
                    assert_eq!(&bytes[..4], b"\x7fELF", "{image:?}");
                    // A program, not a shared object, for x86-64.
                    assert_eq!(&bytes[16..20], [2, 0, 62, 0], "{image:?}");
                }
                Err(missing) => {
                    let text = missing.to_string();
                    assert!(text.contains("rustup target add"), "{text}");
                }
            }
        }
    }

    /// Goal: a change of the host builds no image anew.
    /// Method: what the build script watches is compared with what a guest is made of, and with
    /// files of the host, some of them in crates that a guest uses, too.
    #[test]
    fn images_are_built_anew_for_what_they_are_made_of_and_nothing_else() {
        let sources: Vec<&str> =
            include_str!(concat!(env!("OUT_DIR"), "/sources")).lines().collect();
        if PARTITION.bytes().is_err() {
            assert!(sources.is_empty(), "{sources:#?}");
            return;
        }
        let is_watched = |path: &str| {
            let whole = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
            let whole = std::fs::canonicalize(whole).expect("the file is there");
            sources.iter().any(|source| std::fs::canonicalize(source).is_ok_and(|it| it == whole))
        };
        for path in [
            "guest/src/lib.rs",
            "guest/images/partition.rs",
            "ground/exchange/src/lib.rs",
            "ground/exchange/Cargo.toml",
            "ground/osek/src/lib.rs",
            "engine/scan/src/lib.rs",
            "engine/maindevice/src/cycle.rs",
        ] {
            assert!(is_watched(path), "{path}");
        }
        for path in [
            "engine/scan/src/process/mod.rs",
            "product/supervisor/src/lib.rs",
            "surface/cli/Cargo.toml",
        ] {
            assert!(!is_watched(path), "{path}");
        }
        let host = ["/logic/", "/product/", "/surface/"];
        let of_host = sources.iter().filter(|path| host.iter().any(|it| path.contains(it)));
        assert_eq!(of_host.collect::<Vec<_>>(), Vec::<&&str>::new());
    }
}
