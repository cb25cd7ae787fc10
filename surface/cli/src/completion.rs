//! Completion in a shell of names that only running sites know: sites, partitions, variables.
//!
//! ```text
//! <TAB> ─► script of `quietcore completions SHELL` ─► QUIETCORE_COMPLETE=SHELL quietcore -- WORDS
//!                                                      └─► clap's engine ─► the functions here
//! ```
//!
//! A person waits at the keyboard: nothing is offered if the answer takes longer than [`PATIENCE`]
//! or anything fails. The names of a large program are offered part by part.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use clap::CommandFactory as _;
use clap_complete::CompleteEnv;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;
use quietcore_program::{Pattern, Symbols, VariableLocation};
use quietcore_supervisor::client::{Address, Client};
use quietcore_supervisor::monitor::Monitor;
use quietcore_supervisor::places::{Places, RunningSite};

use crate::arguments::Arguments;

/// The environment variable through which a shell's script asks.
const VARIABLE: &str = "QUIETCORE_COMPLETE";
/// The name of this program in a shell.
const PROGRAM: &str = "quietcore";
/// The longest time that a shell is kept waiting.
const PATIENCE: Duration = Duration::from_secs(1);
/// The largest number of variables that are offered with their whole names.
const OFFERED_MAX: usize = 200;
/// The largest number of variables that are examined.
const LOOKED_AT_MAX: usize = 20_000;

/// Answers a shell and ends the program, if a shell has called it.
pub(crate) fn answer() {
    let shell = CompleteEnv::with_factory(Arguments::command);
    shell.var(VARIABLE).bin(PROGRAM).completer(PROGRAM).complete();
}

/// Returns the script that makes a shell ask; `None` for a shell that is not known.
pub(crate) fn script(shell: &str) -> Option<Vec<u8>> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let shell = shells.completer(shell)?;
    shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script).ok()?;
    Some(script)
}

/// Returns the sites that run.
pub(crate) fn sites(typed: &OsStr) -> Vec<CompletionCandidate> {
    offered(typed, |_| running().into_iter().map(|site| site.name).collect())
}

/// Returns the partitions of the sites that run, with the sites' names if there are several sites
/// or one is typed.
pub(crate) fn partitions(typed: &OsStr) -> Vec<CompletionCandidate> {
    offered(typed, |typed| addresses(&running(), typed.contains('/')))
}

/// Returns the partitions and the sites that run.
pub(crate) fn partitions_and_sites(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut both = partitions(typed);
    both.extend(sites(typed));
    both
}

/// Returns the variables of the partition that the line names.
pub(crate) fn variables(typed: &OsStr) -> Vec<CompletionCandidate> {
    offered(typed, |typed| names(typed, |monitor, typed| leaves(monitor.symbols(), typed, "")))
}

/// Returns the variables that can be written, each with a `=`.
pub(crate) fn writable(typed: &OsStr) -> Vec<CompletionCandidate> {
    offered(typed, |typed| names(typed, |monitor, typed| leaves(monitor.symbols(), typed, "=")))
}

/// Returns the variables that are forced.
pub(crate) fn forced(typed: &OsStr) -> Vec<CompletionCandidate> {
    offered(typed, |typed| {
        names(typed, |monitor, _| {
            let Ok(forces) = monitor.forces() else { return Vec::new() };
            let all = monitor.symbols().leaves(None, LOOKED_AT_MAX);
            all.filter(|(_, place)| forces.holds(place)).map(|(path, _)| path).collect()
        })
    })
}

/// Offers what `list` finds for the typed word, if it answers in time.
fn offered(
    typed: &OsStr,
    list: impl FnOnce(&str) -> Vec<String> + Send + 'static,
) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str().map(str::to_owned) else { return Vec::new() };
    let (sender, found) = channel();
    thread::spawn(move || {
        let mut names = list(&typed);
        names.retain(|name| name.starts_with(&typed));
        // Nobody waits any more where it took too long.
        let _ = sender.send(names);
    });
    let found = found.recv_timeout(PATIENCE).unwrap_or_default();
    found.into_iter().map(CompletionCandidate::new).collect()
}

fn running() -> Vec<RunningSite> {
    Places::of_environment().and_then(|places| places.running()).unwrap_or_default()
}

/// Returns the names of the partitions of running sites.
fn addresses(running: &[RunningSite], with_sites: bool) -> Vec<String> {
    let with_sites = with_sites || running.len() > 1;
    let of_site = |site: &RunningSite| {
        let partitions = site.description.as_ref().map(|it| it.partitions.clone());
        let name = site.name.clone();
        partitions.unwrap_or_default().into_iter().map(move |partition| match with_sites {
            true => format!("{name}/{partition}"),
            false => partition,
        })
    };
    running.iter().flat_map(of_site).collect()
}

/// Returns what `list` finds in the partition that the line names.
fn names(typed: &str, list: impl FnOnce(&Monitor, &str) -> Vec<String>) -> Vec<String> {
    let monitor = || {
        let words: Vec<String> = std::env::args().skip_while(|word| word != "--").collect();
        let running = running();
        let (address, site) = named(&words, &running)?;
        let places = Places::of_environment().ok()?;
        let mut client = Client::connect_to(&places, &address, site.as_deref()).ok()?;
        Monitor::open(&mut client, &address.partition).ok()
    };
    monitor().map(|monitor| list(&monitor, typed)).unwrap_or_default()
}

