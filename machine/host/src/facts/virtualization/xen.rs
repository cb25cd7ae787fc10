//! Xen below this kernel: its version, and whether domains can be started from here.
//!
//! | fact | from |
//! |------|------|
//! | version | `/sys/hypervisor/version/{major,minor,extra}` |
//! | dom0 | `/proc/xen/capabilities` (xenfs), or bit 11 of `/sys/hypervisor/properties/features` |
//! | kind of guest | `/sys/hypervisor/guest_type` |
//! | store | whether `/run/xenstored/socket` takes a connection |
//! | limit of granted pages | `/sys/module/xen_gntalloc/parameters/limit` |

use serde::{Deserialize, Serialize};

use super::Virtualization;
use crate::reading::Reading;
use crate::source::Source;

/// The limit of granted pages.
const GRANTED_PAGES_MAX: &str = "/sys/module/xen_gntalloc/parameters/limit";

/// Socket of Xen's store.
const STORE: &str = "/run/xenstored/socket";

/// The word of `/proc/xen/capabilities` for a domain that controls others.
const CONTROLS: &str = "control_d";

/// Bit of Xen's features that is set in dom0: `XENFEAT_dom0` of Xen's public header `features.h`.
const FEATURE_DOM0: u64 = 1 << 11;

/// Xen below this kernel; each part is absent where there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Xen {
    /// Version of the hypervisor, such as `4.17.7`.
    pub version: Reading<String>,
    /// `true` if this kernel is the domain that controls others.
    pub is_dom0: Reading<bool>,
    /// Kind of guest that this kernel is: `PV`, `PVH` or `HVM`.
    pub guest_type: Reading<String>,
    /// Path of the program `xl`, with which dom0 starts others.
    pub xl: Reading<String>,
    /// Present if Xen's store takes a connection; without it `xl` waits for ever.
    #[serde(default)]
    pub store: Reading<()>,
    /// Pages of 4 KiB that programs of dom0 may grant to other domains; absent where the module
    /// for that is not loaded.
    #[serde(default)]
    pub granted_pages_max: Reading<u64>,
}

pub(super) fn read(source: &Source) -> Xen {
    Xen {
        version: version(source),
        is_dom0: is_dom0(source),
        guest_type: source.text("/sys/hypervisor/guest_type"),
        xl: Virtualization::find_xl(source),
        store: source.connects(STORE),
        granted_pages_max: source.value(GRANTED_PAGES_MAX),
    }
}

fn version(source: &Source) -> Reading<String> {
    let part = |name: &str| source.text(&format!("/sys/hypervisor/version/{name}"));
    // The third part begins with its dot, and may be empty.
    let extra = part("extra");
    part("major").and_then(|major| {
        part("minor").map(|minor| format!("{major}.{minor}{}", extra.text().unwrap_or_default()))
    })
}

/// Asks xenfs first, whose word is documented for programs; it may not be mounted.
fn is_dom0(source: &Source) -> Reading<bool> {
    let path = "/sys/hypervisor/properties/features";
    match source.text("/proc/xen/capabilities") {
        Reading::Read(words) => Reading::Read(words.split_whitespace().any(|it| it == CONTROLS)),
        _ => source.text(path).and_then(|text| {
            u64::from_str_radix(text.trim_start_matches("0x"), 16)
                .map(|features| features & FEATURE_DOM0 != 0)
                .map_err(|error| format!("{path}: `{text}`: {error}"))
                .into()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::Machine;
    use crate::reading::Reading::{Absent, Read};

    fn facts(machine: &Machine) -> Xen {
        machine.facts().virtualization.xen
    }

    #[test]
    fn a_dom0_is_told_from_other_domains_and_from_a_machine_without_xen() {
        assert_eq!(facts(&Machine::tuned()), Xen::default());
        let mut machine = Machine::dom0();
        let xen = facts(&machine);
        assert_eq!((xen.version, xen.is_dom0), (Read("4.17.7".to_owned()), Read(true)));
        assert_eq!(xen.guest_type, Read("PV".to_owned()));
        assert_eq!(xen.xl, Read("/usr/sbin/xl".to_owned()));
        machine.write("proc/xen/capabilities", "\n");
        assert_eq!(facts(&machine).is_dom0, Read(false));
    }

    #[test]
    fn a_domain_needs_dom0_its_program_and_pages_that_may_be_granted() {
        let obstacle = |machine: &Machine| machine.facts().machine().xen.unwrap_err().what;
        assert!(obstacle(&Machine::tuned()).contains("not dom0 of Xen"));
        let mut machine = Machine::dom0();
        let limit = "sys/module/xen_gntalloc/parameters/limit";
        assert!(obstacle(&machine).contains("may grant 1024 pages"), "the module's own limit");
        machine.write(limit, "65536\n");
        assert_eq!(machine.facts().machine().xen, Ok(()));
        machine.remove(limit);
        assert!(obstacle(&machine).contains("`xen-gntalloc` is not loaded"));
        machine.write(limit, "65536\n");
        machine.end_services();
        assert_eq!(obstacle(&machine), "Xen's store does not answer, for which `xl` waits");
        let remedy = machine.facts().machine().xen.unwrap_err().remedy;
        assert!(remedy.contains("xenstored"), "{remedy}");
        machine.remove("usr/sbin/xl");
        assert!(obstacle(&machine).contains("`xl` is not installed"));
    }

    #[test]
    fn without_xenfs_the_features_of_xen_tell_a_dom0() {
        let mut machine = Machine::dom0();
        machine.remove("proc/xen/capabilities");
        assert_eq!(facts(&machine).is_dom0, Absent);
        for (features, expected) in [("00000000,00000705", None), ("705", Some(false))] {
            machine.write("sys/hypervisor/properties/features", features);
            assert_eq!(facts(&machine).is_dom0.get().copied(), expected, "{features}");
        }
        machine.write("sys/hypervisor/properties/features", "000228f0\n");
        assert_eq!(facts(&machine).is_dom0, Read(true));
    }
}
