//! The run that was asked for: checked before anything is started, and the arguments of its
//! program.
//!
//! A site file that came by the network must not lead out of what came. So it may use the probe and
//! nothing else of the machine but CPUs and memory, and only a caller who is granted everything may
//! send one: its CPUs may be those of any site.

use std::path::{Path, PathBuf};

use quietcore_api::v1;
use quietcore_api::v1::start_run_request::Source;
use quietcore_programs::sites::SitesError;
use quietcore_record::class::catalogue;
use quietcore_site::{GuestSystem, Interface, Length, SITE_BYTES_MAX, Site};
use quietcore_supervisor::places::Places;
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::applying::Applying;
use crate::caller::Caller;
use crate::failure::CallError;
use crate::sites::connect;

/// The most words in one list of a request.
pub const RUN_WORDS_MAX: usize = 64;
/// The longest word in a list of a request, in bytes.
pub const RUN_WORD_BYTES_MAX: usize = 128;
/// The most rounds of an experiment.
const ROUNDS_MAX: u32 = 1000;

/// The kind of a run, as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RunKind {
    Qualify,
    Tune,
    Disturb,
}

impl RunKind {
    /// Returns the word of the command line.
    pub(crate) const fn verb(self) -> &'static str {
        match self {
            Self::Qualify => "qualify",
            Self::Tune => "tune",
            Self::Disturb => "disturb",
        }
    }

    fn of(kind: v1::RunKind) -> Result<Self, CallError> {
        match kind {
            v1::RunKind::Qualify => Ok(Self::Qualify),
            v1::RunKind::Tune => Ok(Self::Tune),
            v1::RunKind::Disturb => Ok(Self::Disturb),
            v1::RunKind::Unspecified => {
                Err(argument("kind: none is given; give qualify, tune or disturb".to_owned()))
            }
        }
    }
}

impl From<RunKind> for v1::RunKind {
    fn from(kind: RunKind) -> Self {
        match kind {
            RunKind::Qualify => Self::Qualify,
            RunKind::Tune => Self::Tune,
            RunKind::Disturb => Self::Disturb,
        }
    }
}

/// The place of a run's site file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SiteText {
    /// The file of a site that runs, or was applied, beside which its models lie.
    Standing(PathBuf),
    /// A text that was received, which is kept with the run.
    Received(String),
}

/// A run whose site file and parameters are sound.
#[derive(Clone, Debug)]
pub(crate) struct CheckedRun {
    pub(crate) kind: RunKind,
    pub(crate) site: String,
    /// The version of a site that is down.
    pub(crate) version: Option<u64>,
    pub(crate) text: SiteText,
    /// Arguments behind the site file.
    pub(crate) options: Vec<String>,
}

impl CheckedRun {
    /// Checks a request on behalf of a caller.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` with all problems of the site file; `PERMISSION_DENIED` for a site that
    /// is not granted whole; those of the connection to a site that is named.
    pub(crate) fn of(
        request: &v1::StartRunRequest,
        places: &Places,
        applying: &Applying,
        caller: &Caller,
    ) -> Result<Self, CallError> {
        let kind = RunKind::of(request.kind())?;
        let options = options(kind, request)?;
        let mut version = None;
        let (text, bytes) = match &request.source {
            Some(Source::Toml(toml)) => {
                check_may_send(caller)?;
                (SiteText::Received(toml.clone()), toml.clone().into_bytes())
            }
            Some(Source::Site(site)) => match last_version(applying, site, caller)? {
                Some((file, number)) => {
                    version = Some(number);
                    standing(file)?
                }
                None => standing(running(places, site, caller)?)?,
            },
            None => standing(running(places, "", caller)?)?,
        };
        let mut site = read(&text, &bytes)?;
        for partition in site.partitions() {
            caller.check_partition(site.name(), &partition.name)?;
        }
        if matches!(text, SiteText::Received(_)) {
            check_received(&site)?;
        }
        let refused = |error: quietcore_site::OverrideError| argument(error.to_string());
        if !request.profiles.is_empty() {
            site.select_profiles(&request.profiles).map_err(refused)?;
        }
        if kind == RunKind::Qualify && request.duration_ms > 0 {
            let duration = Length::Duration(Nanos::from_millis(request.duration_ms));
            site.set_length(duration).map_err(refused)?;
        }
        Ok(Self { kind, site: site.name().to_owned(), version, text, options })
    }
}

fn argument(told: String) -> CallError {
    CallError::Argument(told)
}

