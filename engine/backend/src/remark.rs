//! What a partition's process says to people: lines on descriptor 2, which its host keeps.

use std::fmt;
use std::io::{self, Write};

/// Says a line. Where nobody listens any more nothing is said, and nobody panics for that.
pub(crate) fn remark(text: fmt::Arguments<'_>) {
    remark_to(&mut io::stderr().lock(), text);
}

/// In one piece, so that nobody reads half of it.
fn remark_to(out: &mut impl Write, text: fmt::Arguments<'_>) {
    // There is nobody to be told.
    let _ = out.write_all(format!("{text}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a number of writes, and is closed then.
    struct Pipe(Vec<Vec<u8>>, usize);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.len() >= self.1 {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_remark_comes_in_one_piece_and_is_lost_where_the_pipe_is_closed() {
        let mut pipe = Pipe(Vec::new(), 1);
        remark_to(&mut pipe, format_args!("build {} is refused: {}", 7, "why"));
        remark_to(&mut pipe, format_args!("nobody hears this"));
        assert_eq!(pipe.0, [b"build 7 is refused: why\n".to_vec()]);
    }
}
