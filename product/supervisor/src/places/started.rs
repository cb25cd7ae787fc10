//! The origin of a site: the user, folder and terminal that started it.
//!
//! All of it is for people to read, and for one decision: whether a user who names no site can mean
//! one that was started elsewhere. It grants nothing; the folders' owner and mode decide what a
//! user may do. What can't be read is left out.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use quietcore_host::Source;
use quietcore_host::running_partitions::user_name;
use rustix::process::{geteuid, getppid};
use serde::{Deserialize, Serialize};

/// Limit of the processes looked at between this one and the command that started it.
const ANCESTORS_MAX: usize = 4;
/// Content of `loginuid` where nobody has logged in.
const NOBODY: u32 = u32::MAX;
/// The major device numbers of terminals: of the console and serial ones, and of `pts`.
const CONSOLES: u32 = 4;
const PSEUDO_TERMINALS: std::ops::RangeInclusive<u32> = 136..=143;
/// Number of minor device numbers for each major one of `pts`.
const PSEUDO_TERMINALS_EACH: u32 = 256;

/// The user who started a site, with folder, terminal and command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedBy {
    /// User that the process belongs to.
    pub user: String,
    /// User who has logged in, if that is another one, as with `sudo`.
    pub login: Option<String>,
    /// Working folder at the start.
    pub folder: Option<PathBuf>,
    /// Terminal, such as `pts/3`.
    pub terminal: Option<String>,
    /// Number of the session that the terminal belongs to.
    pub session: Option<i32>,
    /// Command that has started it, such as `bash`.
    pub command: Option<String>,
    /// Service of systemd that it is part of.
    pub service: Option<String>,
}

impl StartedBy {
    /// Describes the origin of this process.
    pub fn this_process() -> Self {
        let user = geteuid().as_raw();
        let source = Source::live();
        let login = logged_in().filter(|login| *login != user);
        let own = Process::read("self").unwrap_or_default();
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self {
            user: user_name(&source, user),
            login: login.map(|login| user_name(&source, login)),
            folder: std::env::current_dir().ok(),
            terminal: terminal(own.terminal),
            session: Some(own.session).filter(|session| *session > 0),
            command: command(&own.name),
            service: service(&groups),
        }
    }

    /// Returns `true` if somebody `here` can mean this site without naming it: it was started by
    /// the same user, in the same working folder or in the same session of a terminal.
    pub fn is_from(&self, here: &Self) -> bool {
        let same_folder = self.folder.is_some() && self.folder == here.folder;
        let same_terminal = self.terminal.is_some()
            && (&self.terminal, self.session) == (&here.terminal, here.session);
        (&self.user, &self.login) == (&here.user, &here.login) && (same_folder || same_terminal)
    }
}

/// Writes a text such as `anna as root in terminal pts/3 (bash), from /sites`.
impl fmt::Display for StartedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.login {
            Some(login) => write!(f, "{login} as {}", self.user)?,
            None => f.write_str(&self.user)?,
        }
        match (&self.terminal, &self.service) {
            (Some(terminal), _) => write!(f, " in terminal {terminal}")?,
            (None, Some(service)) => write!(f, " in service {service}")?,
            (None, None) => f.write_str(" without a terminal")?,
        }
        if let Some(command) = &self.command {
            write!(f, " ({command})")?;
        }
        if let Some(folder) = &self.folder {
            write!(f, ", from {}", folder.display())?;
        }
        Ok(())
    }
}

/// A process as the kernel describes it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Process {
    name: String,
    parent: u32,
    /// Number of its session; 0 if that began outside of this PID namespace.
    session: i32,
    /// Device number of its terminal; 0 without one.
    terminal: u32,
}

impl Process {
    fn read(number: &str) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{number}/stat")).ok()?)
    }

    /// Parses `NUMBER (NAME) STATE PARENT GROUP SESSION TERMINAL …`; a name may contain anything.
    fn parse(stat: &str) -> Option<Self> {
        let (before, after) = stat.rsplit_once(") ")?;
        let (_, name) = before.split_once('(')?;
        let mut fields = after.split(' ').skip(1);
        let parent = fields.next()?.parse().ok()?;
        let session = fields.nth(1)?.parse().ok()?;
        let terminal = fields.next()?.parse::<i32>().ok()?.cast_unsigned();
        Some(Self { name: name.to_owned(), parent, session, terminal })
    }
}

/// Returns the command that started this process, whose name is `own`: the nearest ancestor of
/// another name, since `up --detach` starts itself once more.
fn command(own: &str) -> Option<String> {
    let mut number = getppid()?.as_raw_nonzero().get().cast_unsigned();
    for _ in 0..ANCESTORS_MAX {
        let process = Process::read(&number.to_string())?;
        if process.name != own {
            return Some(process.name);
        }
        number = process.parent;
    }
    None
}

