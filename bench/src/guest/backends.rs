//! From `quietcore up` to the first cycle of the same program, on each backend that this machine
//! has.
//!
//! ```text
//! quietcore up ─ plan ─ supervisor ─ partition's process ─ QEMU ─ guest ─ first cycle
//! └───────────────────── ours ────────────────────────────┴── QEMU and what it starts ──┘
//! ```
//!
//! Whole commands, which take turns. The program was built before, at ordinary priority. QEMU's
//! part begins where a program [in front of it](super::front) becomes QEMU; the guest's own start
//! is in it. What is emulated is marked so, and its figure is no time.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use quietcore_host::facts::Facts;
use tempfile::TempDir;

use super::cycle::EMULATED;
use super::front::{place_in_front_of_qemu, quoted};
use super::start::{bring_up, milli};
use super::{Request, why_no_guests};
use crate::findings::Findings;

/// The lines about a partition that starts from a Linux image.
fn linux(image: &Path, accelerator: &str) -> String {
    let image = image.display();
    format!("guest = {{ system = \"linux\", image = \"{image}\"{accelerator} }}\n")
}

/// A way to realise the partition.
struct Way {
    /// The name of its figures.
    name: String,
    backend: &'static str,
    /// Further lines about the partition.
    lines: String,
    /// `true` if an emulator executes it.
    is_emulated: bool,
}

/// A site with one partition, and the folder for all that it leaves.
struct Stage {
    way: Way,
    site: PathBuf,
    folder: TempDir,
    /// Runs a command with a program in front of QEMU.
    enter: Option<PathBuf>,
}

pub(super) fn measure(
    request: &Request,
    facts: &Facts,
    rounds: usize,
    findings: &mut Findings,
) -> Result<(), String> {
    let mut stages = Vec::new();
    for way in ways(request, facts, findings) {
        let name = way.name.clone();
        // The first start builds the program, and shows whether the machine has the backend.
        let stage = Stage::new(way, request).and_then(|stage| stage.start().map(|_| stage));
        match stage {
            Ok(stage) => stages.push((stage, Vec::new(), Vec::new())),
            Err(why) => findings.not_measured(format!("up on `{name}`: {why}")),
        }
    }
    for round in 0..rounds {
        let count = stages.len();
        for place in 0..count {
            // The order turns with the rounds.
            let (stage, whole, ours) = &mut stages[(round + place) % count];
            let start = stage.start()?;
            whole.push(start.whole);
            ours.extend(start.ours);
        }
    }
    let all = facts.time_reality().why_not_real().is_some();
    for (stage, whole, ours) in &stages {
        let Way { name, is_emulated, .. } = &stage.way;
        let mark = if all || *is_emulated { ", timing not valid: emulated" } else { "" };
        findings.figure(&format!("`up` to the first cycle, {name}{mark}"), "ms", &milli(whole));
        if !ours.is_empty() {
            let qemu: Vec<f64> = whole.iter().zip(ours).map(|(all, ours)| all - ours).collect();
            findings.figure(&format!("of it before QEMU, {name}{mark}"), "ms", &milli(ours));
            findings.figure(
                &format!("of it QEMU's and its guest's, {name}{mark}"),
                "ms",
                &milli(&qemu),
            );
        }
    }
    Ok(())
}

/// The ways that are asked for.
fn ways(request: &Request, facts: &Facts, findings: &mut Findings) -> Vec<Way> {
    let has_kvm = why_no_guests(facts).is_none();
    let own = |backend: &'static str, lines: &str, is_emulated| Way {
        name: backend.to_string(),
        backend,
        lines: lines.to_owned(),
        is_emulated,
    };
    let mut ways = vec![
        own("process", "", false),
        own("container", "", false),
        own("kvm", "", false),
        own("qemu", if has_kvm { "" } else { EMULATED }, !has_kvm),
        own("xen", "", false),
    ];
    let accelerator = if has_kvm { "" } else { ", accelerator = \"tcg\"" };
    match &request.linux_image {
        Some(image) => ways.push(Way {
            name: "qemu with Linux".to_owned(),
            backend: "qemu",
            lines: linux(image, accelerator),
            is_emulated: !has_kvm,
        }),
        None => findings.not_measured(
            "up on `qemu` with Linux: needs --linux-image, a folder of `quietcore guest build`",
        ),
    }
    ways
}

/// A start, in µs.
struct Start {
    whole: f64,
    /// The part before QEMU, where there is one.
    ours: Option<f64>,
}

impl Stage {
    fn new(way: Way, request: &Request) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let model = request.model.canonicalize().map_err(|error| format!("the model: {error}"))?;
        let Way { backend, lines, .. } = &way;
        let text = format!(
            "[site]\nname = \"bench-up\"\n\n[[partition]]\nname = \"axis\"\n\
             class = \"process-control\"\nbackend = \"{backend}\"\n{lines}\
             [partition.vcr]\ncpus = [{}]\n[partition.program]\nmodel = \"{}\"\n\
             period = \"10 ms\"\npolicy = \"other\"\n",
            request.cpu,
            model.display()
        );
        let site = folder.path().join("site.toml");
        fs::write(&site, text).map_err(|error| error.to_string())?;
        let mut stage = Self { way, site, folder, enter: None };
        if stage.way.backend == "qemu" {
            let note = format!("date +%s%N >{}", quoted(&stage.note()));
            stage.enter = Some(place_in_front_of_qemu(stage.folder.path(), &note, "")?);
        }
        Ok(stage)
    }

    /// The file with the instant at which QEMU began, in ns since 1970.
    fn note(&self) -> PathBuf {
        self.folder.path().join("began")
    }

    fn start(&self) -> Result<Start, String> {
        // There is none before the first start.
        let _ = fs::remove_file(self.note());
        let begun = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|it| it.to_string())?;
        let whole = bring_up(&self.site, self.folder.path(), self.enter.as_deref())?;
        let began = fs::read_to_string(self.note()).ok();
        let began = began.and_then(|text| text.trim().parse::<u128>().ok());
        let ours = began.map(|began| began.saturating_sub(begun.as_nanos()) as f64 / 1000.0);
        Ok(Start { whole, ours })
    }
}
