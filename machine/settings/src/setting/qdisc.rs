//! Limits what an interface sends: the queueing discipline at its root, by `tc`.
//!
//! A value is what stands at the root:
//!
//! ```text
//! fq_codel                             what the kernel gives an interface by itself
//! tbf rate 1000000bit burst 3072b      ours: a token bucket filter, known by its handle
//! htb 1: (not ours)                    somebody else's, which is never touched
//! ```
//!
//! The kernel's own discipline has handle 0. Ours is put only in its place, and only a discipline
//! with our handle is taken away; `tc` names the handle with each order, so that the kernel refuses
//! one that would meet something else by then. Without ours the kernel gives the interface what it
//! had.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use quietcore_site::Network;
use quietcore_units::BitCount;
use serde::Deserialize;

use super::SettingError;
use super::tool::{Tool, ToolError};

pub(super) const TC: Tool = Tool { name: "tc", package: "iproute2" };

/// Disciplines that the kernel gives interfaces by itself.
const DEFAULTS: [&str; 5] = ["noqueue", "pfifo_fast", "fq_codel", "mq", "pfifo"];
/// Disciplines that it gives if another is set (`net.core.default_qdisc`).
const OTHER_DEFAULTS: [&str; 2] = ["fq", "sfq"];
/// Discipline of an interface that was never up.
const DOWN: &str = "noop";
/// The handle of ours: "Qc" in ASCII.
const OUR_HANDLE: &str = "5163:";
/// The handle of what the kernel gives.
const NO_HANDLE: &str = "0:";
/// Disciplines that act on received frames, beside the root.
const RECEIVING: [&str; 2] = ["ingress", "clsact"];
/// The longest wait of a frame for tokens before it is dropped.
const LATENCY: &str = "50ms";
/// Bytes of two Ethernet frames, the least that passes at once where the site does not say it.
const TWO_FRAMES_BYTES: u64 = 2 * 1514;

/// A token bucket filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    /// Rate in bytes a second.
    rate: u64,
    /// Bytes that pass at once; a multiple of [`step`].
    burst: u64,
}

/// The value that limits an interface to a share.
pub(crate) fn value(share: &Network) -> String {
    let rate = (share.rate.get() / 8).max(1);
    let burst = share.burst.map_or(0, bytes);
    let burst = if burst == 0 { (rate / 1000).max(TWO_FRAMES_BYTES) } else { burst };
    Bucket { rate, burst: burst.next_multiple_of(step(rate)) }.to_string()
}

/// Whole bytes of a number of bits.
fn bytes(bits: BitCount) -> u64 {
    bits.get().div_ceil(8)
}

/// `tc` keeps a burst as its time in whole µs, cut twice. In steps of what passes in 8 µs or more
/// it can be told all the same.
fn step(rate: u64) -> u64 {
    (rate / 125_000).next_power_of_two().max(64)
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tbf rate {}bit burst {}b", self.rate * 8, self.burst)
    }
}

impl FromStr for Bucket {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let words: Vec<&str> = text.split(' ').collect();
        let ["tbf", "rate", rate, "burst", burst] = words[..] else { return Err(()) };
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok()).ok_or(());
        let (bits, burst) = (number(rate.strip_suffix("bit"))?, number(burst.strip_suffix('b'))?);
        let bucket = Self { rate: bits / 8, burst };
        if bucket.to_string() == text { Ok(bucket) } else { Err(()) }
    }
}

/// The discipline at the root of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Root {
    Default(String),
    Ours(Bucket),
    Foreign(String),
    Down,
}

/// A queueing discipline as `tc -json` tells it.
#[derive(Debug, Deserialize)]
struct ListedQdisc {
    kind: String,
    handle: String,
    #[serde(default)]
    root: bool,
    #[serde(default)]
    options: Options,
}

#[derive(Debug, Default, Deserialize)]
struct Options {
    rate: Option<u64>,
    burst: Option<u64>,
}

