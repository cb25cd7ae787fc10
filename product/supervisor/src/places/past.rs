//! The events of sites that are down.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{OWNER, Places, SITE_COUNT_MAX, log_file};
use crate::control::EventLine;

/// Name of the file of events in the folder of a site's state: one JSON object a line.
pub const EVENTS: &str = "events.jsonl";
/// Limit of the bytes of such a file that are read.
const BYTES_MAX: u64 = 16 << 20;

/// A site that has run here, as far as its events tell.
#[derive(Clone, Debug)]
pub struct PastSite {
    /// Name of the site.
    pub name: String,
    /// Path of the site file; `None` where that is not known.
    pub site_file: Option<PathBuf>,
    /// Time at which its last event was written.
    pub last: SystemTime,
    log: PathBuf,
}

impl PastSite {
    /// Reads its events, the oldest first. Lines that can't be read, such as one that a power
    /// failure has cut, are left out.
    ///
    /// # Errors
    /// When there is a file but it can't be read.
    pub fn events(&self) -> io::Result<Vec<EventLine>> {
        let mut events = Vec::new();
        for path in [log_file::older(&self.log), self.log.clone()] {
            let mut bytes = Vec::new();
            match File::open(&path) {
                Ok(file) => file.take(BYTES_MAX).read_to_end(&mut bytes)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let lines = bytes.split(|byte| *byte == b'\n');
            events.extend(lines.filter_map(|line| serde_json::from_slice(line).ok()));
        }
        Ok(events)
    }
}

impl Places {
    /// Lists the sites of which events are kept, running or not, the latest first.
    pub fn past(&self) -> Vec<PastSite> {
        let Some(state) = &self.state else { return Vec::new() };
        let listed = fs::read_dir(state).into_iter().flatten().take(SITE_COUNT_MAX).flatten();
        let mut sites: Vec<PastSite> = listed.filter_map(|it| look_at(&it.path())).collect();
        sites.sort_by_key(|site| std::cmp::Reverse(site.last));
        sites
    }
}

/// Returns the site of a folder of STATE, if it has events.
fn look_at(folder: &Path) -> Option<PastSite> {
    let name = folder.file_name()?.to_str()?;
    let (name, _number) = name.rsplit_once('@').filter(|(name, _)| !name.is_empty())?;
    let log = folder.join(EVENTS);
    let found = fs::symlink_metadata(&log).ok().filter(fs::Metadata::is_file)?;
    let owner = fs::read(folder.join(OWNER)).ok().filter(|owner| !owner.is_empty());
    Some(PastSite {
        name: name.to_owned(),
        site_file: owner.map(|owner| PathBuf::from(OsString::from_vec(owner))),
        last: found.modified().ok()?,
        log,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    #[test]
    fn the_events_of_a_site_that_is_down_are_found() {
        let ground = tempfile::tempdir().unwrap();
        let places = Places::new(ground.path().join("run"), ground.path().join("state"));
        assert!(places.past().is_empty());
        let site_file = ground.path().join("line.toml");
        fs::write(&site_file, "").unwrap();
        let folder = places.state_folder("line", &site_file).unwrap();
        assert!(places.past().is_empty(), "it has told nothing");
        let line = |number| serde_json::to_string(&fake::event(number)).unwrap();
        fs::write(folder.join("events.jsonl.1"), line(1) + "\n").unwrap();
        fs::write(folder.join(EVENTS), line(2) + "\n{\"sequence\":3,\"at").unwrap();
        let [site] = &places.past()[..] else { panic!("one site") };
        assert_eq!(site.name, "line");
        assert_eq!(site.site_file.as_deref(), Some(site_file.canonicalize().unwrap().as_path()));
        assert_eq!(site.events().unwrap(), [fake::event(1), fake::event(2)]);
    }
}
