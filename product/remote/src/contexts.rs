//! The file that names daemons: `$XDG_CONFIG_HOME/quietcore/contexts.toml`.
//!
//! ```toml
//! schema = "quietcore.contexts/1"
//! current = "plant7"                 # missing: this machine
//!
//! [context.plant7]
//! address = "plant7.example:7443"
//! access = "/access/plant7"       # the folder that `quietcore auth issue` has made
//! ```
//!
//! In place of `access` a context has `certificate`, `key` and `authority`, or `token_file` and
//! `authority`; one of a local socket (`unix:PATH`) has none. No secret is in the file.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::RemoteError;
use crate::target::{Credential, Target, is_address};

/// The most bytes of the file.
pub const FILE_BYTES_MAX: u64 = 64 << 10;
/// The most contexts that the file may name.
pub const CONTEXTS_MAX: usize = 100;
/// The longest name of a context, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// The name that stands for this machine.
pub const HERE: &str = "here";
const SCHEMA: &str = "quietcore.contexts/1";

/// A daemon, and the files by which both sides prove who they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// `HOST[:PORT]` or `unix:PATH`.
    pub address: String,
    /// Folder that `quietcore auth issue` has made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<PathBuf>,
    /// File with the client's certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// File with its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
    /// File with the certificate of the machine's authority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority: Option<PathBuf>,
    /// File with a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
}

impl Context {
    /// Returns the daemon that is meant.
    ///
    /// # Errors
    /// [`RemoteError::Address`] or [`RemoteError::NoCredential`] if files and address do not go
    /// together.
    pub fn target(&self) -> Result<Target, RemoteError> {
        let Self { address, access, certificate, key, authority, token_file } = self.clone();
        let authority_of = |access: &PathBuf| access.join("authority.pem");
        let credential = match (access, certificate, key, token_file, authority) {
            (Some(access), None, None, None, None) => Some(Credential::in_folder(&access)),
            (Some(access), None, None, Some(token_file), None) => {
                Some(Credential::Token { token_file, authority: authority_of(&access) })
            }
            (None, Some(certificate), Some(key), None, Some(authority)) => {
                Some(Credential::Certificate { certificate, key, authority })
            }
            (None, None, None, Some(token_file), Some(authority)) => {
                Some(Credential::Token { token_file, authority })
            }
            (None, None, None, None, None) => None,
            _ => return Err(RemoteError::NoCredential { address }),
        };
        Target::of(&address, credential)
    }
}

/// The fault of the file of contexts, or of a change of it.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// The file can't be read or written.
    #[error("`{}` can't be {action}", path.display())]
    Io {
        /// Path of the file of contexts.
        path: PathBuf,
        /// The attempt, as a participle.
        action: &'static str,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The content is none as it should be.
    #[error("{}:{line}: {problem}", path.display())]
    Content {
        /// Path of the file of contexts.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The fault and the remedy.
        problem: String,
    },
    /// A name can't be that of a context.
    #[error(
        "`{0}` is no name of a context; use up to {NAME_BYTES_MAX} letters, digits, `-`, `_` and \
         `.`, but not `{HERE}`, which is this machine"
    )]
    Name(String),
    /// There are too many.
    #[error("there are {CONTEXTS_MAX} contexts, which is the most; remove one first")]
    Full,
    /// There is one of that name.
    #[error("there is a context `{0}`; remove it first with `quietcore context remove {0}`")]
    Exists(String),
    /// There is none of that name.
    #[error("there is no context `{name}`; {known}")]
    None {
        /// Name that was asked for.
        name: String,
        /// Those that there are, or how to make one.
        known: String,
    },
    /// A context makes no target.
    #[error(transparent)]
    Target(#[from] RemoteError),
}

/// The daemons that have names, and the one that is used where none is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contexts {
    schema: String,
    /// Name of the one that is used; `None` is this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    #[serde(default, rename = "context")]
    by_name: BTreeMap<String, Context>,
}

