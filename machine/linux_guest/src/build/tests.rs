//! Images of a kernel that is none, which is all that a builder need not know.

use std::os::unix::fs::symlink;

use super::*;
use crate::image::Image;

const BANNER: &str = "6.1.0-9-rt-amd64 (d@debian.org) #1 SMP PREEMPT_RT Debian 6.1.27-1 (2023)";

fn kernel(folder: &Path) -> Kernel {
    let mut image = vec![0; 0x400];
    image[0x20E..0x210].copy_from_slice(&0x100_u16.to_le_bytes());
    image[0x300..0x300 + BANNER.len()].copy_from_slice(BANNER.as_bytes());
    let path = folder.join("vmlinuz");
    fs::write(&path, image).expect("a file");
    let modules = folder.join("modules");
    fs::create_dir_all(modules.join("kernel")).expect("a folder");
    let built_in = MODULES.iter().map(|name| format!("kernel/{name}.ko\n"));
    fs::write(modules.join("modules.builtin"), built_in.collect::<String>()).expect("a file");
    Kernel { package: "linux-image-6.1.0-9-rt-amd64".to_owned(), image: path, modules }
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let kernel = kernel(scratch.path());
    let runtime = std::env::current_exe().expect("this test's program");
    let [first, second] = ["first", "second"].map(|name| {
        let folder = scratch.path().join(name);
        let built = build(&kernel, &runtime, "a test", &folder).expect("an image");
        assert_eq!(Image::open(&folder).expect("an image").description, built);
        built
    });
    assert_eq!(first, second);
    assert_eq!(first.kernel, BANNER);
    let bill = fs::read_to_string(scratch.path().join("first/bom.cdx.json")).expect("a bill");
    assert!(bill.contains("pkg:deb/debian/linux-image-6.1.0-9-rt-amd64@6.1.27-1?arch=amd64"));
    assert!(bill.contains("libc.so.6") && bill.contains("\"/init\""), "{bill}");
}

#[test]
fn only_an_image_is_replaced() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let kernel = kernel(scratch.path());
    let runtime = std::env::current_exe().expect("this test's program");
    let folder = scratch.path().join("image");
    fs::create_dir(&folder).expect("a folder");
    build(&kernel, &runtime, "a test", &folder).expect("an empty folder is free");
    build(&kernel, &runtime, "another", &folder).expect("an image may be replaced");
    let own = scratch.path().join("own");
    fs::create_dir(&own).expect("a folder");
    fs::write(own.join("thesis.txt"), "the only copy").expect("a file");
    let refused = build(&kernel, &runtime, "a test", &own).expect_err("it is no image");
    assert!(refused.to_string().contains("is no image of a guest"), "{refused}");
    assert!(own.join("thesis.txt").exists());
    let left = fs::read_dir(scratch.path()).expect("a folder").count();
    assert_eq!(left, 4, "the kernel, its modules, the image and that folder");
}

#[test]
fn a_kernel_that_says_nothing_of_itself_is_known_by_its_package() {
    assert_eq!(banner(b"MZ"), None);
    assert_eq!(banner(&[0xFF; 0x400]), None);
    assert_eq!(version("6.1 of our own"), None);
    let scratch = tempfile::tempdir().expect("a scratch folder");
    symlink("nowhere", scratch.path().join("runtime")).expect("a link");
    let refused = stripped(&scratch.path().join("runtime")).expect_err("there is no program");
    assert!(refused.to_string().contains("can't be used"), "{refused}");
}
