//! `quietcore context`: the daemons that have names.

use std::path::{Path, PathBuf};

use quietcore_remote::{Context, Contexts, HERE};

use crate::arguments::{ContextAdd, ContextKind, ContextVerb};
use crate::command;
use crate::status::{Failure, Status};
use crate::table::Table;

/// The mark of the context in use.
const IN_USE: &str = "*";

pub(in crate::command) fn run(request: &ContextVerb) -> Result<Status, Failure> {
    let path = Contexts::path();
    let mut contexts = Contexts::read(&path)?;
    match &request.verb {
        ContextKind::List => {
            command::print(&list(&contexts))?;
            return Ok(Status::Done);
        }
        ContextKind::Add(request) => {
            contexts.add(&request.name, context(request)?)?;
            let ContextAdd { name, address, .. } = request;
            command::print_lines(&format!("{name}: {address}; try `quietcore --at {name} ps`\n"))?;
        }
        ContextKind::Use(request) => {
            contexts.use_one(&request.name)?;
            let where_ = match request.name.as_str() {
                HERE => "this machine is meant from now on".to_owned(),
                name => format!("`{name}` is meant from now on where no `--at` is given"),
            };
            command::print_lines(&format!("{where_}\n"))?;
        }
        ContextKind::Remove(request) => {
            contexts.remove(&request.name)?;
            command::print_lines(&format!("{} is removed\n", request.name))?;
        }
    }
    contexts.write(&path)?;
    Ok(Status::Done)
}

/// Makes a context of the request, whose files are found from everywhere.
fn context(request: &ContextAdd) -> Result<Context, Failure> {
    let whole = |path: &Option<PathBuf>| -> Result<Option<PathBuf>, Failure> {
        let found = |path: &PathBuf| {
            path.canonicalize().map_err(|error| {
                Failure::new(format_args!("quietcore: `{}`: {error}", path.display()))
            })
        };
        path.as_ref().map(found).transpose()
    };
    Ok(Context {
        address: request.address.clone(),
        access: whole(&request.access)?,
        certificate: whole(&request.certificate)?,
        key: whole(&request.key)?,
        authority: whole(&request.authority)?,
        token_file: whole(&request.token_file)?,
    })
}

fn list(contexts: &Contexts) -> String {
    let mut table = Table::new(&["", "name", "address", "access"]);
    let mark = |is_used: bool| if is_used { IN_USE } else { "" }.to_owned();
    let here = contexts.current.is_none();
    table.row([mark(here), HERE.to_owned(), "this machine".to_owned(), String::new()]);
    for (name, context) in contexts.all() {
        let is_used = contexts.current.as_deref() == Some(name);
        let files = [&context.access, &context.certificate, &context.token_file];
        let shown = files.into_iter().flatten().next().map(|path: &PathBuf| shown(path));
        let address = context.address.clone();
        table.row([mark(is_used), name.to_owned(), address, shown.unwrap_or_default()]);
    }
    table.lines().join("\n") + "\n"
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