/// Returns the name of a terminal by its device number; `None` for 0 and for devices of other
/// kinds.
fn terminal(device: u32) -> Option<String> {
    let major = (device >> 8) & 0xfff;
    let minor = (device & 0xff) | ((device >> 12) & 0xf_ff00);
    match major {
        CONSOLES if minor < 64 => Some(format!("tty{minor}")),
        CONSOLES => Some(format!("ttyS{}", minor - 64)),
        major if PSEUDO_TERMINALS.contains(&major) => {
            let before = (major - PSEUDO_TERMINALS.start()) * PSEUDO_TERMINALS_EACH;
            Some(format!("pts/{}", before + minor))
        }
        _ => None,
    }
}

/// Returns the user who has logged in, even if they have become another one since; `None` if nobody
/// has.
fn logged_in() -> Option<u32> {
    let text = fs::read_to_string("/proc/self/loginuid").ok();
    let number = text.and_then(|text| text.trim().parse().ok()).filter(|it| *it != NOBODY);
    // Containers have no login; `sudo` says who called it.
    number.or_else(|| std::env::var("SUDO_UID").ok()?.parse().ok())
}

/// Returns the service that this process is part of, from the groups in `/proc/self/cgroup`.
/// Whatever a person starts at a desk is in a scope instead.
fn service(groups: &str) -> Option<String> {
    let names = groups.lines().filter_map(|line| line.rsplit('/').next());
    names.filter(|name| name.ends_with(".service")).map(str::to_owned).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anna() -> StartedBy {
        StartedBy {
            user: "root".to_owned(),
            login: Some("anna".to_owned()),
            folder: Some("/sites".into()),
            terminal: Some("pts/3".to_owned()),
            session: Some(900),
            command: Some("bash".to_owned()),
            service: None,
        }
    }

    #[test]
    fn the_same_folder_or_terminal_of_the_same_user_is_here() {
        let here = anna();
        assert!(here.is_from(&here));
        let elsewhere = StartedBy { folder: Some("/other".into()), ..anna() };
        assert!(elsewhere.is_from(&here), "the same terminal");
        let later = StartedBy { session: Some(901), terminal: None, ..anna() };
        assert!(later.is_from(&here), "the same folder");
        assert!(!StartedBy { session: Some(901), ..elsewhere.clone() }.is_from(&here));
        let service = StartedBy { folder: None, terminal: None, ..anna() };
        assert!(!service.is_from(&service), "nothing says that it is the same");
        assert!(!StartedBy { login: None, ..anna() }.is_from(&here));
        assert!(!StartedBy { user: "otto".to_owned(), ..anna() }.is_from(&here));
    }

    #[test]
    fn it_is_said_as_far_as_it_is_known() {
        assert_eq!(anna().to_string(), "anna as root in terminal pts/3 (bash), from /sites");
        let mut service = StartedBy { login: None, terminal: None, command: None, ..anna() };
        service.service = Some("press.service".to_owned());
        assert_eq!(service.to_string(), "root in service press.service, from /sites");
        let unknown = StartedBy { service: None, folder: None, ..service };
        assert_eq!(unknown.to_string(), "root without a terminal");
    }

    #[test]
    fn what_the_kernel_says_is_understood() {
        let stat = "4700 (a) b (c)) S 4600 4700 900 34819 4700 0";
        let process = Process::parse(stat).unwrap();
        let (name, session) = ("a) b (c)".to_owned(), 900);
        assert_eq!(process, Process { name, parent: 4600, session, terminal: 34_819 });
        assert_eq!(terminal(process.terminal).as_deref(), Some("pts/3"));
        assert_eq!(terminal((137 << 8) | 1).as_deref(), Some("pts/257"));
        assert_eq!(terminal((4 << 8) | 64).as_deref(), Some("ttyS0"));
        assert_eq!(terminal(0), None);
        // It began outside of its PID namespace, as in a container.
        let outside = Process::parse("7 (sh) S 0 0 0 0 -1 4194560").unwrap();
        assert_eq!((outside.parent, outside.session, outside.terminal), (0, 0, 0));
        assert_eq!(Process::parse("1 (x"), None);
        assert_eq!(service("0::/system.slice/press.service\n").as_deref(), Some("press.service"));
        assert_eq!(service("0::/user.slice/user@1.service/app.slice/shell.scope\n"), None);
        assert_eq!(service("0::/\n"), None);
    }

    #[test]
    fn this_process_was_started_here() {
        let here = StartedBy::this_process();
        assert!(here.is_from(&StartedBy::this_process()), "{here:?}");
        assert!(here.command.is_some(), "{here:?}");
    }
}
