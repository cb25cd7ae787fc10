//! Folders that are images, and folders that are none.

use super::*;

fn folder(change: impl FnOnce(&mut Description)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut files = BTreeMap::new();
    for (name, content) in [(KERNEL, "a kernel"), (INITRAMFS, "its files")] {
        fs::write(folder.path().join(name), content).expect("a file");
        files.insert(name.to_owned(), FileMark::of(content.as_bytes()));
    }
    let mut description = Description {
        version: VERSION,
        made_by: "a test".to_owned(),
        kernel_package: "linux-image".to_owned(),
        kernel: "6.1".to_owned(),
        files,
    };
    change(&mut description);
    let text = serde_json::to_vec(&description).expect("plain data");
    fs::write(folder.path().join(DESCRIPTION), text).expect("a file");
    folder
}

fn refusal(folder: &Path) -> String {
    Image::open(folder).expect_err("it is no image").to_string()
}

#[test]
fn an_image_is_what_its_description_says() {
    let folder = folder(|_| {});
    let image = Image::open(folder.path()).expect("an image");
    assert_eq!(image.kernel, folder.path().join("vmlinuz"));
    assert_eq!(image.description.kernel, "6.1");
    let text = fs::read(folder.path().join(DESCRIPTION)).expect("it is there");
    assert_eq!(image.sha256, FileMark::of(&text).sha256);
}

#[test]
fn a_file_that_was_changed_is_refused() {
    let changed = folder(|_| {});
    fs::write(changed.path().join(KERNEL), "A kernel").expect("a file");
    assert!(refusal(changed.path()).contains("vmlinuz` is not the file"), "same size");
    fs::write(changed.path().join(KERNEL), "longer than before").expect("a file");
    assert!(refusal(changed.path()).contains("18 bytes, and not 8"));
    fs::remove_file(changed.path().join(INITRAMFS)).expect("it is there");
    fs::write(changed.path().join(KERNEL), "a kernel").expect("a file");
    assert!(refusal(changed.path()).contains("guest build"));
}

#[test]
fn a_description_of_something_else_is_refused() {
    let nothing = tempfile::tempdir().expect("a scratch folder");
    assert!(refusal(nothing.path()).contains("guest.json` can't be read"));
    let older = folder(|it| it.version = 77);
    assert!(refusal(older.path()).contains("version 77"));
    let poor = folder(|it| it.files.clear());
    assert!(refusal(poor.path()).contains("names no `vmlinuz`"));
    fs::write(nothing.path().join(DESCRIPTION), "{}").expect("a file");
    assert!(refusal(nothing.path()).contains("missing field"));
    let long = vec![b' '; DESCRIPTION_BYTES_MAX as usize + 1];
    fs::write(nothing.path().join(DESCRIPTION), long).expect("a file");
    assert!(refusal(nothing.path()).contains("more than"));
}
