//! A delay put in on purpose, to prove that what happens is seen.

use alloc::format;
use alloc::string::String;
use core::str::FromStr;

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// A release that is held up, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// The time by which the release is held up.
    pub delay: Nanos,
    /// The number of the release, from 0.
    pub release: u64,
}

impl Injection {
    /// Returns the delay for the release of this number, if it is the one.
    #[inline]
    pub fn delay_of(&self, release: u64) -> Option<Nanos> {
        (self.release == release).then_some(self.delay)
    }
}

impl FromStr for Injection {
    type Err = String;

    /// Reads `500us@1000`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (delay, release) = text.split_once('@').ok_or_else(|| {
            format!("`{text}` has no `@`; write DELAY@RELEASE such as 500us@1000")
        })?;
        let delay = delay.parse().map_err(|error| format!("`{delay}`: {error}"))?;
        let release = release
            .trim()
            .parse()
            .map_err(|_| format!("`{release}` is not the number of a release"))?;
        Ok(Self { delay, release })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_injection_is_read() {
        let injection = Injection { delay: Nanos::from_micros(500), release: 1000 };
        assert_eq!("500us@1000".parse(), Ok(injection));
        assert!("500us".parse::<Injection>().unwrap_err().contains("no `@`"));
        assert!("500@7".parse::<Injection>().unwrap_err().contains("unit"));
        assert!("5us@x".parse::<Injection>().unwrap_err().contains("not the number"));
        assert_eq!(injection.delay_of(1000), Some(Nanos::from_micros(500)));
        assert_eq!(injection.delay_of(999), None);
    }
}
