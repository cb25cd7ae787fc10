//! `quietcore export`: files with which systemd, Podman and Kubernetes run a site.

use std::fs;
use std::path::Path;

use quietcore_evidence::write_whole;
use quietcore_site::{ExportPaths, ExportedFile, export};
use quietcore_supervisor::places::{RUN_VARIABLE, STATE_VARIABLE};

use crate::arguments::Export;
use crate::command::print;
use crate::files::{self, SiteFile};
use crate::status::{Failure, Status};
use crate::terminal::say;

pub(in crate::command) fn run(request: &Export) -> Result<Status, Failure> {
    let SiteFile { site, bytes, .. } = files::read_site(&request.site)?;
    let paths = ExportPaths {
        program: std::env::current_exe()?.display().to_string(),
        site_file: fs::canonicalize(&request.site)?.display().to_string(),
        variables: variables()?,
    };
    // A site file that was read is UTF-8.
    let written = export(&site, &String::from_utf8_lossy(&bytes), request.kind, &paths)?;
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