/// Reads the discipline at the root.
pub(super) fn read(interface: &str) -> Result<String, SettingError> {
    match root(interface)? {
        Root::Default(kind) => Ok(kind),
        Root::Ours(bucket) => Ok(bucket.to_string()),
        Root::Foreign(what) => Ok(format!("{what} (not ours)")),
        Root::Down => {
            let words = format!("it was never up; `ip link set {interface} up`, and try again");
            Err(SettingError::Refused(words))
        }
    }
}

/// Puts a token bucket filter in the place of what the kernel gave, or takes ours away.
pub(super) fn write(interface: &str, value: &str) -> Result<(), SettingError> {
    let there = root(interface)?;
    let is_default = DEFAULTS.iter().chain(&OTHER_DEFAULTS).any(|it| *it == value);
    let order: Vec<&str> = match (&there, value.parse::<Bucket>()) {
        (Root::Foreign(what), _) => {
            return Err(SettingError::Refused(format!(
                "it has `{what}` at its root, which somebody else set up; take that away with \
                 `tc qdisc del dev {interface} root`, or do without `network` here"
            )));
        }
        (Root::Default(_) | Root::Down, Err(())) if is_default => return Ok(()),
        (Root::Ours(_), Err(())) if is_default => {
            vec!["qdisc", "del", "dev", interface, "root", "handle", OUR_HANDLE]
        }
        (_, Err(())) => {
            return Err(SettingError::Refused(format!("`{value}` can't be put at its root")));
        }
        (there, Ok(_)) => {
            let verb = if matches!(there, Root::Ours(_)) { "replace" } else { "add" };
            let mut order = vec!["qdisc", verb, "dev", interface, "root", "handle", OUR_HANDLE];
            order.extend(value.split(' ').chain(["latency", LATENCY]));
            order
        }
    };
    TC.run(&order).map_err(|failed| with_remedy(failed, interface))?;
    Ok(())
}

fn root(interface: &str) -> Result<Root, SettingError> {
    super::check_interface(interface)?;
    let text = TC.run(&["-json", "qdisc", "show", "dev", interface]);
    let text = text.map_err(|failed| with_remedy(failed, interface))?;
    root_of(&text)
}

fn root_of(text: &str) -> Result<Root, SettingError> {
    let nonsense =
        |error: serde_json::Error| SettingError::Refused(format!("what `tc` says: {error}"));
    let told: Vec<ListedQdisc> =
        if text.is_empty() { Vec::new() } else { serde_json::from_str(text).map_err(nonsense)? };
    let given = |it: &&ListedQdisc| {
        it.handle != NO_HANDLE && it.handle != OUR_HANDLE && !RECEIVING.contains(&it.kind.as_str())
    };
    if let Some(foreign) = told.iter().find(given) {
        return Ok(Root::Foreign(format!("{} {}", foreign.kind, foreign.handle)));
    }
    let root = told.iter().find(|it| it.root);
    let Some(root) = root else { return Ok(Root::Down) };
    let kind = root.kind.as_str();
    match (root.handle == OUR_HANDLE, kind, root.options.rate, root.options.burst) {
        (false, DOWN, ..) => Ok(Root::Down),
        (false, kind, ..) if DEFAULTS.contains(&kind) || OTHER_DEFAULTS.contains(&kind) => {
            Ok(Root::Default(kind.to_owned()))
        }
        (true, "tbf", Some(rate), Some(burst)) => {
            let step = step(rate);
            // Cut twice, so it is less than what was given by less than half a step.
            Ok(Root::Ours(Bucket { rate, burst: (burst + step / 2) / step * step }))
        }
        (_, kind, ..) => Ok(Root::Foreign(format!("{kind} {}", root.handle))),
    }
}

