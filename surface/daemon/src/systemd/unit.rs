//! The units with which systemd starts the daemon.

use std::path::Path;

use quietcore_supervisor::places::{Places, RUN_VARIABLE, STATE_VARIABLE};

/// A unit of systemd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The daemon's process, with what it may do.
    Service,
    /// The sockets at which systemd listens for it.
    Socket,
}

impl Unit {
    /// Returns the text of the unit for a program at this path, with the folders of the caller.
    pub fn text(self, program: &Path, places: &Places) -> String {
        match self {
            Self::Service => service(program),
            Self::Socket => socket(&places.daemon_socket()),
        }
    }
}

fn service(program: &Path) -> String {
    let program = quoted(&program.display().to_string());
    let environment: String =
        [RUN_VARIABLE, STATE_VARIABLE].into_iter().filter_map(variable).collect();
    format!(
        "# The daemon of Quietcore as a service; see `quietcored unit socket` for its sockets.\n\
         #\n\
         #     quietcored unit service >/etc/systemd/system/quietcored.service\n\
         #     quietcored unit socket >/etc/systemd/system/quietcored.socket\n\
         #     systemctl daemon-reload\n\
         #     systemctl enable --now quietcored.socket\n\
         [Unit]\n\
         Description=Sites of Quietcore, served by gRPC\n\
         After=network.target\n\
         # One that can't start is not started for ever.\n\
         StartLimitIntervalSec=60\n\
         StartLimitBurst=5\n\
         \n\
         [Service]\n\
         Type=notify\n\
         {environment}\
         # Options of `quietcored` go here, such as `--page` and `--audit-years`.\n\
         ExecStart={program}\n\
         Restart=on-failure\n\
         RestartSec=1\n\
         # Sites that it has started go on without it.\n\
         KillMode=process\n\
         # Their real-time threads and locked memory, and the control groups of their containers.\n\
         LimitRTPRIO=99\n\
         LimitMEMLOCK=infinity\n\
         TasksMax=infinity\n\
         Delegate=yes\n\
         UMask=0077\n\
         # Sites inherit what follows. A file system of its own is not among it: what a site\n\
         # mounts or sets must be there for the command line, too.\n\
         NoNewPrivileges=yes\n\
         LockPersonality=yes\n\
         RestrictSUIDSGID=yes\n\
         SystemCallArchitectures=native\n\
         CapabilityBoundingSet=~CAP_SYS_BOOT CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_AUDIT_CONTROL\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n\
         Also=quietcored.socket\n"
    )
}

fn socket(path: &Path) -> String {
    let path = path.display().to_string().replace('%', "%%");
    format!(
        "# The sockets of the daemon of Quietcore: it starts with the first call, and calls wait\n\
         # while it starts anew; see `quietcored unit service`.\n\
         [Unit]\n\
         Description=Sockets of the daemon of Quietcore\n\
         \n\
         [Socket]\n\
         # This user and root may do everything by it.\n\
         ListenStream={path}\n\
         SocketMode=0600\n\
         DirectoryMode=0700\n\
         # For calls from the network by TLS, after `quietcore auth init`:\n\
         #ListenStream=10.1.2.3:7443\n\
         \n\
         [Install]\n\
         WantedBy=sockets.target\n"
    )
}

/// A line that sets a variable as the caller has it.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
    Some(format!("Environment={}\n", quoted(&format!("{name}={value}"))))
}

/// A word of a unit, quoted as systemd reads it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}
