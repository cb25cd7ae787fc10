//! `quietcore campaign`: a paper's whole experiment on this machine.
//!
//! ```text
//! commands of the paper ─► extent of each ─► schedule ─► Course ─► one process after the other
//!                                                          │
//!                          campaign.json, index.html ◄─────┘ written after each
//! ```

pub(crate) mod child;
mod extent;
mod schedule;
mod systems;
mod text;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser as _;
use quietcore_evidence::{FolderLock, read_manifest, write_whole};
use quietcore_linux_guest::image::Image;
use quietcore_record::published::reproduction::{self, Course, Outcome, Ran, SCHEMA, Step};
use quietcore_report::reproduction as page;
use quietcore_site::{Accelerator, Site};
use quietcore_units::Nanos;
use quietcore_wording::list;

use self::extent::{Extent, with_length};
use crate::arguments::{Arguments, Command, PaperCampaign};
use crate::runs;
use crate::status::{Failure, Status};
use crate::terminal::say;
use crate::{files, machine};

/// The document of the campaign, in its folder.
const DOCUMENT: &str = "campaign.json";
/// Limit of its size in bytes.
const DOCUMENT_BYTES_MAX: usize = 1 << 20;
/// Limit of what a command printed that is shown on the page, in bytes.
const PRINTED_BYTES_MAX: usize = 64 << 10;
/// The folder for what an interrupted command has left, so that it can be run again.
const LEFT: &str = "interrupted";
/// The beginning of paths in the list of commands that lie in the folder of examples.
const EXAMPLES: &str = "examples/";
/// The beginning of the names of the papers' own site files in that folder.
const PAPERS: &str = "papers/";

pub(super) fn run(request: &PaperCampaign) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let (lock, mut course) = match &request.resume {
        Some(folder) => {
            // Read again once the lock is there, since another process may just have ended.
            resumed(folder)?;
            let lock = FolderLock::take(folder)?;
            (lock, resumed(folder)?)
        }
        None => {
            let course = begun(request, &stop)?;
            if request.plan {
                super::print(&text::plan(&course))?;
                return Ok(Status::Done);
            }
            (FolderLock::take(&make_folder(request, &course)?)?, course)
        }
    };
    let folder = lock.root().canonicalize()?;
    write(&folder, &course)?;
    say(format_args!(
        "{}: {} commands, about {} in all, in {}",
        course.paper,
        course.commands.len(),
        course.expected(),
        folder.display()
    ));
    run_all(&mut course, &folder, &stop)?;
    if request.json {
        super::print_json(&course)?;
    } else {
        super::print(&text::outcome(&course))?;
    }
    say(format_args!("page: {}", folder.join(runs::INDEX).display()));
    if stop.load(Ordering::Relaxed) {
        let folder = request.resume.as_ref().unwrap_or(&folder).display();
        say(format_args!("interrupted; go on with: quietcore campaign --resume {folder}"));
    }
    Ok(Status::of(course.is_whole()))
}

