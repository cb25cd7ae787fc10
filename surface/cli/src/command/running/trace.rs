//! `quietcore trace`

mod known;

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use quietcore_evidence::{FILE_BYTES_MAX, FolderLock, Writer, changed_since_sealed, write_whole};
use quietcore_record::trace::Recording;
use quietcore_record::verdict::thousands;
use quietcore_report::recording::{Named, page, svg};
use quietcore_supervisor::client::Client;
use quietcore_supervisor::recording::{
    FileFormat, Length, Output, Progress, RecordingRequest, Summary, TableFile, record,
};
use quietcore_supervisor::trigger::Stage;
use quietcore_units::Nanos;
use quietcore_wording::plural;
use serde::Serialize;

use self::known::Known;
use super::site;
use crate::arguments::TraceRequest;
use crate::command;
use crate::finish;
use crate::machine;
use crate::status::{Failure, Status};

/// The document that `trace --json` prints.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    partition: &'a str,
    /// Number of samples kept.
    samples: u64,
    wanted: u64,
    lost: u64,
    /// Number of samples from before the trigger.
    pre: u64,
    /// Cycle of the trigger, or of the first sample.
    began_at: Option<u64>,
    sample_period_ns: u64,
    ended_early: Option<&'a str>,
}

pub(in crate::command) fn run(request: &TraceRequest) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let (mut client, partition) = site::of_partition(&request.of)?;
    let name = format!("{}/{partition}", client.site());
    let wanted = wanted(request, &mut client, &partition)?;
    let mut files = Files::prepare(request, &name)?;
    let known = request.plot.is_some().then(|| Known::begin(&mut client, &partition));
    let bar = Bar::new(request);
    bar.begin(&name);
    let mut patience = Patience::new(request);
    let mut summary = {
        let mut outputs = files.outputs();
        let mut progress = |it: Progress| {
            bar.tell(it);
            if patience.is_over(it.stage) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        record(&mut client, &partition, &wanted, &mut outputs, &mut progress, &stop)?
    };
    bar.clear();
    if let Some(limit) = patience.over {
        summary.ended_early = Some(format!("it was waited for {limit}"));
    }
    if let Some(known) = known {
        known.add_to(&mut files.drawn, &mut client);
    }
    drop(client);
    if summary.kept > 0 {
        files.finish(request, name.clone())?;
    }
    tell(request, &name, &summary)?;
    Ok(if summary.ended_early.is_none() { Status::Done } else { Status::NotPassed })
}

fn wanted(
    request: &TraceRequest,
    client: &mut Client,
    partition: &str,
) -> Result<RecordingRequest, Failure> {
    let (opened, _) = client.open(partition)?;
    let task = match &request.task {
        None => opened.fastest_task(),
        Some(text) => opened.task_called(text).ok_or_else(|| {
            let known: Vec<&str> = opened.tasks.iter().map(|task| task.name.as_str()).collect();
            let known = known.join("`, `");
            Failure::new(format_args!("quietcore: no task `{text}`; there are `{known}`"))
        })?,
    };
    Ok(RecordingRequest {
        variables: request.variables.clone(),
        every: request.every,
        task,
        trigger: request.trigger.clone(),
        pre_percent: request.pre,
        length: request.samples.map_or(Length::Duration(request.duration), Length::Samples),
    })
}

/// The files that the recording goes into.
struct Files {
    out: Option<TableFile>,
    evidence: Option<(Writer, std::path::PathBuf, TableFile)>,
    drawn: Recording,
}

impl Files {
    /// Checks that all of them can be written, before anything is recorded.
    fn prepare(request: &TraceRequest, name: &str) -> Result<Self, Failure> {
        let out = request.out.as_deref().map(table_file).transpose()?;
        if let Some(plot) = &request.plot
            && !["svg", "html"].iter().any(|it| plot.extension().is_some_and(|end| end == *it))
        {
            let plot = plot.display();
            return Err(Failure::new(format_args!("quietcore: `{plot}`: use .svg or .html")));
        }
        if let Some(plot) = &request.plot {
            refuse_without_folder(plot)?;
        }
        let evidence = request.evidence.as_deref().map(|folder| in_evidence(folder, name));
        Ok(Self { out, evidence: evidence.transpose()?, drawn: Recording::new(Vec::new()) })
    }

