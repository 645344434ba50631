//! How deep a body nests, found without parsing it: a parser that recurses is kept from ever seeing too deep a one.

/// Whether `body` opens more than `limit` arrays and objects inside each other.
pub(crate) fn exceeds(body: &[u8], limit: usize) -> bool {
    // Nothing can nest deeper than there are brackets, and counting is many times quicker than scanning.
    let opened = body.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
    opened > limit && scan(body, limit)
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
    fn only_real_nesting_counts() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!exceeds(nested(4).as_bytes(), 4));
        assert!(exceeds(nested(5).as_bytes(), 4));
        assert!(!exceeds(b"[[],[],[],[],[],[]]", 4));
        assert!(!exceeds(br#"["[[[[[[[[[[", "\"[[[[[[\\"]"#, 4));
        assert!(exceeds(br#"["\\", [[[[1]]]]]"#, 4));
    }
}