fn with_remedy(failed: ToolError, interface: &str) -> SettingError {
    match failed {
        ToolError::Said(words) if words.contains("Cannot find device") => SettingError::Gone,
        ToolError::Said(mut words) if words.contains("qdisc kind is unknown") => {
            let _ = write!(words, "; the kernel needs `sch_tbf` to limit `{interface}`");
            SettingError::Refused(words)
        }
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(kind: &str, handle: &str, options: &str) -> String {
        format!(
            r#"[{{"kind":"{kind}","handle":"{handle}","root":true,"refcnt":2,"options":{options}}},
                {{"kind":"ingress","handle":"ffff:","parent":"ffff:fff1","options":{{}}}}]"#
        )
    }

    #[test]
    fn what_the_kernel_gave_is_told_from_what_somebody_set_up() {
        let root = |kind, handle, options| root_of(&told(kind, handle, options)).unwrap();
        for kind in DEFAULTS.into_iter().chain(OTHER_DEFAULTS) {
            assert_eq!(root(kind, "0:", "{}"), Root::Default(kind.to_owned()));
            assert_eq!(root(kind, "8001:", "{}"), Root::Foreign(format!("{kind} 8001:")));
        }
        let ours = root("tbf", "5163:", r#"{"rate":125000,"burst":3071,"lat":50000}"#);
        assert_eq!(ours, Root::Ours(Bucket { rate: 125_000, burst: 3072 }));
        let other = root("tbf", "8001:", r#"{"rate":125000,"burst":3072,"lat":50000}"#);
        assert_eq!(other, Root::Foreign("tbf 8001:".to_owned()));
        assert_eq!(root("htb", "5163:", "{}"), Root::Foreign("htb 5163:".to_owned()));
        assert_eq!(root("noop", "0:", "{}"), Root::Down);
        assert_eq!(root_of("[]"), Ok(Root::Down));
        assert!(matches!(root_of("{"), Err(SettingError::Refused(_))));
        // A queue of several, of which somebody gave one another discipline.
        let mixed = r#"[{"kind":"mq","handle":"0:","root":true,"options":{}},
                        {"kind":"fq","handle":"8002:","parent":":1","options":{}}]"#;
        assert_eq!(root_of(mixed), Ok(Root::Foreign("fq 8002:".to_owned())));
    }

    #[test]
    fn only_values_of_ours_reach_the_program() {
        let odd = ["tbf rate 8bit burst 64b latency 1s", "tbf rate 9bit burst 64b", "tbf", "htb"];
        for odd in odd.into_iter().chain(["tbf rate 08bit burst 64b", "tbf  rate 8bit burst 64b"]) {
            assert_eq!(odd.parse::<Bucket>(), Err(()), "{odd}");
        }
        assert_eq!("tbf rate 8bit burst 64b".parse(), Ok(Bucket { rate: 1, burst: 64 }));
        for name in ["", "-s", "a b", "a/b", "..", "sixteen-bytes-xx", "a\nb"] {
            let refused = read(name).unwrap_err().to_string();
            assert!(refused.contains("is no name of an interface"), "{refused}");
        }
    }

    proptest! {
        /// As `tc` keeps and tells a burst: as whole µs, cut when it is given and when it is read.
        #[test]
        fn a_share_reads_back_as_it_was_given(
            rate in 1_000_u64..400_000_000_000,
            burst in prop::option::of(12_112_u64..8_000_000_000),
        ) {
            let share = Network::new(
                quietcore_units::BitRate::new(rate),
                burst.map(BitCount::new),
            );
            let given: Bucket = value(&share).parse().unwrap();
            prop_assert!(given.burst >= burst.map_or(TWO_FRAMES_BYTES, |bits| bits.div_ceil(8)));
            let cut = |bytes: f64| (bytes * 1e6 / given.rate as f64).floor();
            let bytes_of = |micros: f64| (micros * given.rate as f64 / 1e6).floor();
            let read = bytes_of((cut(given.burst as f64) - 1.0).max(0.0)) as u64;
            let text = told(
                "tbf",
                OUR_HANDLE,
                &format!(r#"{{"rate":{},"burst":{read},"lat":50000}}"#, given.rate),
            );
            prop_assert_eq!(root_of(&text), Ok(Root::Ours(given)));
        }
    }
}
