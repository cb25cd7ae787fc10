//! A unit of systemd.

use std::time::Duration;

use super::{ExportError, ExportedFile, HostRequirements};
use crate::site::{Partition, Site};

/// Time for a site to come down in order.
const STOP: Duration = Duration::from_secs(20);

/// The service that brings the site up.
///
/// # Errors
/// [`ExportError::Program`]: systemd starts no program of such a name, in quotes or not.
pub(super) fn unit(place: &HostRequirements<'_>) -> Result<ExportedFile, ExportError> {
    if place.paths.program.contains(['\'', '"', '\\']) {
        return Err(ExportError::Program { path: place.paths.program.clone() });
    }
    let program = word(&place.paths.program);
    // Other than in the name of the program, `$` begins a variable.
    let site_file = word(&place.paths.site_file).replace('$', "$$");
    let (name, site) = (place.name(), place.site.name());
    let environment: String = place.paths.variables.iter().map(variable).collect();
    let with = match place.paths.variables.is_empty() {
        true => "",
        false => " with the variables below",
    };
    let patience = STOP.as_secs() + shutdown_s(place.site);
    let text = format!(
        "# Site `{site}` as a service.\n\
         #\n\
         #     cp {name}.service /etc/systemd/system/\n\
         #     systemctl daemon-reload\n\
         #     systemctl enable --now {name}\n\
         #\n\
         # `quietcore ps`, `watch`, `set` and the others of root find it as they find a site that \
         was brought up by hand{with}.\n\
         [Unit]\n\
         Description=Quietcore site {site}\n\
         After=network.target\n\
         # A site that can't stay up is not started for ever.\n\
         StartLimitIntervalSec=600\n\
         StartLimitBurst=5\n\
         \n\
         [Service]\n\
         Type=exec\n\
         {environment}\
         # It fails once no partition runs and none is started again; while any runs,\n\
         # `quietcore ps` names those that are given up.\n\
         ExecStart={program} up --until-stopped {site_file}\n\
         # In order: the fieldbus is left, retained values are saved, the machine is put back.\n\
         ExecStop={program} down {site}\n\
         # What a supervisor that was killed has left.\n\
         ExecStopPost=-{program} down {site}\n\
         Restart=on-failure\n\
         RestartSec=1\n\
         KillMode=mixed\n\
         TimeoutStopSec={patience}\n\
         # For real-time threads and locked memory, also with `User=`.\n\
         LimitRTPRIO=99\n\
         LimitMEMLOCK=infinity\n\
         # Partitions that are containers make their own control groups.\n\
         Delegate=yes\n\
         StateDirectory=quietcore\n\
         RuntimeDirectory=quietcore\n\
         RuntimeDirectoryMode=0700\n\
         # Another site may be running.\n\
         RuntimeDirectoryPreserve=yes\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    );
    Ok(ExportedFile { name: format!("{name}.service"), text })
}

/// Returns the seconds that guests with systems of their own get to shut down, all at once.
fn shutdown_s(site: &Site) -> u64 {
    let guests = site.partitions().iter().filter_map(Partition::disk);
    guests.map(|disk| disk.shutdown.get().div_ceil(1_000_000_000)).max().unwrap_or_default()
}

/// A line that sets a variable.
fn variable((name, value): &(String, String)) -> String {
    format!("Environment={}\n", quoted(&format!("{name}={value}")))
}

/// A word of a command line, in quotes where it needs them.
fn word(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+,@".contains(it);
    if word.chars().all(is_plain) { word.to_owned() } else { quoted(word) }
}

/// A word in quotes, as systemd reads it (systemd.syntax(7), "Quoting"; systemd.unit(5),
/// "Specifiers").
fn quoted(word: &str) -> String {
    let word = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{word}\"")
}
