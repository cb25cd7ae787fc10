//! `quietcore schema`, `completions` and `man`: documents about this program.

use std::io::{IsTerminal as _, Write as _};
use std::process::{self, Stdio};

use clap::{Command, CommandFactory as _};
use quietcore_evidence::write_whole;

use crate::arguments::{Arguments, Completions, Man, Schema, SchemaKind};
use crate::completion;
use crate::files;
use crate::status::{Failure, Status};

pub(super) fn schema(request: &Schema) -> Result<Status, Failure> {
    let schema = match request.document {
        SchemaKind::Site => quietcore_site::schema(),
        SchemaKind::Evidence => quietcore_record::document::schema(),
    };
    super::print_json(&schema)?;
    Ok(Status::Done)
}

pub(super) fn completions(request: &Completions) -> Result<Status, Failure> {
    let shell = request.shell.to_string();
    let script = completion::script(&shell)
        .ok_or_else(|| Failure::new(format_args!("quietcore: there is no script for {shell}")))?;
    super::print(&String::from_utf8_lossy(&script))?;
    Ok(Status::Done)
}

/// Writes a page for the program and for each of its commands, or shows one of them.
pub(super) fn man(request: &Man) -> Result<Status, Failure> {
    let pages = pages()?;
    let Some(folder) = &request.out else {
        let wanted = std::iter::once("quietcore").chain(request.command.iter().map(String::as_str));
        let wanted = wanted.collect::<Vec<_>>().join("-");
        let page = pages.iter().find(|page| page.name == wanted);
        let page = page.ok_or_else(|| {
            let known: Vec<_> = pages.iter().map(|page| page.name.replace('-', " ")).collect();
            let words = request.command.join(" ");
            Failure::new(format!(
                "quietcore: there is no such command as `{words}`; there are {}; `quietcore man \
                 --out DIR` writes the pages of all into a folder",
                known.join(", ")
            ))
        })?;
        return show(page);
    };
    files::refuse_dash("--out", folder)?;
    files::make_folder(folder)?;
    for page in pages {
        write_whole(&folder.join(format!("{}.1", page.name)), &page.roff)?;
    }
    Ok(Status::Done)
}

/// A page of the manual, as troff and as text.
struct Page {
    name: String,
    roff: Vec<u8>,
    /// The page as plain text.
    text: String,
}

/// Returns all pages. None of them refers to a page that does not exist: the command `help`, which
/// clap adds to every command with subcommands, is left out.
fn pages() -> Result<Vec<Page>, Failure> {
    let mut command = without_help(Arguments::command());
    command.build();
    let mut pages = Vec::new();
    add_pages("quietcore", &command, &mut pages)?;
    Ok(pages)
}

fn add_pages(name: &str, command: &Command, pages: &mut Vec<Page>) -> Result<(), Failure> {
    let mut own = command.clone().name(name.to_owned()).display_name(name.to_owned());
    let mut roff = Vec::new();
    clap_mangen::Man::new(own.clone()).render(&mut roff)?;
    let text = own.render_long_help().to_string();
    pages.push(Page { name: name.to_owned(), roff, text });
    for subcommand in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        add_pages(&format!("{name}-{}", subcommand.get_name()), subcommand, pages)?;
    }
    Ok(())
}

fn without_help(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let command = command.disable_help_subcommand(true);
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, without_help))
}

/// Shows a page: with `man` on a terminal if that is installed, otherwise as text.
fn show(page: &Page) -> Result<Status, Failure> {
    if std::io::stdout().is_terminal() {
        let child = process::Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).spawn();
        if let Ok(mut child) = child {
            if let Some(mut input) = child.stdin.take() {
                // A reader that has seen enough closes the pipe.
                let _ = input.write_all(&page.roff);
            }
            if child.wait()?.success() {
                return Ok(Status::Done);
            }
        }
    }
    super::print(&page.text)?;
    Ok(Status::Done)
}
