//! Measures how deep a body nests without parsing it, so that a recursive parser never reads one that nests too deep.

/// Whether `body` nests more than `limit` arrays and objects.
pub(crate) fn exceeds(body: &[u8], limit: usize) -> bool {
    // The depth is at most the number of opening brackets, and counting is many times faster than scanning.
    count_openings(body) > limit && scan(body, limit)
}

/// With the differing bit set, `{` and `[` become this byte, and no other byte does.
const OPENING: u8 = b'{';
const DIFFERING_BIT: u8 = b'{' ^ b'[';

/// Counts in pieces whose count fits into a byte, so that the compiler vectorizes the loop.
fn count_openings(body: &[u8]) -> usize {
    body.chunks(usize::from(u8::MAX))
        .map(|piece| {
            let count: u8 = piece.iter().map(|byte| u8::from(byte | DIFFERING_BIT == OPENING)).sum();
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
