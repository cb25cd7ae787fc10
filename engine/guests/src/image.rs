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
/// The probe `latency`.
pub const LATENCY: Image = image!("latency");

impl Image {
    /// Its name.
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
        for image in [IRQ, OSEK, LATENCY, PARTITION] {
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
}
