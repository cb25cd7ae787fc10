//! Takes the page's files into the program, if they were built: `web/` has how.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Folder of the built page, as seen from this package.
const FOLDER: &str = "../../web/dist";
/// The page's files: the name of each, its path in an address, and its media type.
const FILES: [(&str, &str, &str); 3] = [
    ("index.html", "/", "text/html; charset=utf-8"),
    ("app.js", "/app.js", "text/javascript; charset=utf-8"),
    ("app.css", "/app.css", "text/css; charset=utf-8"),
];
/// The file that says how to have a page.
const WITHOUT: &str = "src/page/without.html";

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let folder = here.join(FOLDER);
    println!("cargo:rerun-if-changed={FOLDER}");
    println!("cargo:rerun-if-changed={WITHOUT}");
    let built = FILES.iter().all(|(name, ..)| folder.join(name).is_file());
    let files = match built {
        true => FILES.map(|(name, path, kind)| (folder.join(name), path, kind)).to_vec(),
        false => vec![(here.join(WITHOUT), FILES[0].1, FILES[0].2)],
    };
    let mut source = "const FILES: &[File] = &[\n".to_owned();
    for (file, path, kind) in files {
        let file = file.canonicalize()?;
        write_file(&mut source, &file, path, kind)?;
    }
    source.push_str("];\n");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("page.rs"), source)?;
    Ok(())
}

fn write_file(source: &mut String, file: &Path, path: &str, kind: &str) -> std::fmt::Result {
    let content = format!("include_bytes!({file:?})");
    writeln!(source, "    File {{ path: {path:?}, media_type: {kind:?}, content: {content} }},")
}
