//! A unit of systemd.

use std::time::Duration;

use super::{ExportedFile, HostRequirements};
use crate::site::{Partition, Site};

/// Time for a site to come down in order.
const STOP: Duration = Duration::from_secs(20);

/// The service that brings the site up.
pub(super) fn unit(place: &HostRequirements<'_>) -> ExportedFile {
    let (program, site_file) = (&place.paths.program, &place.paths.site_file);
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
         # One that can't stay up is not started for ever.\n\
         StartLimitIntervalSec=60\n\
         StartLimitBurst=5\n\
         \n\
         [Service]\n\
         Type=exec\n\
         {environment}\
         ExecStart={program} up {site_file}\n\
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
    ExportedFile { name: format!("{name}.service"), text }
}

/// Returns the seconds that guests with systems of their own get to shut down, all at once.
fn shutdown_s(site: &Site) -> u64 {
    let guests = site.partitions().iter().filter_map(Partition::disk);
    guests.map(|disk| disk.shutdown.get().div_ceil(1_000_000_000)).max().unwrap_or_default()
}

/// A line that sets a variable, quoted as systemd reads it.
fn variable((name, value): &(String, String)) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("Environment=\"{name}={value}\"\n")
}
