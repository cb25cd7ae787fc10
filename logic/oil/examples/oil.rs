//! Reads an OIL file, and prints what is wrong with it or what is made of it.
//!
//! Usage: `cargo run -p quietcore-oil --example oil -- FILE [header|source|rust|oil]`

use std::path::Path;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let file = arguments.first().expect("name an OIL file");
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let folder = Path::new(file).parent().map(Path::to_path_buf).unwrap_or_default();
    let mut include =
        |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    match quietcore_oil::read(file, &text, &mut include) {
        Err(problems) => eprintln!("{problems}"),
        Ok(configuration) => {
            for remark in configuration.remarks() {
                eprintln!("remark: {remark}");
            }
            match arguments.get(1).map(String::as_str) {
                Some("header") => print!("{}", quietcore_oil::header(&configuration)),
                Some("rust") => print!("{}", quietcore_oil::rust(&configuration)),
                Some("oil") => print!("{}", quietcore_oil::oil(&configuration)),
                Some("source") => print!("{}", quietcore_oil::source(&configuration)),
                _ => println!("{configuration:#?}"),
            }
        }
    }
}
