//! How deep a body nests, found without parsing it: a parser that recurses is kept from ever seeing too deep a one.

/// Whether `body` opens more than `limit` arrays and objects inside each other.
pub(crate) fn exceeds(body: &[u8], limit: usize) -> bool {
    // Nothing can nest deeper than there are brackets, and counting is many times quicker than scanning.
    count_openings(body) > limit && scan(body, limit)
}

/// `{` and `[`, and nothing else, are this with the bit set in which they differ.
const OPENING: u8 = b'{';
const DIFFERING_BIT: u8 = b'{' ^ b'[';

/// Counts in pieces whose count fits into a byte, so that the compiler does it for many bytes at a time.
fn count_openings(body: &[u8]) -> usize {
    body.chunks(usize::from(u8::MAX))
        .map(|piece| {
            let count: u8 = piece
                .iter()
                .map(|byte| u8::from(byte | DIFFERING_BIT == OPENING))
                .sum();
            usize::from(count)
        })
        .sum()
}

fn scan(body: &[u8], limit: usize) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in body {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_the_two_brackets() {
        let all: Vec<u8> = (0..=u8::MAX).cycle().take(1000 * 256).collect();
        assert_eq!(count_openings(&all), 2000);
        assert_eq!(count_openings(&[b'['; 1000]), 1000);
        assert_eq!(count_openings(b""), 0);
    }

    #[test]
    fn only_real_nesting_counts() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!exceeds(nested(4).as_bytes(), 4));
        assert!(exceeds(nested(5).as_bytes(), 4));
        assert!(!exceeds(b"[[],[],[],[],[],[]]", 4));
        assert!(!exceeds(br#"["[[[[[[[[[[", "\"[[[[[[\\"]"#, 4));
        assert!(exceeds(br#"["\\", [[[[1]]]]]"#, 4));
    }
}
