//! The live page in a browser: the time until a change is seen, and how often its curves are drawn.
//!
//! ```text
//! CPU of the partition     a program whose variables all change in each cycle of 1 ms
//! all CPUs                 quietcored ─ headless Chromium with 16 traces of each cycle
//! ```

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use quietcore_api::v1::CreateLinkRequest;
use quietcore_api::v1::page_service_client::PageServiceClient;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::{Applied, Change, ChangeKind, Verb};
use quietcore_units::Causes;
use serde::Deserialize;

use crate::daemon::process::Served;
use crate::findings::{Common, Findings, Goal};
use crate::peers::script::Script;
use crate::site::{Life, Stand};
use crate::watch::model;

/// Variables that the scope draws.
const TRACES: usize = 16;
/// The variable that is changed, one of them.
const CHANGED: &str = "wide_U.input";
/// The longest time until a change is seen, in ms.
const SHOWN_GOAL: Goal = Goal::AtMost(100.0);
/// Drawings a second: 60, but for one that the clock of the display leaves out.
const DRAWN_GOAL: Goal = Goal::AtLeast(59.0);

/// The live page in a browser: when a change is seen, and how often curves are drawn
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    common: Common,
    /// The CPU of the partition
    #[arg(long, default_value_t = 1)]
    cpu: u32,
    /// The folder of the page's sources, with what `npm ci` installs
    #[arg(long, value_name = "DIR", default_value = "web")]
    web: PathBuf,
}

/// The frames that the browser has counted in a stretch of time.
#[derive(Deserialize)]
struct Frames {
    /// Frames of the browser, a second.
    frames: f64,
    /// Drawings of the scope, a second.
    scope: f64,
    /// The longest time between two frames, in ms.
    longest: f64,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let common = &request.common;
    let rounds = common.rounds_or(6);
    let seconds = common.length(10, 1);
    let changes = common.length(20, 2);
    let method = format!(
        "{TRACES} variables at 1 ms, a span of 10 s; {seconds} s and then {changes} changes a round"
    );
    let mut findings = Findings::begin("page", method, common, rounds);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = model::write(folder.path(), request.cpu, TRACES)?;
    let stand = Stand::new(&file, folder)?;
    let life = stand.up()?;
    let served = Served::start_with(stand.places(), &["--page", "0"])?;
    let mut browser = opened(&request.web, &link_of(&served)?)?;
    let (mut drawn, mut frames, mut longest) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let seen = browser.ask(&format!("frames {seconds}"))?;
        let seen: Frames = serde_json::from_str(&seen).map_err(|error| error.to_string())?;
        drawn.push(seen.scope);
        frames.push(seen.frames);
        longest.push(seen.longest);
    }
    let (mut medians, mut worst) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut shown = Vec::new();
        for change in 0..changes {
            shown.push(shown_after(&mut browser, &life, round * changes + change)?);
        }
        shown.sort_unstable_by(f64::total_cmp);
        medians.extend(shown.get(shown.len() / 2));
        worst.extend(shown.last());
    }
    let bytes: f64 = browser.ask("bytes")?.parse().map_err(|_| "it said no number of bytes")?;
    findings.goal("drawings of 16 traces", "/s", &drawn, DRAWN_GOAL);
    findings.figure("frames of the browser", "/s", &frames);
    findings.figure("longest time between two frames", "ms", &longest);
    findings.goal("a change is seen, p50", "ms", &medians, SHOWN_GOAL);
    findings.goal("a change is seen, worst of a round", "ms", &worst, SHOWN_GOAL);
    findings.figure("the page's files", "kB", &[bytes / 1e3]);
    findings.remark(
        "Chromium without a screen and without a GPU; a change is written by a local client, and \
         seen once the frame with its value was drawn; the clock of both steps by 1 ms",
    );
    findings.print(common)
}

/// Makes a link that opens the page.
fn link_of(served: &Served) -> Result<String, String> {
    let mut pages = PageServiceClient::new(served.channel());
    let answer = served.wait(pages.create_link(CreateLinkRequest::default()));
    Ok(answer.map_err(|status| status.message().to_owned())?.into_inner().url)
}

/// Opens the page with all traces in view.
fn opened(web: &Path, link: &str) -> Result<Script, String> {
    if !web.join("node_modules/puppeteer-core").is_dir() {
        return Err(format!(
            "the browser's driver is missing; run `npm ci --prefix {}`",
            web.display()
        ));
    }
    let mut fragment = format!("variables?partition=wide&span=10&interval=1000&pick={CHANGED}");
    for index in 0..TRACES - 1 {
        let _ = write!(fragment, "&pick=wide_DW.cell[{index}]");
    }
    let mut command = Command::new("node");
    command.current_dir(web).args(["bench.mjs", link, &fragment, CHANGED]);
    Script::start("the browser", &mut command)
}

/// Changes the variable, and returns the time until the page has drawn it, in ms.
fn shown_after(browser: &mut Script, life: &Life, number: usize) -> Result<f64, String> {
    let value = (number + 1).to_string();
    match browser.ask(&format!("expect {value}"))?.as_str() {
        "armed" => {}
        other => return Err(format!("the browser said `{other}`")),
    }
    let (mut client, partition) = life.client()?;
    // At another part of each of the page's intervals.
    thread::sleep(Duration::from_micros(number as u64 * 777 % 50_000));
    let begun = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let begun = begun.map_err(|error| error.to_string())?.as_secs_f64() * 1e3;
    write(&mut client, partition, value)?;
    let shown: f64 = browser.line()?.parse().map_err(|_| "the browser said no time")?;
    Ok(shown - begun)
}

fn write(client: &mut Client, partition: &str, value: String) -> Result<(), String> {
    let variable = CHANGED.to_owned();
    let change = Change { kind: ChangeKind::Set, variable, value: Some(value), allow_nan: false };
    let applied = client.ask::<Applied>(partition, Verb::write(vec![change]));
    applied.map(|_| ()).map_err(|error| Causes(&error).to_string())
}