/// Runs every command that is not done, and writes what became of it after each.
fn run_all(course: &mut Course, folder: &Path, stop: &AtomicBool) -> Result<(), Failure> {
    for (index, step) in reproduction::steps(&course.paper).iter().enumerate() {
        if course.commands[index].outcome.is_done() {
            continue;
        }
        let mut bar = text::Bar::new(course, index);
        let outcome = run_one(&mut course.commands[index], (index, step), folder, stop, &mut bar)?;
        bar.finish(&outcome);
        course.commands[index].outcome = outcome;
        write(folder, course)?;
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(())
}

/// Runs a command in the folder of the campaign.
fn run_one(
    ran: &mut Ran,
    (index, step): (usize, &Step),
    folder: &Path,
    stop: &AtomicBool,
    bar: &mut text::Bar,
) -> Result<Outcome, Failure> {
    if image_of(step, &ran.words).is_some_and(|image| Image::open(&image).is_ok()) {
        return Ok(Outcome::Done { took_ns: 0 });
    }
    let is_missing = |name: &&&str| {
        let read = folder.join(name);
        !read.join("manifest.json").is_file() && runs::folders(&read).is_empty()
    };
    if let Some(missing) = step.reads().iter().find(is_missing) {
        return Ok(Outcome::NothingToRead { folder: (*missing).to_owned() });
    }
    let words = match leftover(ran, folder)? {
        Leftover::Whole => return Ok(Outcome::Done { took_ns: 0 }),
        Leftover::Begun(name) => vec!["qualify".to_owned(), "--resume".to_owned(), name],
        Leftover::Nothing => ran.words.clone(),
    };
    let printed = format!("{:02}-{}.txt", index + 1, words[0]);
    let outcome = child::run(&words, folder, &folder.join(&printed), stop, || bar.look())?;
    ran.printed =
        fs::metadata(folder.join(&printed)).is_ok_and(|it| it.len() > 0).then_some(printed);
    if let Some(name) = ran.folder.as_ref().filter(|_| outcome.is_done()) {
        ran.left_out = systems::left_out(&folder.join(name));
    }
    Ok(outcome)
}

/// Returns the words by which a command runs guests in this way.
fn with(accelerator: Accelerator) -> [String; 2] {
    let word = match accelerator {
        Accelerator::Kvm => "kvm",
        Accelerator::Tcg => "tcg",
    };
    ["--accelerator".to_owned(), word.to_owned()]
}

/// Returns the folder of the guest's image that a command makes, on this machine.
fn image_of(step: &Step, words: &[String]) -> Option<PathBuf> {
    step.image()?;
    words.iter().skip_while(|word| *word != "--out").nth(1).map(PathBuf::from)
}

/// Leftovers of an earlier attempt at a command.
enum Leftover {
    /// Nothing, or nothing that is still in the way.
    Nothing,
    /// An evidence folder of this name that `qualify` goes on with.
    Begun(String),
    /// All that the command makes: the campaign ended before that was noted.
    Whole,
}

/// Looks for the evidence folder of a command, and puts aside one that nothing can go on with.
fn leftover(ran: &Ran, folder: &Path) -> Result<Leftover, Failure> {
    let Some(name) = ran.folder.as_ref().filter(|name| folder.join(name).exists()) else {
        return Ok(Leftover::Nothing);
    };
    let is_judged = folder.join(name).join("evidence.json").is_file();
    let is_campaign = ran.words.first().is_some_and(|verb| verb == "qualify");
    match read_manifest(&folder.join(name)) {
        Ok(manifest) if manifest.complete && is_judged => return Ok(Leftover::Whole),
        Ok(manifest) if !manifest.complete && is_campaign => {
            return Ok(Leftover::Begun(name.clone()));
        }
        _ => {}
    }
    let aside = folder.join(LEFT);
    files::make_folder(&aside)?;
    let set_aside = aside.join(format!("{}-{}", name.replace('/', "-"), machine::time_of_day()));
    fs::rename(folder.join(name), &set_aside).map_err(|error| {
        let (name, aside) = (folder.join(name), set_aside.display());
        let name = name.display();
        Failure::new(format_args!("quietcore: `{name}` can't be moved to `{aside}`: {error}"))
    })?;
    Ok(Leftover::Nothing)
}

/// Plans the campaign of a paper.
fn begun(request: &PaperCampaign, stop: &AtomicBool) -> Result<Course, Failure> {
    let paper = request.paper.as_deref().expect("clap asks for the paper without --resume");
    let steps = reproduction::steps(paper);
    let examples = examples(&request.examples, paper, &steps)?;
    let mut words: Vec<Vec<String>> = steps.iter().map(|step| here(step, &examples)).collect();
    if let Some(accelerator) = request.accelerator {
        let qualifies = words.iter_mut().filter(|words| words[0] == "qualify");
        qualifies.for_each(|words| words.extend(with(accelerator)));
    }
    let facts = machine::read_facts(stop)?;
    let possible = |site: &Site| systems::possible_runs(site, &facts);
    let (mut extents, mut left_out, mut images) = (Vec::new(), Vec::new(), Vec::new());
    for words in &words {
        let command = parsed(words)?;
        extents.push(Extent::of(&command, Path::new(""), &possible)?);
        let found = systems::foreseen(&command, &facts)?;
        left_out.push(found.left_out);
        images.extend(found.images);
    }
    let lengths = if request.whole {
        vec![None; extents.len()]
    } else {
        schedule::lengths(&extents, request.within)?
    };
    for (words, each) in words.iter_mut().zip(&lengths) {
        if let Some(each) = each {
            *words = with_length(words, *each);
        }
    }
    let planned = steps.iter().zip(words).zip(extents.iter().zip(&lengths)).zip(left_out);
    let commands = planned.map(|(((step, words), (extent, each)), left_out)| Ran {
        command: step.command.to_owned(),
        each_ns: each_of(*extent, *each).map(Nanos::get),
        expected_ns: extent.time(*each).get(),
        folder: step.folder().map(str::to_owned),
        printed: None,
        outcome: match image_of(step, &words) {
            Some(image) if !images.contains(&image) => Outcome::NotNeeded,
            _ => Outcome::Left,
        },
        words,
        left_out,
    });
    Ok(Course {
        schema: SCHEMA.to_owned(),
        paper: paper.to_owned(),
        started_at: machine::time_of_day(),
        within_ns: (!request.whole).then_some(request.within.get()),
        timing_not_valid: machine::emulated(&facts),
        commands: commands.collect(),
    })
}

fn each_of(extent: Extent, each: Option<Nanos>) -> Option<Nanos> {
    match extent {
        Extent::Asked { whole, .. } => Some(each.unwrap_or(whole)),
        Extent::Fixed(_) => None,
    }
}

/// Returns the folder of examples as an absolute path. Refuses one that lacks the paper's own site
/// file.
fn examples(folder: &Path, paper: &str, steps: &[Step]) -> Result<PathBuf, Failure> {
    let words = steps.iter().flat_map(Step::words);
    let named = words.filter_map(|word| word.strip_prefix(EXAMPLES));
    let is_site = |name: &str| name.starts_with(PAPERS) && name.ends_with(".toml");
    let lacks = |name: &&str| is_site(name) && !folder.join(name).is_file();
    let missing: BTreeSet<&str> = named.filter(lacks).collect();
    if !missing.is_empty() {
        return Err(Failure::new(format_args!(
            "--examples {}: site files of {paper} are not there ({}); run this in Quietcore's \
             source folder, or name its folder `examples`",
            folder.display(),
            list(missing)
        )));
    }
    Ok(std::path::absolute(folder)?)
}

/// Returns the words of a step with the paths of this machine.
fn here(step: &Step, examples: &Path) -> Vec<String> {
    let here = |word: &str| match word.strip_prefix(EXAMPLES) {
        Some(rest) => examples.join(rest).display().to_string(),
        None => word.to_owned(),
    };
    step.words().into_iter().map(here).collect()
}

fn parsed(words: &[String]) -> Result<Command, Failure> {
    let words = std::iter::once("quietcore").chain(words.iter().map(String::as_str));
    Ok(Arguments::try_parse_from(words)?.command)
}

fn make_folder(request: &PaperCampaign, course: &Course) -> Result<PathBuf, Failure> {
    let default = || {
        let name = quietcore_evidence::folder_name(&course.started_at, &course.paper);
        Path::new(runs::RUNS).join(name)
    };
    let folder = request.out.clone().unwrap_or_else(default);
    files::refuse_dash("--out", &folder)?;
    if folder.exists() {
        return Err(Failure::new(format_args!(
            "--out {}: it is there already; `quietcore campaign --resume {}` goes on with a \
             campaign in it",
            folder.display(),
            folder.display()
        )));
    }
    files::make_folder(&folder)?;
    Ok(folder)
}

/// Reads the document of a campaign that was begun.
fn resumed(folder: &Path) -> Result<Course, Failure> {
    let path = folder.join(DOCUMENT);
    let bytes = files::read(&path, DOCUMENT_BYTES_MAX)?;
    let wrong = |why: &str| Failure::new(format_args!("quietcore: `{}` {why}", path.display()));
    if bytes.len() > DOCUMENT_BYTES_MAX {
        return Err(wrong("is too large for the document of a campaign"));
    }
    let course: Course = serde_json::from_slice(&bytes)
        .map_err(|error| wrong(&format!("is not the document of a campaign: {error}")))?;
    if !course.fits(&reproduction::steps(&course.paper)) {
        return Err(wrong("is of another version of Quietcore; begin a new campaign"));
    }
    Ok(course)
}

fn write(folder: &Path, course: &Course) -> Result<(), Failure> {
    let mut document = serde_json::to_string_pretty(course)?;
    document.push('\n');
    write_whole(&folder.join(DOCUMENT), document.as_bytes())?;
    let printed: Vec<Option<String>> =
        course.commands.iter().map(|ran| read_printed(folder, ran)).collect();
    let compared = systems::measured(course, folder);
    write_whole(&folder.join(runs::INDEX), page::render(course, &printed, &compared).as_bytes())?;
    Ok(())
}

/// Reads what a command printed, where it is as short as a table.
fn read_printed(folder: &Path, ran: &Ran) -> Option<String> {
    let path = folder.join(ran.printed.as_ref()?);
    let bytes = files::read(&path, PRINTED_BYTES_MAX).ok()?;
    let is_short = bytes.len() <= PRINTED_BYTES_MAX;
    is_short.then(|| String::from_utf8_lossy(&bytes).into_owned())
}
