//! Contexts: written, read, refused with their place.

use super::*;

fn plant7() -> Context {
    Context {
        address: "plant7.example".to_owned(),
        access: Some("/access/plant7".into()),
        ..Context::default()
    }
}

fn refused(text: &str) -> String {
    Contexts::parse(Path::new("contexts.toml"), text).unwrap_err().to_string()
}

#[test]
fn what_is_written_is_read_and_the_one_in_use_is_meant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quietcore/contexts.toml");
    let mut contexts = Contexts::read(&path).unwrap();
    assert_eq!(contexts.target(None).unwrap(), None);
    contexts.add("plant7", plant7()).unwrap();
    contexts.use_one("plant7").unwrap();
    contexts.write(&path).unwrap();
    let read = Contexts::read(&path).unwrap();
    let target = read.target(None).unwrap().unwrap();
    assert_eq!(target.address(), "plant7.example:7443");
    for same in ["plant7", "plant7.example", "plant7.example:7443"] {
        assert_eq!(read.target(Some(same)).unwrap().as_ref(), Some(&target), "{same}");
    }
    assert_eq!(read.target(Some(HERE)).unwrap(), None);
    let mut read = read;
    read.remove("plant7").unwrap();
    assert_eq!(read.target(None).unwrap(), None, "the one in use is gone");
}

#[test]
fn a_name_that_is_not_known_and_an_address_without_credentials_say_what_to_do() {
    let mut contexts = Contexts::default();
    let none = contexts.target(Some("plant8")).unwrap_err().to_string();
    assert!(none.contains("quietcore context add plant8"), "{none}");
    let bare = contexts.target(Some("10.1.2.3")).unwrap_err().to_string();
    assert!(bare.contains("nothing says who calls"), "{bare}");
    contexts.add("plant7", plant7()).unwrap();
    assert!(matches!(contexts.add("plant7", plant7()), Err(ContextError::Exists(_))));
    for name in ["", "here", "a/b", "-x", "..", "a\nb", "é", &"x".repeat(NAME_BYTES_MAX + 1)] {
        assert!(matches!(contexts.add(name, plant7()), Err(ContextError::Name(_))), "{name}");
    }
    let both = Context { token_file: Some("t".into()), key: Some("k".into()), ..plant7() };
    assert!(contexts.add("both", both).is_err());
    for number in 1..CONTEXTS_MAX {
        contexts.add(&format!("p{number}"), plant7()).unwrap();
    }
    assert!(matches!(contexts.add("more", plant7()), Err(ContextError::Full)));
}

#[test]
fn a_file_that_is_none_is_refused_with_its_line() {
    let head = "schema = \"quietcore.contexts/1\"\n";
    let told = refused("schema = \"quietcore.contexts/2\"\n");
    assert!(told.starts_with("contexts.toml:1: the schema is"), "{told}");
    let told = refused(&format!("{head}[context.a]\naddress = \"x.y\"\ntoken = \"secret\"\n"));
    assert!(told.starts_with("contexts.toml:4: unknown field `token`"), "{told}");
    let told = refused(&format!("{head}current = \"b\"\n"));
    assert!(told.starts_with("contexts.toml:2: there is no context `b`"), "{told}");
    let told = refused(&format!("{head}[context.plant9]\naddress = \"a b\"\n"));
    assert!(told.starts_with("contexts.toml:2: `a b` is no address"), "{told}");
    let long = format!("{head}#{}", "x".repeat(FILE_BYTES_MAX as usize));
    assert!(refused(&long).contains("more than 65536 bytes"));
}
