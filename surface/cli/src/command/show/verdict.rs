//! `quietcore verdict`: which verdicts hold for this machine as it is now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use quietcore_evidence::{Evidence, Origin, Signature};
use quietcore_record::ageing::{Change, Comparison, NotCompared};
use quietcore_record::verdict::Verdict;
use serde::Serialize;

use super::ageing::{Here, MachineOf, expired_line};
use crate::arguments::VerdictRequest;
use crate::command;
use crate::runs;
use crate::status::{Failure, Status};
use crate::table::Table;
use crate::terminal::{self, visible};

/// The schema name of what `--json` prints.
const SCHEMA: &str = "quietcore.verdicts/1";
/// Characters of a time, up to its minute.
const MINUTE_CHARACTERS: usize = 16;

/// The verdicts of some folders, as `--json` prints them.
#[derive(Serialize)]
struct Listing {
    schema: &'static str,
    /// The verdicts, the newest first.
    verdicts: Vec<Entry>,
    /// Folders that could not be read, each with the reason.
    unread: Vec<String>,
}

/// The verdict on a partition and the class that it declares.
#[derive(Clone, Serialize)]
struct Entry {
    verdict: Verdict,
    standing: Standing,
    site: String,
    partition: String,
    class: String,
    /// Start of the campaign, RFC 3339, UTC.
    started_at: String,
    folder: PathBuf,
    /// The key that signed the folder; `None` without one.
    keyid: Option<String>,
    /// Changes of this machine since, of which the verdict has expired.
    expired_by: Vec<Change>,
    /// Changes since that are only told, as of a governor.
    also_changed: Vec<Change>,
    /// Conditions of which nobody knows whether they changed.
    not_compared: Vec<NotCompared>,
}

/// The bearing of a verdict on this machine as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Standing {
    /// Nothing that it depends on has changed, as far as that is known.
    Holds,
    /// Something that it depends on has changed.
    Expired,
    /// It is about another machine, or of another user of this one.
    OtherMachine,
    /// Nobody knows which machine it is about.
    UnknownMachine,
}

impl Standing {
    const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Expired => "EXPIRED",
            Self::OtherMachine => "of another machine",
            Self::UnknownMachine => "not signed",
        }
    }
}

pub(in crate::command) fn run(request: &VerdictRequest) -> Result<Status, Failure> {
    let (folders, mut unread) = folders(&request.folders)?;
    let here = Here::new();
    let mut entries = Vec::new();
    for folder in &folders {
        match quietcore_evidence::read(folder) {
            Ok(evidence) => entries.extend(entries_of(folder, &evidence, &here)),
            Err(error) if request.folders.contains(folder) => return Err(error.into()),
            Err(error) => unread.push(quietcore_units::Causes(&error).to_string()),
        }
    }
    entries.sort_by(|one, other| {
        let key = |entry: &Entry| (entry.site.clone(), entry.partition.clone());
        other.started_at.cmp(&one.started_at).then_with(|| key(one).cmp(&key(other)))
    });
    let newest = newest(&entries);
    let passes = is_passed(&newest) && unread.is_empty();
    let verdicts = if request.all { entries } else { newest };
    let listing = Listing { schema: SCHEMA, verdicts, unread };
    if request.json {
        command::print_json(&listing)?;
    } else {
        command::print(&words(&listing.verdicts, terminal::width()))?;
        remarks(&listing);
    }
    Ok(Status::of(passes))
}

/// Returns the evidence folders that are meant, and those of a folder of runs that can't be read.
fn folders(asked: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<String>), Failure> {
    let by_default = [PathBuf::from(runs::RUNS)];
    let asked = if asked.is_empty() { &by_default[..] } else { asked };
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for folder in asked {
        if folder.join("manifest.json").exists() {
            found.push(folder.clone());
            continue;
        }
        let names = runs::folders(folder);
        if names.is_empty() {
            return Err(Failure::new(format_args!(
                "quietcore: `{}` holds no evidence; give the folder that `quietcore qualify` has \
                 written, or one of several such as `{}`",
                folder.display(),
                runs::RUNS
            )));
        }
        let (newest, left) = runs::newest(folder, &names);
        unread.extend(left);
        found.extend(newest.into_iter().map(|name| folder.join(name)));
    }
    Ok((found, unread))
}

/// Returns the verdicts of a campaign; none of other evidence, which declares no class.
fn entries_of(folder: &Path, evidence: &Evidence, here: &Here) -> Vec<Entry> {
    if evidence.manifest.origin != Origin::Campaign {
        return Vec::new();
    }
    let declared = evidence.manifest.declared.iter();
    let entry = |(partition, class): (&String, &String)| {
        let (standing, comparison) = match here.machine_of(evidence) {
            MachineOf::Other => (Standing::OtherMachine, Comparison::default()),
            MachineOf::Unknown => (Standing::UnknownMachine, Comparison::default()),
            MachineOf::This => {
                let comparison = here.compare(evidence, partition);
                let is_expired = comparison.is_expired();
                (if is_expired { Standing::Expired } else { Standing::Holds }, comparison)
            }
        };
        Entry {
            verdict: evidence.overall(partition, class),
            standing,
            site: evidence.manifest.name.clone(),
            partition: partition.clone(),
            class: class.clone(),
            started_at: evidence.manifest.started_at.clone(),
            folder: folder.to_owned(),
            keyid: match &evidence.signature {
                Signature::Signed { key, .. } => Some(key.id()),
                Signature::Unsigned | Signature::Broken(_) => None,
            },
            expired_by: comparison.expiring().cloned().collect(),
            also_changed: comparison.told().cloned().collect(),
            not_compared: comparison.not_compared,
        }
    };
    declared.map(entry).collect()
}