    fn outputs(&mut self) -> Vec<&mut dyn Output> {
        let mut outputs: Vec<&mut dyn Output> = vec![&mut self.drawn];
        outputs.extend(self.out.as_mut().map(|out| out as &mut dyn Output));
        outputs.extend(self.evidence.as_mut().map(|(_, _, table)| table as &mut dyn Output));
        outputs
    }

    fn finish(self, request: &TraceRequest, name: String) -> Result<(), Failure> {
        if let (Some(out), Some(path)) = (self.out, &request.out) {
            finished(out, path)?;
            wrote(path);
        }
        if let Some((writer, path, table)) = self.evidence {
            finished(table, &path)?;
            let bytes = path.metadata().map_err(|error| not_written(&path, &error))?.len();
            if bytes > FILE_BYTES_MAX {
                std::fs::remove_file(&path).map_err(|error| not_written(&path, &error))?;
                return Err(Failure::new(format_args!(
                    "quietcore: the recording has {bytes} bytes and evidence keeps at most \
                     {FILE_BYTES_MAX} a file; record fewer samples, or use --out"
                )));
            }
            finish::finish(&writer)?;
            wrote(&path);
        }
        if let Some(path) = &request.plot {
            let named = Named { name, recording: self.drawn };
            let is_page = path.extension().is_some_and(|end| end == "html");
            let text = if is_page { page(&[named]) } else { svg(&named) };
            write_whole(path, text.as_bytes())?;
            wrote(path);
        }
        Ok(())
    }
}

fn wrote(path: &Path) {
    crate::terminal::say(format_args!("wrote {}", path.display()));
}

fn table_file(path: &Path) -> Result<TableFile, Failure> {
    let format = FileFormat::of(path).ok_or_else(|| {
        Failure::new(format_args!("quietcore: `{}`: use .csv or .parquet", path.display()))
    })?;
    refuse_without_folder(path)?;
    TableFile::create(path, format).map_err(|error| not_written(path, &error))
}

fn refuse_without_folder(path: &Path) -> Result<(), Failure> {
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty())
        && !folder.is_dir()
    {
        let (path, folder) = (path.display(), folder.display());
        return Err(Failure::new(format_args!(
            "quietcore: `{path}` can't be written: there is no folder `{folder}`"
        )));
    }
    Ok(())
}

fn finished(table: TableFile, path: &Path) -> Result<(), Failure> {
    table.finish().map_err(|error| not_written(path, &error))
}

fn not_written(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format_args!("quietcore: `{}` can't be written: {error}", path.display()))
}

/// Opens a file for the recording in an evidence folder, which must be unchanged since it was
/// sealed.
fn in_evidence(
    folder: &Path,
    name: &str,
) -> Result<(Writer, std::path::PathBuf, TableFile), Failure> {
    quietcore_evidence::read_manifest(folder)?;
    let lock = FolderLock::take(folder)?;
    let changed = changed_since_sealed(folder);
    if !changed.is_empty() {
        let changed = changed.join("; ");
        let folder = folder.display();
        return Err(Failure::new(format_args!(
            "quietcore: `{folder}` is not as it was left: {changed}; its recordings would not count"
        )));
    }
    let writer = Writer::of(lock)?;
    let path = writer.trace_path(name)?;
    let table = TableFile::create(&path, FileFormat::Csv);
    let table = table.map_err(|error| not_written(&path, &error))?;
    Ok((writer, path, table))
}

/// The time limit for a trigger.
struct Patience {
    limit: Option<Nanos>,
    since: Instant,
    /// The limit, once it has passed.
    over: Option<Nanos>,
}

