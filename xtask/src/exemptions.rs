//! Every exemption from the house rules, in one place, each with its reason.
//!
//! An exemption that nothing needs any more is itself a finding, so the lists stay short. What has
//! no list here has no exemption.

/// One crate may use another of its own floor; the guest, of a floor above `engine/`.
pub(crate) struct Sideways {
    /// The crate that depends, without `quietcore-`.
    pub(crate) from: &'static str,
    /// The crate depended on.
    pub(crate) to: &'static str,
    /// Why the two stand on one floor nevertheless.
    pub(crate) reason: &'static str,
}

/// Dependencies between crates of one floor, and of the guest.
pub(crate) const SIDEWAYS: &[Sideways] = &[
    Sideways {
        from: "site",
        to: "record",
        reason: "a site names application classes and defines its own, by which record judges; \
                 the rows of its isolation matrix are profiles",
    },
    Sideways {
        from: "site",
        to: "segment",
        reason: "a site names entries of the built-in SubDevices and signals of their plants",
    },
    Sideways {
        from: "control",
        to: "site",
        reason: "the state of a partition tells how critical it is, in the site file's word",
    },
    Sideways { from: "probe", to: "guests", reason: "a probe inside of a guest starts an image" },
    Sideways {
        from: "backend",
        to: "probe",
        reason: "the process backend starts what the probe runs",
    },
    Sideways {
        from: "backend",
        to: "guests",
        reason: "the KVM backend starts the image of a partition",
    },
    Sideways {
        from: "fieldbus",
        to: "maindevice",
        reason: "the MainDevice is what the scan cycle drives",
    },
    Sideways { from: "fieldbus", to: "scan", reason: "the face of a fieldbus is the scan cycle's" },
    Sideways {
        from: "scan",
        to: "release",
        reason: "a program is released as the probe is: the same margin, settings and early wake",
    },
    Sideways {
        from: "settings",
        to: "host",
        reason: "what a setting holds is read as every fact of the machine is, by the same bounded \
                 reader",
    },
    Sideways { from: "microvm", to: "wire", reason: "frames of a guest's network go over a wire" },
    Sideways {
        from: "assembly",
        to: "backend",
        reason: "a partition is assembled into the backend's own job",
    },
    Sideways {
        from: "remote",
        to: "api",
        reason: "the client of a daemon speaks the daemon's contract",
    },
    Sideways {
        from: "guest",
        to: "probe",
        reason: "its images carry out probes, whose loops need no operating system",
    },
];

/// The crates by which tests say that they could not run, and by which they and build scripts get
/// the images of guests; those of every floor may use them.
pub(crate) const CRATES_OF_NO_FLOOR: &[&str] = &["images", "skip"];

/// Folders and files in which `unsafe` may stand; a folder is written with its last `/`.
pub(crate) const UNSAFE_HOMES: &[(&str, &str)] = &[
    ("machine/", "the floor that touches the machine"),
    ("ground/exchange/", "shared memory, behind a safe face"),
    ("engine/scan/src/process/loading.rs", "calls into the program, which is foreign code"),
    ("engine/scan/src/process/loading/tests.rs", "calls a function as `loading` calls a program's"),
    ("ground/osek/", "its ports switch contexts"),
    ("realise/probe/src/osek/machine.rs", "makes a kernel, and promises who uses it"),
    ("surface/channel/src/c.rs", "is called by C, through raw pointers"),
    ("guest/", "there is no operating system below it"),
    ("models/src/controller.rs", "the example programs are C, which Rust calls"),
];

/// One rule does not hold for one file or folder.
pub(crate) struct Waiver {
    /// The rule's name, as findings print it.
    pub(crate) rule: &'static str,
    /// A file, or a folder with its last `/`.
    pub(crate) path: &'static str,
    /// Why the rule must give way here.
    pub(crate) reason: &'static str,
}

/// Waivers of a rule for a file. Length up to 1000 lines, width, words and paths are waived here.
pub(crate) const WAIVERS: &[Waiver] = &[
    Waiver {
        rule: "words",
        path: "docs/glossary.md",
        reason: "explains the older terms to those who search for them",
    },
    Waiver {
        rule: "words",
        path: "surface/cli/tests/pysoem_to_op.py",
        reason: "calls pysoem, whose names these are",
    },
    Waiver {
        rule: "words",
        path: "bench/src/ethercat/soem.py",
        reason: "calls pysoem, whose names these are",
    },
    Waiver {
        rule: "words",
        path: "logic/oil/src/foreign/erika2.oil",
        reason: "names the attributes that another implementation has",
    },
    Waiver {
        rule: "words",
        path: "logic/oil/tests/foreign/",
        reason: "is written as users of other implementations write",
    },
    Waiver {
        rule: "words",
        path: "logic/oil/tests/stored/foreign.txt",
        reason: "tells what is said of files as users of other implementations write them",
    },
    Waiver {
        rule: "words",
        path: "xtask/src/rules/wording.rs",
        reason: "holds the list of the words that are not used",
    },
    Waiver {
        rule: "paths",
        path: "xtask/src/rules/wording.rs",
        reason: "holds the list of the folders that are not named",
    },
    Waiver {
        rule: "purity",
        path: "ground/osek/Cargo.toml",
        reason: "one of its ports is a Linux process; without that feature it uses `units` alone",
    },
    Waiver {
        rule: "binaries",
        path: "fuzz/Cargo.toml",
        reason: "the fuzzer calls its targets by name; they are no programs of the product",
    },
];

/// Rules that no waiver can lift.
pub(crate) const ABSOLUTE: &[&str] = &["length-limit", "floors", "licences", "promises"];

/// Packages whose licence expression is missing or unusual, with what was read in their sources.
pub(crate) struct KnownLicence {
    /// Name in the registry.
    pub(crate) package: &'static str,
    /// The licence found by reading, as an SPDX expression.
    pub(crate) licence: &'static str,
    /// The file in which it was read.
    pub(crate) reason: &'static str,
}

/// Licences that a package does not state in its manifest.
pub(crate) const KNOWN_LICENCES: &[KnownLicence] = &[];

/// All exemptions, one a line, for those who review them.
pub(crate) fn listing() -> String {
    let mut lines = Vec::new();
    for Sideways { from, to, reason } in SIDEWAYS {
        lines.push(format!("floors: `{from}` may use `{to}`: {reason}"));
    }
    for (home, reason) in UNSAFE_HOMES {
        lines.push(format!("unsafe-home: `{home}`: {reason}"));
    }
    for Waiver { rule, path, reason } in WAIVERS {
        lines.push(format!("{rule}: `{path}`: {reason}"));
    }
    for known in KNOWN_LICENCES {
        let KnownLicence { package, licence, reason } = known;
        lines.push(format!("licences: `{package}` has `{licence}`: {reason}"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exemption_gives_its_reason() {
        for line in listing().lines() {
            let reason = line.rsplit(": ").next().unwrap();
            assert!(reason.split_whitespace().count() > 2, "`{line}` has no reason");
        }
    }

    #[test]
    fn no_waiver_touches_an_absolute_rule() {
        for waiver in WAIVERS {
            assert!(!ABSOLUTE.contains(&waiver.rule), "{}", waiver.path);
        }
    }
}
