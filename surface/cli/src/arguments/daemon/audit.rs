//! Arguments of `quietcore audit`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use quietcore_supervisor::client::Address;
use quietcore_units::Nanos;

use crate::completion;

#[derive(Debug, Args)]
#[command(
    after_help = "Each call of the daemon that changes something is two entries: the intention, \
    before the site is asked, and its outcome, before the call is answered. The list has both in \
    one row, with old and new values; `unknown` is the outcome of a call that is under way, or \
    during which the daemon was killed. What `quietcore set` and its like ask of a site directly \
    is in `quietcore events`.\n\nEach entry has the SHA-256 of the one before, so that `--verify` \
    finds one that was changed, removed or put in. Whoever may write the file can write a whole \
    chain anew: keep an export, or the last hash, elsewhere.\n\nThe file is read as it is, \
    whether the daemon runs or not.\n\nExamples:\n  \
    quietcore audit                              all that is kept\n  \
    quietcore audit --since 7d --partition axis  of the last seven days\n  \
    quietcore audit --verify                     status 1: it was altered\n  \
    quietcore audit --json > audit.jsonl         an export, which Python can check\n  \
    quietcore audit --json | jq 'select(.kind == \"refused\").refusal.sentence'"
)]
pub(crate) struct AuditRequest {
    /// Print entries from this instant on: `2026-11-27`, `2026-11-27T20:15`, both UTC, or how long
    /// ago, such as `7d` or `2 h`
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<Since>,
    /// Print entries of this site only
    #[arg(long, value_name = "SITE", add = ArgValueCompleter::new(completion::sites))]
    pub(crate) site: Option<String>,
    /// Print entries of this partition only, `PARTITION` or `SITE/PARTITION`
    #[arg(long, value_name = "PARTITION", add = ArgValueCompleter::new(completion::partitions))]
    pub(crate) partition: Option<Address>,
    /// Print entries of this user only, or of this name in a certificate
    #[arg(long, value_name = "NAME")]
    pub(crate) who: Option<String>,
    /// Print one JSON object per entry and line, with its hash: an export
    #[arg(long)]
    pub(crate) json: bool,
    /// Check the whole chain, and print its extent and its first fault
    #[arg(long, conflicts_with_all = ["since", "site", "partition", "who", "json"])]
    pub(crate) verify: bool,
    /// Read this file, such as one that was set aside, in place of the daemon's
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// The instant from which entries are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// An instant in UTC.
    At(Timestamp),
    /// A time before now.
    Ago(Nanos),
}

/// The error of a text that is no instant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is neither an instant nor a time ago; write `2026-11-27`, `2026-11-27T20:15` or `7d`")]
pub(crate) struct SinceError;

impl FromStr for Since {
    type Err = SinceError;

    fn from_str(text: &str) -> Result<Self, SinceError> {
        if let Ok(at) = text.parse() {
            return Ok(Self::At(at));
        }
        if let Ok(at) = text.parse::<DateTime>() {
            return at
                .to_zoned(TimeZone::UTC)
                .map(|at| Self::At(at.timestamp()))
                .map_err(|_| SinceError);
        }
        text.parse().map(Self::Ago).map_err(|_| SinceError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_a_date_a_time_or_a_while_ago() {
        let at = |text: &str| Since::At(text.parse().unwrap());
        for (text, since) in [
            ("2026-11-27", at("2026-11-27T00:00:00Z")),
            ("2026-11-27T20:15", at("2026-11-27T20:15:00Z")),
            ("2026-11-27T20:15:03+01:00", at("2026-11-27T19:15:03Z")),
            ("2 h", Since::Ago(Nanos::new(7_200_000_000_000))),
        ] {
            assert_eq!(text.parse(), Ok(since), "{text}");
        }
        for text in ["", "yesterday", "2026-13-01", "7"] {
            assert_eq!(text.parse::<Since>(), Err(SinceError), "{text}");
        }
    }
}
