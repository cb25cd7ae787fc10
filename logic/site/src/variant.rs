//! A site file in which a partition has another backend, and else is what it was.
//!
//! Only the keys `backend` and `guest` of that partition are written anew: comments, order and
//! everything else stay, so that the variants of a site differ in nothing else.

use toml_edit::{DocumentMut, Item, TableLike, TomlError, Value, value};

use crate::backend::Backend;
use crate::export::tables;
use crate::site::Accelerator;

/// The table of a guest's choices.
const GUEST: &str = "guest";

/// A change of a partition's backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackendChange {
    /// The backend that realises the partition.
    pub backend: Backend,
    /// The way in which a guest's instructions are run; `None` leaves what the file says. It is
    /// passed over by backends that leave no choice.
    pub accelerator: Option<Accelerator>,
}

impl BackendChange {
    /// Returns the text of a site file with a partition changed. A file without such a partition
    /// stays as it is. The choices of a guest are taken out where the backend leaves none.
    ///
    /// # Errors
    /// When the text is no TOML.
    pub fn apply(self, text: &str, partition: &str) -> Result<String, TomlError> {
        let mut document: DocumentMut = text.parse()?;
        if let Some(partitions) = document.get_mut("partition") {
            let is_named = |table: &&mut dyn TableLike| {
                table.get("name").and_then(Item::as_str) == Some(partition)
            };
            tables(partitions).filter(is_named).for_each(|table| self.change(table));
        }
        Ok(document.to_string())
    }

    fn change(self, partition: &mut dyn TableLike) {
        match partition.get_mut("backend").and_then(Item::as_value_mut) {
            Some(written) => replace(written, self.backend.name()),
            None => {
                partition.insert("backend", value(self.backend.name()));
            }
        }
        if !self.backend.declaration().has_guest_choice {
            partition.remove(GUEST);
            return;
        }
        if !self.backend.declaration().has_accelerator {
            drop_accelerator(partition);
            return;
        }
        let Some(accelerator) = self.accelerator else { return };
        let word = match accelerator {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg",
        };
        match partition.get_mut(GUEST).and_then(Item::as_table_like_mut) {
            Some(guest) => {
                guest.insert("accelerator", value(word));
            }
            None => {
                let guest = toml_edit::InlineTable::from_iter([("accelerator", word)]);
                partition.insert(GUEST, value(guest));
            }
        }
    }
}

/// Takes away how the guest's instructions are run, and `guest` with it where it says no more.
fn drop_accelerator(partition: &mut dyn TableLike) {
    let Some(guest) = partition.get_mut(GUEST).and_then(Item::as_table_like_mut) else { return };
    guest.remove("accelerator");
    if guest.is_empty() {
        partition.remove(GUEST);
    }
}

/// Returns the text of a site file in which the instructions of all guests are run in this way,
/// where their backend leaves the choice.
///
/// # Errors
/// When the text is no TOML.
pub fn with_accelerator(text: &str, accelerator: Accelerator) -> Result<String, TomlError> {
    let mut document: DocumentMut = text.parse()?;
    if let Some(partitions) = document.get_mut("partition") {
        for partition in tables(partitions) {
            let written = partition.get("backend").and_then(Item::as_str);
            let backend = written.and_then(Backend::by_name).unwrap_or_default();
            if backend.declaration().has_accelerator {
                BackendChange { backend, accelerator: Some(accelerator) }.change(partition);
            }
        }
    }
    Ok(document.to_string())
}

/// Replaces a value; what stands around it, such as a comment behind it, belongs to it.
fn replace(written: &mut Value, word: &str) {
    let around = written.decor().clone();
    *written = word.into();
    *written.decor_mut() = around;
}

#[cfg(test)]
mod tests {
    use quietcore_record::class::catalogue;

    use super::*;
    use crate::read;

    const TEXT: &str = "[site]\nname = \"s\"\n[[partition]]\nname = \"axis\" # mine\nclass = \
                        \"motion-control\"\nbackend = \"qemu\" # now\n[partition.guest]\n\
                        accelerator = \"tcg\"\n[partition.vcr]\ncpus = [1]\n";

    fn changed(text: &str, backend: Backend, accelerator: Option<Accelerator>) -> String {
        BackendChange { backend, accelerator }.apply(text, "axis").unwrap()
    }

    /// Goal: what another backend would refuse goes, and nothing else changes.
    #[test]
    fn a_partition_changes_its_backend_and_nothing_else() {
        let process = changed(TEXT, Backend::Process, Some(Accelerator::Tcg));
        let expected = TEXT
            .replace("\"qemu\" # now", "\"process\" # now")
            .replace("[partition.guest]\naccelerator = \"tcg\"\n", "");
        assert_eq!(process, expected);
        // And back: the choice is written where it is asked for.
        let qemu = changed(&process, Backend::Qemu, Some(Accelerator::Tcg));
        for text in [&process, &qemu] {
            let site = read("s.toml", text.as_bytes(), &catalogue());
            assert!(site.is_ok(), "{text}\n{}", site.unwrap_err());
        }
        let site = read("s.toml", qemu.as_bytes(), &catalogue()).unwrap();
        let axis = &site.partitions()[0];
        assert_eq!((axis.backend, axis.accelerator), (Backend::Qemu, Accelerator::Tcg));
        assert_eq!(changed(TEXT, Backend::Qemu, None), TEXT);
        // Linux moves from QEMU to Xen, which has no choice of how instructions are run.
        let linux = "system = \"linux\"\nimage = \"g\"\n";
        let text =
            TEXT.replace("accelerator = \"tcg\"\n", &format!("accelerator = \"tcg\"\n{linux}"));
        let xen = changed(&text, Backend::Xen, None);
        let expected = TEXT.replace("\"qemu\" # now", "\"xen\" # now");
        assert_eq!(xen, expected.replace("accelerator = \"tcg\"\n", linux));
        let own = expected.replace("[partition.guest]\naccelerator = \"tcg\"\n", "");
        assert_eq!(changed(TEXT, Backend::Xen, None), own, "nothing is left to say");
    }

    #[test]
    fn every_guest_with_a_choice_is_emulated_and_nothing_else_changes() {
        let guest = TEXT.replace("accelerator = \"tcg\"", "");
        let text = format!(
            "{guest}[[partition]]\nname = \"other\"\nclass = \"motion-control\"\n[partition.vcr]\n\
             cpus = [2]\n"
        );
        let changed = with_accelerator(&text, Accelerator::Tcg).unwrap();
        assert_eq!(changed.matches("tcg").count(), 1, "{changed}");
        let site = read("s.toml", changed.as_bytes(), &catalogue()).unwrap();
        assert_eq!(site.partitions()[0].accelerator, Accelerator::Tcg);
        assert_eq!(site.partitions()[1].backend, Backend::Process);
        assert_eq!(with_accelerator(&changed, Accelerator::Tcg).unwrap(), changed);
        assert!(with_accelerator("partition = ", Accelerator::Tcg).is_err());
    }

    #[test]
    fn a_partition_without_the_key_gets_it_and_others_stay() {
        let text = "[site]\nname = \"s\"\n[[partition]]\nname = \"axis\"\n[[partition]]\nname = \
                    \"other\"\n";
        let changed = changed(text, Backend::Container, None);
        assert_eq!(changed, text.replace("axis\"\n", "axis\"\nbackend = \"container\"\n"));
        let change = BackendChange { backend: Backend::Kvm, accelerator: None };
        assert_eq!(change.apply(text, "nobody").unwrap(), text);
        assert!(change.apply("partition = ", "axis").is_err());
    }
}
