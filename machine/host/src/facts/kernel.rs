//! The kernel: its version, preemption model, command line and configuration.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};

use crate::reading::Reading;
use crate::source::{Source, TEXT_LIMIT};

/// Symbols of the kernel's configuration that are kept.
const SYMBOLS: [&str; 24] = [
    "CONFIG_PREEMPT_RT",
    "CONFIG_PREEMPT_DYNAMIC",
    "CONFIG_PREEMPT_NONE",
    "CONFIG_PREEMPT_VOLUNTARY",
    "CONFIG_PREEMPT",
    "CONFIG_PREEMPT_LAZY",
    "CONFIG_HZ",
    "CONFIG_HIGH_RES_TIMERS",
    "CONFIG_NO_HZ_IDLE",
    "CONFIG_NO_HZ_FULL",
    "CONFIG_RCU_NOCB_CPU",
    "CONFIG_CPU_ISOLATION",
    "CONFIG_CPUSETS",
    "CONFIG_RT_GROUP_SCHED",
    "CONFIG_X86_CPU_RESCTRL",
    "CONFIG_X86_MSR",
    "CONFIG_IRQ_FORCED_THREADING",
    "CONFIG_OSNOISE_TRACER",
    "CONFIG_TIMERLAT_TRACER",
    "CONFIG_HWLAT_TRACER",
    "CONFIG_FUNCTION_TRACER",
    "CONFIG_TRANSPARENT_HUGEPAGE",
    "CONFIG_DEBUG_PREEMPT",
    "CONFIG_PROVE_LOCKING",
];

/// The kernel, how it was built and started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its release, as `uname -r` says.
    pub release: Reading<String>,
    /// Its version line, `/proc/version`.
    pub version: Reading<String>,
    /// The points at which it can be interrupted.
    pub preemption: Preemption,
    /// The parameters that it was started with.
    pub command_line: CommandLine,
    /// Those symbols of its configuration that matter here and are set, with their values.
    pub configuration: Reading<BTreeMap<String, String>>,
    /// The kernel's protection from root, `/sys/kernel/security/lockdown`.
    pub lockdown: Reading<String>,
    /// Why this kernel is tainted, as a bit mask; 0 is clean.
    pub tainted: Reading<u64>,
}

impl Kernel {
    /// Returns `true` if a symbol is built in or a module; `None` if the configuration can't be
    /// read.
    pub fn configured(&self, symbol: &str) -> Option<bool> {
        let symbols = self.configuration.get()?;
        Some(matches!(symbols.get(symbol).map(String::as_str), Some("y" | "m")))
    }
}

/// The points at which the kernel can be interrupted by a task of higher priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreemptionModel {
    /// `PREEMPT_RT`: nearly everywhere, interrupt handlers included.
    Realtime,
    /// `PREEMPT`: everywhere but in spinlocks and interrupt handlers.
    Full,
    /// `PREEMPT_LAZY`: as full for real-time tasks, at the tick for ordinary ones.
    Lazy,
    /// `PREEMPT_VOLUNTARY`: at marked places.
    Voluntary,
    /// `PREEMPT_NONE`: on return to user space.
    None,
    /// The kernel does not say.
    Unknown,
}

impl PreemptionModel {
    /// The kernel's own word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Realtime => "PREEMPT_RT",
            Self::Full => "full",
            Self::Lazy => "lazy",
            Self::Voluntary => "voluntary",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }

    fn from_name(name: &str) -> Self {
        match name {
            "none" => Self::None,
            "voluntary" => Self::Voluntary,
            "full" => Self::Full,
            "lazy" => Self::Lazy,
            _ => Self::Unknown,
        }
    }
}

/// The facts about preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preemption {
    /// The model in force.
    pub model: PreemptionModel,
    /// The source of this, in words.
    pub because: String,
    /// `true` if the model can be chosen at boot and, through debugfs, while running.
    pub dynamic: bool,
}

/// The kernel's command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandLine {
    /// As the kernel got it.
    pub text: Reading<String>,
}

impl CommandLine {
    /// The parameters in order, each with its value; those behind `--` are the init program's.
    pub fn parameters(&self) -> Vec<(String, Option<String>)> {
        let text = self.text.text().unwrap_or("");
        split_quoted(text)
            .into_iter()
            .take_while(|word| word != "--")
            .map(|word| match word.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (word, None),
            })
            .collect()
    }

    /// The value of a parameter: the last one given, empty for a parameter without a value.
    /// The kernel takes `-` and `_` in a name for the same.
    pub fn value(&self, name: &str) -> Option<String> {
        let name = name.replace('-', "_");
        self.parameters()
            .into_iter()
            .rev()
            .find(|(given, _)| given.replace('-', "_") == name)
            .map(|(_, value)| value.unwrap_or_default())
    }
}