fn check_may_send(caller: &Caller) -> Result<(), CallError> {
    if caller.grants().is_everything() {
        return Ok(());
    }
    Err(CallError::Denied(tonic::Status::permission_denied(format!(
        "a site file that is sent may name any CPU, and `{}` has {}; name a site that runs",
        caller.name(),
        caller.grants()
    ))))
}

/// Returns the file and the number of the version that was up last, of a site that is down.
///
/// # Errors
/// `PERMISSION_DENIED` for a site of which nothing is granted; `ABORTED` while it is brought up or
/// down.
fn last_version(
    applying: &Applying,
    site: &str,
    caller: &Caller,
) -> Result<Option<(PathBuf, u64)>, CallError> {
    if site.is_empty() || applying.find(site)?.is_some() {
        return Ok(None);
    }
    caller.check_site(site)?;
    let store = applying.store()?;
    let version = match store.before(site, None) {
        Ok(version) => version,
        // Connecting then says that it does not run, and what does.
        Err(SitesError::NothingBefore { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let _is_free = store.lock(site)?;
    Ok(Some((store.site_file(&version), version.number)))
}

/// Returns the file of a site that runs.
fn running(places: &Places, site: &str, caller: &Caller) -> Result<PathBuf, CallError> {
    let client = connect(places, site, caller)?;
    let running = places.running()?.into_iter().find(|it| it.name == client.site());
    let description = running.and_then(|it| it.description).ok_or_else(|| {
        CallError::NotNow(format!("site `{}` does not tell its file", client.site()))
    })?;
    Ok(description.site_file)
}

fn standing(file: PathBuf) -> Result<(SiteText, Vec<u8>), CallError> {
    let bytes = std::fs::read(&file).map_err(|error| {
        CallError::NotNow(format!("`{}` can't be read: {error}", file.display()))
    })?;
    Ok((SiteText::Standing(file), bytes))
}

fn read(text: &SiteText, bytes: &[u8]) -> Result<Site, CallError> {
    if bytes.len() > SITE_BYTES_MAX {
        return Err(argument(format!("toml: give at most {SITE_BYTES_MAX} bytes")));
    }
    let name = match text {
        SiteText::Standing(file) => file.display().to_string(),
        SiteText::Received(_) => "site.toml".to_owned(),
    };
    let read = quietcore_site::read(&name, bytes, &catalogue());
    read.map_err(|problems| argument(problems.to_string()))
}

/// Refuses a received site file that leads out of itself; all its ways are told.
fn check_received(site: &Site) -> Result<(), CallError> {
    let mut problems = Vec::new();
    for partition in site.partitions() {
        let name = &partition.name;
        if let Some(model) = &partition.program.model {
            problems.push(format!("partition `{name}` runs the program `{model}`"));
        }
        if !matches!(partition.system, GuestSystem::Osek) {
            problems.push(format!("partition `{name}` starts from an image"));
        }
    }
    if let Some(image) = site.neighbour_image() {
        problems.push(format!("neighbours start from the image `{image}`"));
    }
    for fieldbus in site.fieldbuses() {
        if !matches!(fieldbus.interface, Interface::Simulated) {
            problems.push("a fieldbus has an interface of the machine".to_owned());
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(argument(format!(
        "{}; a site file that is sent may use the probe alone: leave that out, or name a site that \
         runs, whose own file is taken",
        problems.join("; ")
    )))
}

/// Returns the options of the command line; a parameter that a kind does not have is refused.
fn options(kind: RunKind, request: &v1::StartRunRequest) -> Result<Vec<String>, CallError> {
    let mut problems = Vec::new();
    let is_experiment = kind != RunKind::Qualify;
    let mut refuse = |is_given: bool, name: &str, has_it: bool| {
        if is_given && !has_it {
            problems.push(format!("{name}: `{}` has no such parameter; leave it out", kind.verb()));
        }
    };
    let is_tune = kind == RunKind::Tune;
    let is_disturb = kind == RunKind::Disturb;
    refuse(!request.profiles.is_empty(), "profiles", !is_disturb);
    refuse(request.rounds > 0, "rounds", is_experiment);
    refuse(request.seed > 0, "seed", is_experiment);
    refuse(request.confirm_ms > 0, "confirm_ms", is_tune);
    refuse(!request.controls.is_empty(), "controls", is_tune);
    refuse(!request.partitions.is_empty(), "partitions", is_disturb);
    refuse(!request.aggressors.is_empty(), "aggressors", is_disturb);
    if is_tune && request.profiles.len() > 1 {
        problems.push("profiles: `tune` measures under one; name one".to_owned());
    }
    if request.rounds > ROUNDS_MAX {
        problems.push(format!("rounds: {}; give 1 to {ROUNDS_MAX}", request.rounds));
    }
    let mut options = Vec::new();
    let lists = [
        ("profiles", "profile", &request.profiles),
        ("controls", "control", &request.controls),
        ("partitions", "partition", &request.partitions),
        ("aggressors", "aggressor", &request.aggressors),
    ];
    for (name, option, words) in lists {
        problems.extend(wrong_words(name, words));
        if !words.is_empty() {
            options.push(format!("--{option}={}", words.join(",")));
        }
    }
    let length = if is_experiment { "block" } else { "duration" };
    for (option, milliseconds) in [(length, request.duration_ms), ("confirm", request.confirm_ms)] {
        if milliseconds > 0 {
            options.push(format!("--{option}={milliseconds} ms"));
        }
    }
    for (option, number) in [("rounds", u64::from(request.rounds)), ("seed", request.seed)] {
        if number > 0 {
            options.push(format!("--{option}={number}"));
        }
    }
    if problems.is_empty() { Ok(options) } else { Err(argument(problems.join("\n"))) }
}

/// Returns the problem of a list of names.
fn wrong_words(name: &str, words: &[String]) -> Option<String> {
    if words.len() > RUN_WORDS_MAX {
        return Some(format!("{name}: {} words; give at most {RUN_WORDS_MAX}", words.len()));
    }
    let is_sound = |word: &String| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !word.is_empty() && word.len() <= RUN_WORD_BYTES_MAX && word.bytes().all(known)
    };
    let wrong = words.iter().find(|word| !is_sound(word))?;
    let shown: String = wrong.chars().take(RUN_WORD_BYTES_MAX).collect();
    Some(format!(
        "{name}: `{}` is no name; use up to {RUN_WORD_BYTES_MAX} letters, digits, `-`, `_` and `.`",
        shown.escape_debug()
    ))
}

/// Returns the name of the site file within a run's folder.
pub(crate) fn kept_site(folder: &Path) -> PathBuf {
    folder.join("site.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: &str = "[site]\nname = \"line\"\n[[partition]]\nname = \"axis\"\n\
                        class = \"motion-control\"\n[partition.vcr]\ncpus = [1]\n";

    fn site(more: &str) -> Site {
        read(&SiteText::Received(String::new()), format!("{SITE}{more}").as_bytes())
            .expect("a site")
    }

    #[test]
    fn a_site_file_that_was_sent_may_use_the_probe_alone() {
        check_received(&site("")).unwrap();
        let model = site("[partition.program]\nmodel = \"/etc\"\nperiod = \"1 ms\"\n");
        let told = check_received(&model).unwrap_err().to_string();
        assert!(told.starts_with("partition `axis` runs the program `/etc`; a site "), "{told}");
        let image = site("[campaign]\nneighbour_image = \"../secret\"\n");
        let told = check_received(&image).unwrap_err().to_string();
        assert!(told.starts_with("neighbours start from the image `../secret`"), "{told}");
    }

    #[test]
    fn parameters_become_options_of_the_command_line() {
        let request = v1::StartRunRequest {
            profiles: vec!["tp4".to_owned()],
            duration_ms: 1500,
            rounds: 3,
            seed: 7,
            confirm_ms: 200,
            controls: vec!["governor".to_owned(), "interrupts".to_owned()],
            ..v1::StartRunRequest::default()
        };
        let expected = [
            "--profile=tp4",
            "--control=governor,interrupts",
            "--block=1500 ms",
            "--confirm=200 ms",
            "--rounds=3",
            "--seed=7",
        ];
        assert_eq!(options(RunKind::Tune, &request).unwrap(), expected);
        let told = options(RunKind::Qualify, &request).unwrap_err().to_string();
        let wrong: Vec<&str> = told.lines().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(wrong, ["rounds", "seed", "confirm_ms", "controls"]);
    }

    #[test]
    fn words_that_are_none_and_too_many_are_refused() {
        for word in ["", "a,b", "--out", "x\ny", &"x".repeat(RUN_WORD_BYTES_MAX + 1)] {
            let wrong = wrong_words("profiles", &[word.to_owned()]);
            assert_eq!(wrong.is_some(), word != "--out", "{word:?}: it stands behind `=`");
        }
        let many = vec!["tp2".to_owned(); RUN_WORDS_MAX + 1];
        assert!(wrong_words("profiles", &many).unwrap().contains("at most 64"));
        let request = v1::StartRunRequest { rounds: ROUNDS_MAX + 1, ..<_>::default() };
        let told = options(RunKind::Tune, &request).unwrap_err().to_string();
        assert_eq!(told, "rounds: 1001; give 1 to 1000");
    }
}
