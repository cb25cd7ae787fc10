//! The page as it was built in: what `npm run build` in `web/` has made before this program was
//! compiled, or else a page that says how to have one.

/// A file of the page.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: &'static str,
    pub(super) media_type: &'static str,
    pub(super) content: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Returns `true` if this daemon has the page, and not only a page that says how to have it.
pub fn is_built_in() -> bool {
    FILES.len() > 1
}

/// Returns the file at a path of the address.
pub(super) fn file(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_and_nothing_beside_it() {
        let page = file("/").expect("a page, whatever it says");
        assert!(page.content.starts_with(b"<!doctype html>"));
        assert!(page.media_type.starts_with("text/html"));
        for path in ["", "/../Cargo.toml", "/index.html/", "/session", "//"] {
            assert!(file(path).is_none(), "{path}");
        }
        assert_eq!(file("/app.js").is_some(), is_built_in());
    }
}