impl Patience {
    fn new(request: &TraceRequest) -> Self {
        Self { limit: request.timeout, since: Instant::now(), over: None }
    }

    /// Returns `true` if the limit has passed while the trigger is still awaited.
    fn is_over(&mut self, stage: Stage) -> bool {
        let limit = self.limit.filter(|_| matches!(stage, Stage::Waiting));
        self.over = limit.filter(|it| self.since.elapsed() >= Duration::from_nanos(it.get()));
        self.over.is_some()
    }
}

/// The progress on a terminal.
struct Bar {
    bar: ProgressBar,
    trigger: Option<String>,
}

impl Bar {
    fn new(request: &TraceRequest) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new(1) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("[{bar:24}] {percent:>3} %  {msg}");
        bar.set_style(style.expect("the template has known keys only").progress_chars("█▉▊▋▌▍▎▏ "));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, trigger: request.trigger.as_ref().map(ToString::to_string) }
    }

    /// Prints what is waited for if no bar shows it.
    fn begin(&self, name: &str) {
        if let (Some(trigger), true) = (&self.trigger, self.bar.is_hidden()) {
            crate::terminal::say(format_args!(
                "{name}: waiting for `{trigger}`; Ctrl-C ends it, `--timeout` limits it"
            ));
        }
    }

    fn tell(&self, progress: Progress) {
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.kept);
        let lost = match progress.lost {
            0 => String::new(),
            lost => format!("  lost {}", thousands(lost)),
        };
        let what = match (progress.stage, &self.trigger) {
            (Stage::Waiting, Some(trigger)) => {
                format!("waiting for `{trigger}`, {} held", thousands(progress.held))
            }
            _ => format!("{} of {} samples", thousands(progress.kept), thousands(progress.total)),
        };
        self.bar.set_message(format!("{what}{lost}"));
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn tell(request: &TraceRequest, name: &str, summary: &Summary) -> Result<(), Failure> {
    if request.json {
        return command::print_json(&Document {
            schema: "quietcore.traced/1",
            partition: name,
            samples: summary.kept,
            wanted: summary.total,
            lost: summary.lost,
            pre: summary.pre,
            began_at: summary.began_at,
            sample_period_ns: summary.sample_period.get(),
            ended_early: summary.ended_early.as_deref(),
        });
    }
    command::print_lines(&text(name, summary))
}

fn text(name: &str, summary: &Summary) -> String {
    let mut text = format!(
        "{name}: {} of {} sample{}, {} lost",
        thousands(summary.kept),
        thousands(summary.total),
        plural(summary.total),
        thousands(summary.lost)
    );
    match summary.began_at {
        None => text.push_str("; the trigger did not come, nothing was written"),
        Some(cycle) if summary.pre > 0 => {
            let (pre, s) = (thousands(summary.pre), plural(summary.pre));
            let cycle = thousands(cycle);
            text.push_str(&format!("; trigger in cycle {cycle}, {pre} sample{s} before it"));
        }
        Some(cycle) => text.push_str(&format!("; from cycle {}", thousands(cycle))),
    }
    if let Some(why) = &summary.ended_early {
        text.push_str(&format!("; ended early: {why}"));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_an_early_end_are_said() {
        let whole = Summary {
            kept: 100,
            total: 100,
            lost: 0,
            pre: 20,
            began_at: Some(4711),
            sample_period: Nanos::from_millis(1),
            ended_early: None,
        };
        let said = text("line/axis", &whole);
        assert_eq!(
            said,
            "line/axis: 100 of 100 samples, 0 lost; trigger in cycle 4\u{202f}711, 20 samples \
             before it\n"
        );
        let early = Some("interrupted".to_owned());
        let cut = Summary { kept: 0, lost: 3, began_at: None, ended_early: early, ..whole };
        assert_eq!(
            text("line/axis", &cut),
            "line/axis: 0 of 100 samples, 3 lost; the trigger did not come, nothing was written; \
             ended early: interrupted\n"
        );
    }
}
