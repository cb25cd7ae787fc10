//! `quietcore schema`, `completions` and `man`: what others need to know of this program.

use std::fs;

use clap::CommandFactory as _;
use quietcore_evidence::write_whole;

use crate::arguments::{Arguments, Completions, Man, Schema, SchemaKind};
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
    let mut script = Vec::new();
    clap_complete::generate(request.shell, &mut Arguments::command(), "quietcore", &mut script);
    super::print(&String::from_utf8_lossy(&script))?;
    Ok(Status::Done)
}

/// Writes `quietcore.1` and a page for each subcommand.
pub(super) fn man(request: &Man) -> Result<Status, Failure> {
    fs::create_dir_all(&request.out)?;
    let mut command = Arguments::command();
    command.build();
    let mut pages = vec![("quietcore".to_owned(), command.clone())];
    for subcommand in command.get_subcommands() {
        let name = format!("quietcore-{}", subcommand.get_name());
        pages.push((name.clone(), subcommand.clone().name(name)));
    }
    for (name, command) in pages {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        write_whole(&request.out.join(format!("{name}.1")), &page)?;
    }
    Ok(Status::Done)
}