/// Splits at white space outside double quotes, which are dropped.
fn split_quoted(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for character in text.chars() {
        match character {
            '"' => quoted = !quoted,
            space if space.is_whitespace() && !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            other => word.push(other),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

pub(super) fn read(source: &Source) -> Kernel {
    let version = source.text("/proc/version");
    let release = source.text("/proc/sys/kernel/osrelease");
    let command_line = CommandLine { text: source.text("/proc/cmdline") };
    let configuration = configuration(source, release.text().unwrap_or(""));
    Kernel {
        preemption: preemption(source, version.text(), &command_line, &configuration),
        release,
        version,
        command_line,
        configuration,
        lockdown: source.choice("/sys/kernel/security/lockdown"),
        tainted: source.value("/proc/sys/kernel/tainted"),
    }
}

/// The configuration that the kernel carries, or the one that its package put beside it.
fn configuration(source: &Source, release: &str) -> Reading<BTreeMap<String, String>> {
    let carried = source.bytes("/proc/config.gz").and_then(|packed| {
        let mut text = String::new();
        match GzDecoder::new(packed.as_slice()).take(TEXT_LIMIT).read_to_string(&mut text) {
            Ok(_) => Reading::Read(text),
            Err(error) => {
                Reading::Unreadable(format!("/proc/config.gz: {}", crate::error_text(&error)))
            }
        }
    });
    carried
        .or_if_absent(|| source.text(&format!("/boot/config-{release}")))
        .or_if_absent(|| source.text(&format!("/lib/modules/{release}/config")))
        .map(|text| selected(&text))
}

fn selected(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(|line| line.split_once('='))
        .filter(|(symbol, _)| SYMBOLS.contains(symbol))
        .map(|(symbol, value)| (symbol.to_owned(), value.trim_matches('"').to_owned()))
        .collect()
}

fn preemption(
    source: &Source,
    version: Option<&str>,
    command_line: &CommandLine,
    configuration: &Reading<BTreeMap<String, String>>,
) -> Preemption {
    let says = |word: &str| {
        version.is_some_and(|version| version.split_whitespace().any(|other| other == word))
    };
    let is = |symbol: &str| {
        configuration
            .get()
            .is_some_and(|symbols| symbols.get(symbol).is_some_and(|value| value == "y"))
    };
    let found =
        |model, because: &str, dynamic| Preemption { model, because: because.to_owned(), dynamic };
    if source.switch("/sys/kernel/realtime") == Reading::Read(true) {
        return found(PreemptionModel::Realtime, "/sys/kernel/realtime", false);
    }
    if says("PREEMPT_RT") {
        return found(PreemptionModel::Realtime, "the version line", false);
    }
    if says("PREEMPT_DYNAMIC") || is("CONFIG_PREEMPT_DYNAMIC") {
        if let Some(live) = source.choice("/sys/kernel/debug/sched/preempt").text() {
            let model = PreemptionModel::from_name(live);
            return found(model, "/sys/kernel/debug/sched/preempt", true);
        }
        if let Some(chosen) = command_line.value("preempt") {
            let model = PreemptionModel::from_name(&chosen);
            return found(model, "`preempt=` on the command line", true);
        }
        return match configured_model(&is) {
            PreemptionModel::Unknown => found(
                PreemptionModel::Unknown,
                "chosen at boot; debugfs and the configuration can't be read",
                true,
            ),
            model => found(model, "the configuration's default for PREEMPT_DYNAMIC", true),
        };
    }
    if says("PREEMPT") {
        return found(PreemptionModel::Full, "the version line", false);
    }
    match configured_model(&is) {
        PreemptionModel::Unknown if version.is_some() => found(
            PreemptionModel::Unknown,
            "the version line names no preemption, so it is none or voluntary",
            false,
        ),
        model => found(model, "the configuration", false),
    }
}

fn configured_model(is: &impl Fn(&str) -> bool) -> PreemptionModel {
    [
        ("CONFIG_PREEMPT_NONE", PreemptionModel::None),
        ("CONFIG_PREEMPT_VOLUNTARY", PreemptionModel::Voluntary),
        ("CONFIG_PREEMPT_LAZY", PreemptionModel::Lazy),
        ("CONFIG_PREEMPT", PreemptionModel::Full),
    ]
    .into_iter()
    .find(|(symbol, _)| is(symbol))
    .map_or(PreemptionModel::Unknown, |(_, model)| model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn command_line(text: &str) -> CommandLine {
        CommandLine { text: Reading::Read(text.to_owned()) }
    }

    #[test]
    fn the_last_parameter_counts_and_dashes_are_underscores() {
        let line = command_line(
            r#"quiet isolcpus=1 isolcpus=2-3 intel-idle.max_cstate=0 dyndbg="a b" -- isolcpus=9"#,
        );
        assert_eq!(line.value("isolcpus").as_deref(), Some("2-3"));
        assert_eq!(line.value("intel_idle.max_cstate").as_deref(), Some("0"));
        assert_eq!(line.value("quiet").as_deref(), Some(""));
        assert_eq!(line.value("dyndbg").as_deref(), Some("a b"));
        assert_eq!(line.value("nohz_full"), None);
    }

    #[test]
    fn unset_and_irrelevant_symbols_are_left_out() {
        let symbols = selected(
            "CONFIG_HZ=250\n# CONFIG_NO_HZ_FULL is not set\nCONFIG_RT_GROUP_SCHED=y\nCONFIG_X=y\n",
        );
        assert_eq!(symbols.len(), 2);
        assert_eq!(symbols["CONFIG_HZ"], "250");
    }

    proptest! {
        #[test]
        fn any_command_line_can_be_read(text in ".{0,200}") {
            let line = command_line(&text);
            for (name, _) in line.parameters() {
                prop_assert!(line.value(&name).is_some());
            }
        }
    }
}