/// Returns the first word that names a partition of a running site, and the site that `--site`
/// names.
fn named(words: &[String], running: &[RunningSite]) -> Option<(Address, Option<String>)> {
    let beside = words.iter().skip_while(|word| *word != "--site").nth(1).cloned();
    let joined = words.iter().find_map(|word| word.strip_prefix("--site="));
    let site = beside.or_else(|| joined.map(str::to_owned));
    let has = |site: &RunningSite, partition: &String| {
        site.description.as_ref().is_some_and(|it| it.partitions.contains(partition))
    };
    let is_meant = |address: &Address| {
        let is_its = |site: &RunningSite| address.site.as_ref().is_none_or(|it| *it == site.name);
        running.iter().any(|site| is_its(site) && has(site, &address.partition))
    };
    // The first two are `--` and the program; the third is the command.
    let mut addresses = words.iter().skip(3).filter_map(|word| word.parse::<Address>().ok());
    addresses.find(is_meant).map(|address| (address, site))
}

/// Returns the variables whose names begin with `typed`, each followed by `end`. Variables that
/// can't be written are included only if `end` is empty. If there are many, their names are cut
/// where they differ.
fn leaves(symbols: &Symbols, typed: &str, end: &str) -> Vec<String> {
    let pattern = pattern(typed);
    let all = symbols.leaves(pattern.as_ref(), LOOKED_AT_MAX);
    let is_wanted = |place: &VariableLocation| end.is_empty() || place.writable;
    let wanted = all.filter(|(path, place)| path.starts_with(typed) && is_wanted(place));
    let paths: Vec<String> = wanted.map(|(path, _)| path).collect();
    if paths.len() <= OFFERED_MAX {
        return paths.iter().map(|path| format!("{path}{end}")).collect();
    }
    let mut begun = typed.len();
    loop {
        let parts: BTreeSet<&str> = paths.iter().map(|path| part(path, begun)).collect();
        let whole = |part: &&str| paths.iter().any(|path| path == part);
        match parts.first() {
            // A single part would be taken for a whole name.
            Some(only) if parts.len() == 1 && !whole(only) => begun = only.len(),
            _ => {
                let last = |part: &&str| if whole(part) { end } else { "" };
                return parts.iter().map(|part| format!("{part}{}", last(part))).collect();
            }
        }
    }
}

/// Returns a name up to the end of the part that continues at byte `begun`.
fn part(path: &str, begun: usize) -> &str {
    let ends = path[begun..].char_indices().skip(1).find(|(_, it)| matches!(it, '.' | '['));
    ends.map_or(path, |(at, _)| &path[..begun + at])
}

/// Returns a pattern for what begins with a text, and perhaps more; `None` for everything.
fn pattern(typed: &str) -> Option<Pattern> {
    let text = match typed.rfind(['.', '[']) {
        Some(at) if typed[at..].starts_with('[') => typed[..at].to_owned(),
        _ => format!("{typed}*"),
    };
    Pattern::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_supervisor::places::{SITE_SCHEMA, SiteDescription};

    fn running(sites: &[(&str, &[&str])]) -> Vec<RunningSite> {
        let describe = |site: &str, partitions: &[&str]| SiteDescription {
            schema: SITE_SCHEMA.to_owned(),
            site: site.to_owned(),
            pid: 1,
            site_file: "/line.toml".into(),
            started_at: String::new(),
            started_by: None,
            partitions: partitions.iter().map(|name| (*name).to_owned()).collect(),
            quietcore_version: String::new(),
        };
        let one = |(name, partitions): &(&str, &[&str])| RunningSite {
            name: (*name).to_owned(),
            socket: "/nowhere".into(),
            description: Some(describe(name, partitions)),
        };
        sites.iter().map(one).collect()
    }

    #[test]
    fn a_partition_is_called_by_its_site_where_several_run() {
        let one = running(&[("line", &["axis", "tank"])]);
        assert_eq!(addresses(&one, false), ["axis", "tank"]);
        assert_eq!(addresses(&one, true), ["line/axis", "line/tank"]);
        let two = running(&[("line", &["axis"]), ("press", &["axis"])]);
        assert_eq!(addresses(&two, false), ["line/axis", "press/axis"]);
        assert!(addresses(&[], false).is_empty());
    }

    #[test]
    fn the_partition_of_a_line_is_found_wherever_it_stands() {
        let sites = running(&[("line", &["axis"]), ("press", &["tank"])]);
        let found = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let found = named(&words, &sites);
            found.map(|(address, site)| (address.to_string(), site))
        };
        let axis = |site: Option<&str>| Some(("axis".to_owned(), site.map(str::to_owned)));
        assert_eq!(found("-- quietcore set axis servo"), axis(None));
        assert_eq!(found("-- quietcore watch --rate 5 --site line axis"), axis(Some("line")));
        assert_eq!(found("-- quietcore watch axis --site=line x"), axis(Some("line")));
        assert_eq!(found("-- quietcore set press/tank x"), Some(("press/tank".to_owned(), None)));
        assert_eq!(found("-- quietcore set line/tank x"), None);
        assert_eq!(found("-- quietcore set"), None);
    }

    #[test]
    fn a_name_goes_on_part_by_part() {
        assert_eq!(part("servo_P.gain[3].Kp", 0), "servo_P");
        assert_eq!(part("servo_P.gain[3].Kp", 7), "servo_P.gain");
        assert_eq!(part("servo_P.gain[3].Kp", 9), "servo_P.gain");
        assert_eq!(part("servo_P.gain[3].Kp", 12), "servo_P.gain[3]");
        assert_eq!(part("servo_P", 3), "servo_P");
    }

    #[test]
    fn every_shell_has_a_script_that_asks_this_program() {
        for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
            let script = String::from_utf8(script(shell).unwrap()).unwrap();
            assert!(script.contains(VARIABLE) && script.contains(PROGRAM), "{script}");
        }
        assert!(script("sh").is_none());
    }
}