impl Contexts {
    /// Returns the path of the file by the environment: `XDG_CONFIG_HOME`, else `HOME`.
    pub fn path() -> PathBuf {
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let config = absolute("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
        let home = || absolute("HOME").unwrap_or_else(|| PathBuf::from("/")).join(".config");
        config.unwrap_or_else(home).join("quietcore").join("contexts.toml")
    }

    /// Reads the file; there is none before the first context.
    ///
    /// # Errors
    /// [`ContextError::Content`] with its line, or [`ContextError::Io`]. A file that is not there,
    /// or that lies in a folder of another user, has none.
    pub fn read(path: &Path) -> Result<Self, ContextError> {
        let io = |source| ContextError::Io { path: path.to_owned(), action: "read", source };
        // A folder that is closed to this user, as the home of another one, holds none of theirs.
        let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        if fs::symlink_metadata(path).is_err_and(|error| is_closed(&error)) {
            return Ok(Self::default());
        }
        let mut text = String::new();
        match fs::File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(io(error)),
            Ok(file) => file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(io)?,
        };
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, ContextError> {
        let wrong = |line, problem| ContextError::Content { path: path.to_owned(), line, problem };
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(wrong(1, format!("it has more than {FILE_BYTES_MAX} bytes")));
        }
        let read: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().map_or("", |span| &text[..span.start.min(text.len())]);
            wrong(before.matches('\n').count() + 1, error.message().replace('\n', "; "))
        })?;
        let line_of = |words: &str| {
            text.lines().position(|line| line.contains(words)).map_or(1, |index| index + 1)
        };
        if read.schema != SCHEMA {
            let problem = format!("the schema is `{}`; this version reads `{SCHEMA}`", read.schema);
            return Err(wrong(line_of("schema"), problem));
        }
        if read.by_name.len() > CONTEXTS_MAX {
            return Err(wrong(1, ContextError::Full.to_string()));
        }
        for (name, context) in &read.by_name {
            let checked = check_name(name).and_then(|()| Ok(context.target().map(drop)?));
            checked.map_err(|error| wrong(line_of(name), error.to_string()))?;
        }
        if let Some(current) = read.current.as_ref().filter(|it| !read.by_name.contains_key(*it)) {
            return Err(wrong(line_of("current"), read.none(current).to_string()));
        }
        Ok(read)
    }

    /// Writes the file whole, for its owner alone.
    ///
    /// # Errors
    /// [`ContextError::Io`].
    pub fn write(&self, path: &Path) -> Result<(), ContextError> {
        let io = |source| ContextError::Io { path: path.to_owned(), action: "written", source };
        let owned = Self { schema: SCHEMA.to_owned(), ..self.clone() };
        let text = toml::to_string(&owned).expect("texts and paths of UTF-8 are TOML");
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(io)?;
        let new = folder.join(format!(".contexts-{}.toml", std::process::id()));
        let write = || {
            let mut file = fs::File::create(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, path)
        };
        write().map_err(io)
    }

    /// Returns the contexts by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Context)> {
        self.by_name.iter().map(|(name, context)| (name.as_str(), context))
    }

    /// Adds a context under a name that is free.
    ///
    /// # Errors
    /// [`ContextError`] for a name that is none or taken, and for one that can't be used.
    pub fn add(&mut self, name: &str, context: Context) -> Result<(), ContextError> {
        check_name(name)?;
        context.target()?;
        if self.by_name.contains_key(name) {
            return Err(ContextError::Exists(name.to_owned()));
        }
        if self.by_name.len() == CONTEXTS_MAX {
            return Err(ContextError::Full);
        }
        self.by_name.insert(name.to_owned(), context);
        Ok(())
    }

    /// Uses a context where none is named from now on; [`HERE`] uses this machine.
    ///
    /// # Errors
    /// [`ContextError::None`] if there is none.
    pub fn use_one(&mut self, name: &str) -> Result<(), ContextError> {
        if name != HERE && !self.by_name.contains_key(name) {
            return Err(self.none(name));
        }
        self.current = (name != HERE).then(|| name.to_owned());
        Ok(())
    }

    /// Removes a context; if it was used, this machine is.
    ///
    /// # Errors
    /// [`ContextError::None`] if there is none.
    pub fn remove(&mut self, name: &str) -> Result<(), ContextError> {
        self.by_name.remove(name).ok_or_else(|| self.none(name))?;
        self.current.take_if(|current| current == name);
        Ok(())
    }

    /// Returns the daemon that is meant: by the name of a context, or by an address, with the files
    /// of the context that has it. `None` is this machine.
    ///
    /// # Errors
    /// [`ContextError`] for what is neither, and for an address without anything to show there.
    pub fn target(&self, asked: Option<&str>) -> Result<Option<Target>, ContextError> {
        let Some(asked) = asked.or(self.current.as_deref()).filter(|asked| *asked != HERE) else {
            return Ok(None);
        };
        if let Some(context) = self.by_name.get(asked) {
            return Ok(Some(context.target()?));
        }
        let is_meant = |target: &Target| {
            target.address() == asked
                || matches!(target, Target::Network { host, .. } if host == asked)
        };
        let mut targets = self.by_name.values().filter_map(|context| context.target().ok());
        match targets.find(is_meant) {
            Some(target) => Ok(Some(target)),
            None if is_address(asked) && asked.contains([':', '.']) => {
                Ok(Some(Target::of(asked, None)?))
            }
            None => Err(self.none(asked)),
        }
    }

    fn none(&self, name: &str) -> ContextError {
        let known: Vec<String> = self.by_name.keys().map(|name| format!("`{name}`")).collect();
        let known = match known.is_empty() {
            true => {
                format!("`quietcore context add {name} --address HOST --access FOLDER` adds it")
            }
            false => format!("there are {}", known.join(", ")),
        };
        ContextError::None { name: name.to_owned(), known }
    }
}

fn check_name(name: &str) -> Result<(), ContextError> {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    let is_name = !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && name.chars().all(is_of_name)
        && !name.starts_with(['-', '.'])
        && name != HERE;
    if is_name { Ok(()) } else { Err(ContextError::Name(name.to_owned())) }
}

#[cfg(test)]
mod tests;