/// Returns the newest verdict of each machine, site, partition and class; `entries` begin with the
/// newest.
fn newest(entries: &[Entry]) -> Vec<Entry> {
    let mut seen = BTreeSet::new();
    let is_first = |entry: &&Entry| {
        let Entry { keyid, site, partition, class, .. } = entry;
        seen.insert((keyid.clone(), site.clone(), partition.clone(), class.clone()))
    };
    entries.iter().filter(is_first).cloned().collect()
}

/// Returns `true` if there are verdicts of this machine, and all of them are PASS and hold.
fn is_passed(newest: &[Entry]) -> bool {
    let is_own = |entry: &&Entry| matches!(entry.standing, Standing::Holds | Standing::Expired);
    let passes = |it: &Entry| it.verdict == Verdict::Pass && it.standing == Standing::Holds;
    let own: Vec<&Entry> = newest.iter().filter(is_own).collect();
    !own.is_empty() && own.into_iter().all(passes)
}

fn words(entries: &[Entry], width: usize) -> String {
    if entries.is_empty() {
        return "no verdict: none of this evidence is a campaign whose partitions declare a class\n"
            .to_owned();
    }
    let mut table =
        Table::new(&["verdict", "now", "site", "partition", "class", "measured (UTC)", "folder"]);
    for entry in entries {
        let measured: String = entry.started_at.chars().take(MINUTE_CHARACTERS).collect();
        table.row([
            entry.verdict.to_string(),
            entry.standing.word().to_owned(),
            entry.site.clone(),
            entry.partition.clone(),
            entry.class.clone(),
            measured.replace('T', " "),
            entry.folder.display().to_string(),
        ]);
    }
    let mut text = table.lines_within(width).join("\n") + "\n";
    for entry in entries.iter().filter(|entry| entry.standing == Standing::Expired) {
        let (name, class) = (visible(&entry.partition), visible(&entry.class));
        let expired = expired_line(entry.expired_by.iter());
        text.push_str(&format!("{name}, {class}: {expired}\n"));
    }
    text
}

/// Says what is not known, and the way to verdicts that hold.
fn remarks(listing: &Listing) {
    for unread in &listing.unread {
        terminal::say(format_args!("not read: {}", visible(unread)));
    }
    let not_compared: BTreeSet<NotCompared> =
        listing.verdicts.iter().flat_map(|entry| entry.not_compared.iter().copied()).collect();
    if !not_compared.is_empty() {
        let all: Vec<String> = not_compared.iter().map(ToString::to_string).collect();
        terminal::say(format_args!("not compared: {}", all.join(", ")));
    }
    let changed: BTreeSet<String> = listing
        .verdicts
        .iter()
        .flat_map(|entry| entry.also_changed.iter().map(|change| visible(&change.to_string())))
        .collect();
    if !changed.is_empty() {
        let all: Vec<String> = changed.into_iter().collect();
        terminal::say(format_args!("also changed, and told only: {}", all.join("; ")));
    }
    let has = |standing| listing.verdicts.iter().any(|entry| entry.standing == standing);
    if has(Standing::OtherMachine) {
        terminal::say(
            "of another machine: signed by another key than this user's on this machine, and not \
             compared",
        );
    }
    if has(Standing::UnknownMachine) {
        terminal::say("not signed: nothing says which machine it is about, and it is not compared");
    }
    if has(Standing::Expired) {
        terminal::say(
            "measure again what has expired with `quietcore qualify SITE --renew FOLDER`, and all \
             of it without `--renew`",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(started_at: &str, verdict: Verdict, standing: Standing, key: &str) -> Entry {
        Entry {
            verdict,
            standing,
            site: "press".to_owned(),
            partition: "axis".to_owned(),
            class: "process-control".to_owned(),
            started_at: started_at.to_owned(),
            folder: "runs/a".into(),
            keyid: Some(key.to_owned()),
            expired_by: Vec::new(),
            also_changed: Vec::new(),
            not_compared: Vec::new(),
        }
    }

    #[test]
    fn only_the_newest_verdict_of_this_machine_counts() {
        let pass = |at| entry(at, Verdict::Pass, Standing::Holds, "own");
        let fail = |at| entry(at, Verdict::Fail, Standing::Holds, "own");
        let passes = |entries: &[Entry]| is_passed(&newest(entries));
        assert!(passes(&[pass("2"), fail("1")]));
        assert!(!passes(&[fail("2"), pass("1")]));
        assert!(!passes(&[entry("2", Verdict::Pass, Standing::Expired, "own"), pass("1")]));
        let other = entry("3", Verdict::Pass, Standing::OtherMachine, "other");
        assert!(!passes(std::slice::from_ref(&other)), "nothing is of this machine");
        assert!(passes(&[other.clone(), pass("1")]));
        assert_eq!(newest(&[other, pass("2"), pass("1")]).len(), 2);
        let unknown = entry("1", Verdict::Pass, Standing::UnknownMachine, "own");
        assert!(!passes(&[unknown]) && !passes(&[]));
    }
}
