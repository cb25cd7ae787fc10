//! Devices of ESI files by their types, as a cabinet's drawing names them.

use std::collections::BTreeSet;
use std::path::Path;

use quietcore_esi::Device;
use quietcore_wording::{alike, either, folded, plural};

use super::{Library, told, unusable};

/// Most types that a message names.
const NAMED_MAX: usize = 20;

/// A device that is looked for: its type, such as `EL3104`, and its revision where that is given,
/// `EL3104@0x00140000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted<'n> {
    type_name: &'n str,
    revision: Option<u32>,
}

impl<'n> Wanted<'n> {
    fn of(name: &'n str) -> Self {
        let hexadecimal = |text: &str| u32::from_str_radix(text.strip_prefix("0x")?, 16).ok();
        let parts = name.rsplit_once('@');
        let parts = parts.and_then(|(type_name, text)| Some((type_name, hexadecimal(text)?)));
        match parts {
            Some((type_name, revision)) => Self { type_name, revision: Some(revision) },
            None => Self { type_name: name, revision: None },
        }
    }
}

/// The reason why no device is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotMeant {
    /// No device of this type can be used.
    #[error("{0}")]
    Unknown(String),
    /// The type is there, and what is asked for is not, or is several.
    #[error("{0}")]
    Unclear(String),
}

/// The devices of ESI files that are looked for.
#[derive(Debug)]
pub struct Catalogue(Library);

impl Catalogue {
    /// Reads the devices of these types, `TYPE` or `TYPE@REVISION`, in ESI files and in folders of
    /// them. Letters' case and the signs between words do not count.
    ///
    /// # Errors
    /// A message that names the path: a file can't be read, or is none, or there are too many.
    pub fn read<'n>(
        esi: &[String],
        types: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, String> {
        let types: BTreeSet<_> =
            types.into_iter().map(|name| folded(Wanted::of(name).type_name)).collect();
        let is_wanted = |_, _: Option<u32>, type_name: &str| types.contains(&folded(type_name));
        let library = Library::read(esi, Path::new(""), &is_wanted);
        Ok(Self(library.map_err(|(_, why)| why)?))
    }

    /// The device of this type, of its latest revision where none is given.
    ///
    /// # Errors
    /// [`NotMeant`]
    pub fn device(&self, name: &str) -> Result<&Device, NotMeant> {
        let wanted = Wanted::of(name);
        let is_meant = |type_name: &str| folded(type_name) == folded(wanted.type_name);
        let of_type: Vec<_> =
            self.0.devices.iter().filter(|(_, it)| is_meant(&it.type_name)).collect();
        let revisions: BTreeSet<u32> = of_type.iter().map(|(_, it)| it.identity.revision).collect();
        let left_out = self.0.left_out.iter().filter(|(_, it)| is_meant(&it.type_name));
        let left_out: Vec<_> = left_out.map(told).collect();
        let Some(latest) = revisions.last() else {
            return Err(NotMeant::Unknown(self.none(wanted.type_name, &left_out)));
        };
        let all = either(revisions.iter().map(|one| format!("{one:#010x}")));
        if wanted.revision.is_none() && !left_out.is_empty() {
            return Err(NotMeant::Unclear(format!(
                "the latest revision of `{}` may be one that can't be used; name one, such as \
                 `{name}@{latest:#010x}`, of {all}{}",
                wanted.type_name,
                unusable(&left_out)
            )));
        }
        let revision = wanted.revision.unwrap_or(*latest);
        let meant: Vec<_> =
            of_type.iter().filter(|(_, it)| it.identity.revision == revision).collect();
        let [(first_file, first), others @ ..] = meant.as_slice() else {
            return Err(NotMeant::Unclear(format!(
                "`{}` has no revision {revision:#010x}; it has {all}{}",
                wanted.type_name,
                unusable(&left_out)
            )));
        };
        match others.iter().find(|(_, it)| it != first) {
            None => Ok(first),
            Some((file, _)) if file == first_file => Err(NotMeant::Unclear(format!(
                "`{}` describes `{}` of revision {revision:#010x} in two ways",
                file.display(),
                wanted.type_name
            ))),
            Some((file, _)) => Err(NotMeant::Unclear(format!(
                "`{}` of revision {revision:#010x} is described differently in `{}` and in `{}`; \
                 leave one of them out",
                wanted.type_name,
                first_file.display(),
                file.display()
            ))),
        }
    }

    fn none(&self, type_name: &str, left_out: &[String]) -> String {
        let types = &self.0.types;
        let like = alike(type_name, types.iter().map(String::as_str));
        let known = match (types.len(), like.is_empty()) {
            (0..=NAMED_MAX, _) | (_, true) => types.iter().take(NAMED_MAX).cloned().collect(),
            _ => like,
        };
        let count = types.len();
        let known = match known.is_empty() {
            true => String::new(),
            false => format!(", such as {}", either(known)),
        };
        let unreadable = match self.0.unreadable.len() {
            0 => String::new(),
            files => format!("; {files} file{} can't be read", plural(files as u64)),
        };
        format!(
            "the ESI files have no device `{type_name}` that can be used; they have {count} \
             type{}{known}{}{unreadable}",
            plural(count as u64),
            unusable(left_out)
        )
    }
}
