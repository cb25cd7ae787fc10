//! The origin of a comparison's figures: when, by which command, from which build.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fmt, fs};

use serde::Serialize;

/// When and how a comparison was run.
#[derive(Debug, Serialize)]
pub(crate) struct Origin {
    /// The start of the run, in UTC, to the second.
    date: String,
    /// The command line as somebody else would type it: no folders of this machine.
    command: String,
    /// `release` or `debug`: a program that was built without optimisation measures nothing.
    build: &'static str,
}

impl Origin {
    /// The origin of a run that starts now, in this process.
    pub(crate) fn now() -> Self {
        let now = jiff::Timestamp::now();
        let date = now.round(jiff::Unit::Second).unwrap_or(now).to_string();
        let build = if cfg!(debug_assertions) { "debug" } else { "release" };
        Self { date, command: command(env::args().skip(1)), build }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} build: {}", self.date, self.build, self.command)
    }
}

/// The command with these arguments: without what our own processes tell each other, without where
/// the figures are written, and without the folders of absolute paths.
fn command(arguments: impl Iterator<Item = String>) -> String {
    let mut words = vec![env!("CARGO_PKG_NAME").to_owned()];
    let mut is_path_of_out = false;
    for argument in arguments {
        if is_path_of_out || argument == "--inside" || argument.starts_with("--out=") {
            is_path_of_out = false;
        } else if argument == "--out" {
            is_path_of_out = true;
        } else {
            words.push(without_folders(&argument));
        }
    }
    words.join(" ")
}

fn without_folders(argument: &str) -> String {
    let (option, value) = match argument.split_once('=') {
        Some((option, value)) => (format!("{option}="), value),
        None => (String::new(), argument),
    };
    let name = value.starts_with('/').then(|| Path::new(value).file_name()).flatten();
    option + &name.map_or_else(|| value.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The facts about a machine that stand with figures in public: its kernel's version without a
/// builder's name, and of its kernel's command line nothing, which belongs to the machine's owner.
pub(crate) fn publishable(mut facts: BTreeMap<String, String>) -> BTreeMap<String, String> {
    facts.remove("command_line");
    if let Some(release) = facts.get_mut("kernel")
        && let Some((version, _)) = release.split_once('-')
    {
        *release = version.to_owned();
    }
    facts
}

/// The machine's load averages over 1, 5 and 15 minutes: whether others worked beside.
pub(crate) fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let averages: Vec<&str> = text.split_whitespace().take(3).collect();
    if averages.is_empty() { "unknown".to_owned() } else { averages.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_no_folder_of_this_machine() {
        let typed = "osek --rounds=40 --out=/a/osek.json --freertos /a/FreeRTOS-Kernel";
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let told = command(words(typed).into_iter());
        assert_eq!(told, "quietcore-bench osek --rounds=40 --freertos FreeRTOS-Kernel");
        let told = command(words("scan --out a.json --site=/b/c.toml --inside").into_iter());
        assert_eq!(told, "quietcore-bench scan --site=c.toml");
    }

    #[test]
    fn facts_that_belong_to_the_owner_are_left_out() {
        let facts = [("kernel", "6.18.5-own-42"), ("command_line", "quiet"), ("memory", "8 GiB")];
        let facts = facts.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let told = publishable(facts.into());
        let told: Vec<_> = told.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(told, [("kernel", "6.18.5"), ("memory", "8 GiB")]);
    }
}
