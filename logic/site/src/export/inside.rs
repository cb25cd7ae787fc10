//! The site file as it is inside of an exported container.
//!
//! A partition whose backend is a container is there a process of the one that Podman or Kubernetes
//! starts. Only that key is written anew: comments, order and everything else stay as they are.

use toml_edit::{DocumentMut, Item, TableLike, TomlError, Value};

use crate::backend::Backend;

/// The text of a site file in which each partition has the backend that it has within a container.
pub(super) fn site_file(text: &str) -> Result<String, TomlError> {
    let mut document: DocumentMut = text.parse()?;
    if let Some(partitions) = document.get_mut("partition") {
        tables(partitions).for_each(to_within);
    }
    Ok(document.to_string())
}

/// The tables of an array, in either notation.
pub(crate) fn tables(item: &mut Item) -> Box<dyn Iterator<Item = &mut dyn TableLike> + '_> {
    match item {
        Item::ArrayOfTables(tables) => {
            Box::new(tables.iter_mut().map(|table| table as &mut dyn TableLike))
        }
        Item::Value(Value::Array(values)) => {
            let inline = values.iter_mut().filter_map(Value::as_inline_table_mut);
            Box::new(inline.map(|table| table as &mut dyn TableLike))
        }
        _ => Box::new(std::iter::empty()),
    }
}

fn to_within(partition: &mut dyn TableLike) {
    let Some(value) = partition.get_mut("backend").and_then(Item::as_value_mut) else { return };
    let Some(backend) = value.as_str().and_then(Backend::by_name) else { return };
    let within = backend.declaration().within_container;
    if within != backend {
        // What stands around a value, such as a comment behind it, belongs to it.
        let around = value.decor().clone();
        *value = within.name().into();
        *value.decor_mut() = around;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_backend_of_a_partition_is_changed() {
        let text = r#"# backend = "container" here is a remark
[site]
name = "press" # its name
description = """
backend = "container"
"""

[[partition]]
  backend   =   'container'   # in runc
name="axis"
[partition.vcr]
cpus = [ 1,
  2 ]

[[partition]]
backend = "kvm"
[[partition]]
"backend" = "container"
[other]
backend = "container"
"#;
        let expected = text
            .replace("=   'container'   #", "=   \"process\"   #")
            .replace("\"backend\" = \"container\"", "\"backend\" = \"process\"");
        assert_eq!(site_file(text).unwrap(), expected);
        let inline = "partition = [{ name = \"a\", backend = \"container\" }, # first\n]\n";
        assert_eq!(site_file(inline).unwrap(), inline.replace("container", "process"));
        let same = "[[partition]]\r\nname = \"a\"\r\n";
        assert_eq!(site_file(same).unwrap(), same.replace('\r', ""), "lines end as on Linux");
        assert!(site_file("partition = ").is_err());
    }
}
