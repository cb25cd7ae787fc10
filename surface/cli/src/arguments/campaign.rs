//! Arguments of `quietcore campaign`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use quietcore_record::published::reproduction;
use quietcore_site::Accelerator;
use quietcore_units::Nanos;

use super::choice::one_of;
use super::experiment::ACCELERATORS;

#[derive(Debug, Args)]
#[command(override_usage = "quietcore campaign [OPTIONS] <PAPER>\n       \
    quietcore campaign --resume <DIR> [--json]")]
#[command(after_help = "Examples:\n  \
    quietcore campaign queiroz2023 --plan            what would be run, and for how long\n  \
    quietcore campaign queiroz2023                   all of it within about half an hour\n  \
    quietcore campaign scordino2020 --within 10min --out sc\n  \
    quietcore campaign queiroz2023 --accelerator tcg  without KVM\n  \
    quietcore campaign --resume sc                   the rest after Ctrl-C\n\n\
    The commands are those of docs/papers.md (`quietcore compare --tables`), each once. What this \
    machine can't do is named with its reason, and the others go on. Systems that a paper \
    compares are partitions of one site file, measured alone; images of Linux guests are made \
    beside that file, if they are not there (`quietcore guest build`). The folder gets an evidence \
    folder for each measurement, what each command printed, campaign.json and index.html, which \
    goes through the paper's tables and figures.\n\nStatus 0 says that every command did its work, \
    whatever the verdicts; 1 that one could not.")]
pub(crate) struct PaperCampaign {
    /// The paper whose experiment is run
    #[arg(required_unless_present = "resume", conflicts_with = "resume",
        value_parser = PossibleValuesParser::new(reproduction::keys()))]
    pub(crate) paper: Option<String>,
    /// Time for all of it; measurements are as long as fits, and never longer than the paper's
    #[arg(long, value_name = "D", default_value = "30 min", conflicts_with = "resume")]
    pub(crate) within: Nanos,
    /// Measure as long as the paper did, which takes days
    #[arg(long, conflicts_with_all = ["within", "resume"])]
    pub(crate) whole: bool,
    /// Run the instructions of QEMU's guests in this way; `tcg` emulates them, to see the campaign
    /// work on a machine without KVM: no time of theirs is one of a real machine
    #[arg(long, value_name = "WORD", value_parser = one_of(ACCELERATORS),
        conflicts_with = "resume")]
    pub(crate) accelerator: Option<Accelerator>,
    /// The folder to make; by default runs/TIME-PAPER
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) out: Option<PathBuf>,
    /// Quietcore's folder of examples, with the site files of the papers
    #[arg(long, value_name = "DIR", default_value = "examples", conflicts_with = "resume")]
    pub(crate) examples: PathBuf,
    /// Say what would be run and for how long, without doing it
    #[arg(long, conflicts_with_all = ["out", "resume"])]
    pub(crate) plan: bool,
    /// Go on with a campaign that was interrupted; what could not be done is tried again
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
    /// Print what became of each command as JSON, as it is in campaign.json
    #[arg(long)]
    pub(crate) json: bool,
}
