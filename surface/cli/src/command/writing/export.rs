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
    let SiteFile { site, bytes, .. } = files::read_site(&request.site)?;
    let paths = ExportPaths {
        program: std::env::current_exe()?.display().to_string(),
        site_file: fs::canonicalize(&request.site)?.display().to_string(),
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
            set.push((name.to_owned(), folder.display().to_string()));
        }
    }
    Ok(set)
}

/// Writes the files; writes none if a file exists with other content.
fn write(folder: &Path, files: &[ExportedFile]) -> Result<(), Failure> {
    fs::create_dir_all(folder)?;
    for file in files {
        let path = folder.join(&file.name);
        let differs = fs::read(&path).is_ok_and(|found| found != file.text.as_bytes());
        if differs {
            return Err(Failure::new(format_args!(
                "quietcore: `{}` is there and differs; move it away, or choose another folder",
                path.display()
            )));
        }
    }
    for file in files {
        let path = folder.join(&file.name);
        write_whole(&path, file.text.as_bytes())?;
        say(format_args!("wrote {}", path.display()));
    }
    Ok(())
}
