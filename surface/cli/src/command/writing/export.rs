//! `quietcore export`: files with which systemd, Podman and Kubernetes run a site, and domains of
//! libvirt for its guests.

use std::fs;
use std::path::Path;

use quietcore_evidence::write_whole;
use quietcore_host::Facts;
use quietcore_host::facts::CacheDomain;
use quietcore_site::{ExportKind, ExportMachine, ExportPaths, ExportedFile, Machine, export};
use quietcore_supervisor::places::{RUN_VARIABLE, STATE_VARIABLE};
use quietcore_units::ByteSize;

use crate::arguments::Export;
use crate::command::print;
use crate::files::{self, SiteFile};
use crate::status::{Failure, Status};
use crate::terminal::say;

/// The level of the cache whose ways are assigned.
const LAST_LEVEL: u32 = 3;

pub(in crate::command) fn run(request: &Export) -> Result<Status, Failure> {
    if let Some(folder) = &request.out {
        files::refuse_dash("--out", folder)?;
    }
    let SiteFile { site, bytes, .. } = files::read_site(&request.site)?;
    let site_file = fs::canonicalize(&request.site).map_err(|error| {
        let path = request.site.display();
        Failure::new(format_args!(
            "quietcore: `{path}`: what is written names the site file; give its path: {error}"
        ))
    })?;
    let paths = ExportPaths {
        program: text_of(&std::env::current_exe()?)?,
        site_file: text_of(&site_file)?,
        variables: variables()?,
        machine: machine(&Facts::read_quickly()),
    };
    let partition = request.partition.as_deref();
    if partition.is_some() && request.kind != ExportKind::Libvirt {
        return Err(Failure::new(
            "quietcore: `--partition` chooses a domain of libvirt; the others run whole sites",
        ));
    }
    // A site file that was read is UTF-8.
    let text = String::from_utf8_lossy(&bytes);
    let written = export(&site, &text, request.kind, partition, &paths)?;
    match &request.out {
        Some(folder) => write(folder, &written)?,
        None => {
            print(&written.first().map(|file| file.text.clone()).unwrap_or_default())?;
            for file in written.iter().skip(1) {
                say(format_args!("`{}` belongs to it; `--out DIR` writes it too", file.name));
            }
        }
    }
    Ok(Status::Done)
}

/// Returns a path as text, which exported files are.
fn text_of(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::new(format_args!(
            "quietcore: `{}` is not UTF-8, which exported files are; rename it",
            path.display()
        ))
    })
}

/// Returns what domains of libvirt need to know about this machine.
fn machine(facts: &Facts) -> ExportMachine {
    let Machine { online, cache_ways, .. } = facts.machine();
    let last = |cache: &&CacheDomain| cache.level.get() == Some(&LAST_LEVEL);
    let size = facts.caches.domains.iter().find(last).and_then(|it| it.size_bytes.get().copied());
    let way = cache_ways.ok().zip(size).map(|(ways, size)| size / u64::from(ways.all.max(1)));
    ExportMachine { online, cache_way: way.map(ByteSize::new) }
}

/// Returns the environment variables by which this caller keeps sites elsewhere, with absolute
/// folders.
fn variables() -> Result<Vec<(String, String)>, Failure> {
    let mut set = Vec::new();
    for name in [RUN_VARIABLE, STATE_VARIABLE] {
        if let Some(folder) = std::env::var_os(name).filter(|folder| !folder.is_empty()) {
            let folder = std::path::absolute(&folder)?;
            set.push((name.to_owned(), text_of(&folder)?));
        }
    }
    Ok(set)
}

/// Writes the files; writes none if a file exists with other content.
fn write(folder: &Path, exported: &[ExportedFile]) -> Result<(), Failure> {
    files::make_folder(folder)?;
    for file in exported {
        let path = folder.join(&file.name);
        let differs = fs::read(&path).is_ok_and(|found| found != file.text.as_bytes());
        if differs {
            return Err(Failure::new(format_args!(
                "quietcore: `{}` is there and differs; move it away, or choose another folder",
                path.display()
            )));
        }
    }
    for file in exported {
        let path = folder.join(&file.name);
        write_whole(&path, file.text.as_bytes())?;
        say(format_args!("wrote {}", path.display()));
    }
    Ok(())
}
