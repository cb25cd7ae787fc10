//! `quietcore qualify SITE --renew DIR`: the evidence of a folder for the machine as it is now.
//!
//! ```text
//! DIR ─► verified ─► each profile and probe against this machine ─┬─► holds: taken over
//!                                                                 └─► expired: measured again
//! ```
//!
//! Partitions that are measured alone are renewed alone, and the page says that what it compares is
//! of several times.
//!
//! Only this machine's own evidence is taken over, since this machine signs the new folder.

use std::path::Path;

use quietcore_campaign::probe::PlannedProbe;
use quietcore_campaign::renewal::RenewalPlan;
use quietcore_campaign::{Campaign, Earlier, Run};
use quietcore_evidence::{Evidence, Origin, sum_of_sums};

use super::Begun;
use super::resume::set_as_before;
use crate::arguments::Qualify;
use crate::command::show::ageing::{Here, MachineOf};
use crate::files::SiteFile;
use crate::finish;
use crate::programs::turns::Ready;
use crate::status::Failure;
use crate::terminal::{self, visible};

/// The most problems of a folder that are named.
const PROBLEMS_MAX: usize = 3;

/// The evidence to be renewed, which has been verified.
pub(super) struct Old<'a> {
    root: &'a Path,
    evidence: Evidence,
    here: Here,
}

/// Reads the folder to be renewed, and gives the site file the choices of its command line.
pub(super) fn open<'a>(root: &'a Path, file: &mut SiteFile) -> Result<Old<'a>, Failure> {
    let here = Here::new();
    let evidence = finish::read(root)?;
    let refuse = |why: &str| {
        let shown = root.display();
        Err(Failure::new(format_args!("quietcore: `{shown}` can't be renewed: {why}")))
    };
    if evidence.manifest.origin != Origin::Campaign {
        return refuse(
            "it is not of a campaign; give a folder that `quietcore qualify` has written",
        );
    }
    if evidence.manifest.site_sha256 != file.sha256 {
        return refuse(&format!(
            "it is of another site file (SHA-256 {}, this one {}); measure this one with \
             `quietcore qualify {}`",
            visible(&evidence.manifest.site_sha256),
            file.sha256,
            visible(file.site.file())
        ));
    }
    let problems = finish::problems(&evidence);
    if !problems.is_empty() {
        let named: Vec<String> = problems.iter().take(PROBLEMS_MAX).map(|it| visible(it)).collect();
        return refuse(&format!(
            "it is not as it was written: {}; `quietcore verify` says more",
            named.join("; ")
        ));
    }
    match here.machine_of(&evidence) {
        MachineOf::This => {}
        MachineOf::Other => {
            return refuse(
                "it was measured on another machine, or by another user of this one; what was \
                 measured there says nothing about this machine",
            );
        }
        MachineOf::Unknown => {
            return refuse(
                "it is not signed, so that nothing says on which machine it was measured",
            );
        }
    }
    set_as_before(file, &evidence.manifest)?;
    Ok(Old { root, evidence, here })
}

impl Old<'_> {
    /// Begins the campaign that measures what does not hold any more; `None` if everything holds.
    pub(super) fn begin(
        &self,
        request: &Qualify,
        begun: &Begun<'_>,
        ready: &[Ready],
        (runs, probes): (Vec<Run>, Vec<PlannedProbe>),
    ) -> Result<Option<Campaign>, Failure> {
        let build = |partition: &str| {
            let built = ready.iter().find_map(|turn| turn.built.programs.get(partition));
            built.map(|assembly| assembly.first.build.hash.as_str())
        };
        let settings = || runs.iter().flat_map(|run| &run.partitions);
        let image = |partition: &str| {
            settings().find(|it| it.name == partition).and_then(|it| it.setting.guest_image())
        };
        let mut changes = |partition: &str, records: &[&_]| {
            let now = (build(partition), image(partition));
            let found = self.here.compare_records(&self.evidence, partition, records, now);
            found.expiring().cloned().collect()
        };
        let alone = begun.file.site.campaign().alone.then_some(&runs[..]);
        let plan = RenewalPlan::of(&self.evidence, alone, &mut changes).map_err(|error| {
            let shown = self.root.display();
            Failure::new(format_args!("quietcore: `{shown}` can't be renewed: {error}"))
        })?;
        if plan.is_empty() {
            return Ok(None);
        }
        for again in &plan.measured_again {
            terminal::say(format_args!("measured again: {}", visible(&again.to_string())));
        }
        terminal::say(format_args!("taken over: {}", records(plan.taken_over.len())));
        let sums_sha256 = sum_of_sums(self.root)?;
        let whole = self.root.canonicalize().unwrap_or_else(|_| self.root.to_owned());
        let earlier = Earlier {
            root: self.root,
            folder: &whole.display().to_string(),
            sums_sha256: &sums_sha256,
            evidence: &self.evidence,
            plan: &plan,
        };
        let mut asked = begun.asked(request)?;
        asked.length = self.evidence.manifest.length;
        Ok(Some(Campaign::renew(begun.folder(request)?, asked, &earlier, runs, probes)?))
    }

    /// Says that nothing is to be measured; with `--json` the evidence is that of the folder.
    pub(super) fn nothing_to_do(&self, json: bool) -> Result<(), Failure> {
        let words = format!(
            "nothing to renew: every record of `{}` holds for this machine as it is now\n",
            self.root.display()
        );
        if json {
            terminal::say(words.trim_end());
            return crate::command::print_json(&self.evidence.document());
        }
        crate::command::print_lines(&words)
    }
}

fn records(count: usize) -> String {
    match count {
        0 => "no record".to_owned(),
        1 => "1 record".to_owned(),
        count => format!("{count} records"),
    }
}
