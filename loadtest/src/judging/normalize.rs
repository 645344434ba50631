//! The normalized form of an answer: its bytes, with placeholders for the values that no rule distinguishes.
//!
//! Judging an answer by every rule costs about as much as sending several requests. But a service answers the same request with the
//! same bytes, except for a signature, a price and a time. So an answer breaks no rule if an answer with the same normalized form
//! broke none: the two differ only in members that only the row rule of a result table checks, and the placeholder names a class
//! of values that this rule accepts or rejects as a whole. Any other difference (member, order, form, token, status, id) gives
//! another normalized form, and the answer is judged. A test compares the outcomes of both ways, fault by fault.

/// Members whose values vary from answer to answer, and the form of their values.
const VARYING: [(&[u8], ValueForm); 8] = [
    (b"paymasterAndData", ValueForm::Bytes),
    (b"preVerificationGas", ValueForm::Amount),
    (b"verificationGasLimit", ValueForm::Amount),
    (b"callGasLimit", ValueForm::Amount),
    (b"maxGasFee", ValueForm::Fraction),
    (b"maxGasFeeUSD", ValueForm::Fraction),
    (b"exchangeRate", ValueForm::Integer),
    (b"validUntil", ValueForm::Integer),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueForm {
    /// A string: `0x` and one byte or more in hex.
    Bytes,
    /// A string: decimal digits or a hex quantity, without leading zeros and far below 2^256.
    Amount,
    /// A number: an integer in digits, not 0.
    Integer,
    /// A number: an integer or a decimal fraction in digits.
    Fraction,
}

/// Deepest nesting that is normalized.
const DEEPEST: usize = 8;
/// Most digits that are normalized: 2^256 has 78 decimal and 64 hex digits.
const DIGITS: usize = 60;

/// Writes the normalized form of an answer into `normalized`, which is cleared first. `head` holds what else must be equal (HTTP
/// status, content type, token), `id` is the id that was sent. Returns false if the answer must always be judged.
pub(super) fn normalize(head: &[u8], body: &[u8], id: &[u8], normalized: &mut Vec<u8>) -> bool {
    normalized.clear();
    normalized.extend_from_slice(head);
    normalized.push(0);
    let mut normalizer = Normalizer {
        body,
        at: 0,
        normalized,
        seen: [0; DEEPEST],
        depth: 0,
    };
    normalizer.walk(id).is_some()
}

struct Normalizer<'a> {
    body: &'a [u8],
    at: usize,
    normalized: &'a mut Vec<u8>,
    /// The varying members of each open object so far, one bit each; the last bit is the id.
    seen: [u16; DEEPEST],
    depth: usize,
}

const ID_BIT: u16 = 1 << VARYING.len();

impl Normalizer<'_> {
    fn walk(&mut self, id: &[u8]) -> Option<()> {
        while let Some(&byte) = self.body.get(self.at) {
            match byte {
                b'"' => {
                    let start = self.at;
                    self.skip_string()?;
                    self.normalized.extend_from_slice(&self.body[start..self.at]);
                    if self.body.get(self.at) == Some(&b':') {
                        self.normalized.push(b':');
                        self.at += 1;
                        let name = &self.body[start + 1..self.at - 2];
                        self.value(name, id)?;
                    }
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    *self.seen.get_mut(self.depth)? = 0;
                    self.copy(byte);
                }
                b'}' | b']' => {
                    self.depth = self.depth.checked_sub(1)?;
                    self.copy(byte);
                }
                _ => self.copy(byte),
            }
        }
        (self.depth == 0).then_some(())
    }

    fn copy(&mut self, byte: u8) {
        self.normalized.push(byte);
        self.at += 1;
    }

    /// Moves behind the string that begins here. `None` for a string with escapes.
    fn skip_string(&mut self) -> Option<()> {
        let rest = &self.body[self.at + 1..];
        let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        (rest[end] == b'"').then_some(())?;
        self.at += end + 2;
        Some(())
    }

    /// Writes the class of the value that begins here instead of the value, if the member is one that varies.
    fn value(&mut self, name: &[u8], id: &[u8]) -> Option<()> {
        if self.depth == 1 && name == b"id" {
            self.mark_once(ID_BIT)?;
            let rest = &self.body[self.at..];
            let ends = |byte: &u8| matches!(byte, b',' | b'}');
            if rest.starts_with(id) && rest.get(id.len()).is_some_and(ends) {
                self.normalized.push(b'@');
                self.at += id.len();
            }
            return Some(());
        }
        let Some(place) = VARYING.iter().position(|(varying, _)| *varying == name) else {
            return Some(());
        };
        // A duplicate member must be judged.
        self.mark_once(1 << place)?;
        let start = self.at;
        let class = if self.body.get(start) == Some(&b'"') {
            self.skip_string()?;
            class_of_text(&self.body[start + 1..self.at - 1], VARYING[place].1)
        } else {
            let rest = &self.body[start..];
            let length = rest
                .iter()
                .position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
            self.at += length?;
            class_of_number(&self.body[start..self.at], VARYING[place].1)
        };
        match class {
            Some(class) => self.normalized.push(class),
            None => self.normalized.extend_from_slice(&self.body[start..self.at]),
        }
        Some(())
    }

    fn mark_once(&mut self, bit: u16) -> Option<()> {
        let seen = self.seen.get_mut(self.depth)?;
        (*seen & bit == 0).then_some(())?;
        *seen |= bit;
        Some(())
    }
}

fn class_of_text(text: &[u8], form: ValueForm) -> Option<u8> {
    let hex = text.strip_prefix(b"0x");
    let hex = hex.filter(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit));
    match form {
        ValueForm::Bytes => hex.filter(|digits| digits.len() % 2 == 0).map(|_| b'B'),
        ValueForm::Amount => match hex {
            Some(digits) => (digits.len() <= DIGITS && digits[0] != b'0').then_some(b'Q'),
            None => is_integer(text).then_some(b'D'),
        },
        ValueForm::Integer | ValueForm::Fraction => None,
    }
}

fn class_of_number(text: &[u8], form: ValueForm) -> Option<u8> {
    match form {
        ValueForm::Bytes => None,
        ValueForm::Amount | ValueForm::Integer => is_integer(text).then_some(b'I'),
        ValueForm::Fraction => match text.iter().position(|byte| *byte == b'.') {
            None => is_integer(text).then_some(b'I'),
            Some(point) => {
                let (whole, fraction) = (&text[..point], &text[point + 1..]);
                let digits = !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit);
                (digits && fraction.len() <= DIGITS && (whole == b"0" || is_integer(whole))).then_some(b'F')
            }
        },
    }
}

/// Whether a text is an integer in digits, without leading zeros, not 0 and far below 2^256.
fn is_integer(text: &[u8]) -> bool {
    text.len() <= DIGITS
        && text.first().is_some_and(|first| (b'1'..=b'9').contains(first))
        && text.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use paymaster_schemas::member_validator;
    use serde_json::Value;

    use super::*;

    fn normalized(body: &str) -> Option<String> {
        let mut normalized = Vec::new();
        normalize(b"200", body.as_bytes(), b"17", &mut normalized)
            .then(|| String::from_utf8(normalized).unwrap())
    }

    #[test]
    fn only_values_that_vary_are_replaced() {
        let body = r#"{"jsonrpc":"2.0","id":17,"result":{"MODE":"ERC20","paymasterAndData":"0xabCD","callGasLimit":12,"preVerificationGas":"0x1f","feeQuotes":[{"maxGasFee":0.25,"validUntil":99},{"maxGasFee":3}]}}"#;
        assert_eq!(
            normalized(body).as_deref(),
            Some(
                "200\0{\"jsonrpc\":\"2.0\",\"id\":@,\"result\":{\"MODE\":\"ERC20\",\"paymasterAndData\":B,\"callGasLimit\":I,\"preVerificationGas\":Q,\"feeQuotes\":[{\"maxGasFee\":F,\"validUntil\":I},{\"maxGasFee\":I}]}}"
            )
        );
    }

    #[test]
    fn unusual_values_are_kept() {
        for value in ["\"0x\"", "\"0xabc\"", "\"0xzz\"", "\"abcd\"", "null", "17", "[]"] {
            let body = format!(r#"{{"id":17,"paymasterAndData":{value}}}"#);
            let kept = normalized(&body).unwrap();
            assert!(kept.ends_with(&format!(":{value}}}")), "{kept}");
        }
        for id in ["18", "170", "\"17\"", "17.0", "1"] {
            let kept = normalized(&format!(r#"{{"id":{id}}}"#)).unwrap();
            assert!(kept.ends_with(&format!(":{id}}}")), "{kept}");
        }
        // A member `id` of the result is not the id of the answer.
        assert!(normalized(r#"{"result":{"id":17}}"#).unwrap().ends_with(":17}}"));
    }

    #[test]
    fn some_answers_are_always_judged() {
        for body in [
            r#"{"id":17,"id":17}"#,
            r#"{"validUntil":1,"validUntil":2}"#,
            r#"{"a":"\u0041"}"#,
            r#"{"a":"b"#,
            r#"{"a":1"#,
            "}",
            "[[[[[[[[[[]]]]]]]]]]",
        ] {
            assert_eq!(normalized(body), None, "{body}");
        }
    }

    /// What the normalized form relies on: a row rule accepts all values of a class or none of them.
    #[test]
    fn a_row_rule_accepts_a_class_as_a_whole() {
        let texts = [
            "0xab",
            "0xABCDEF",
            "0x00",
            "0x1",
            "0x12",
            "0xfff",
            "1",
            "42",
            "1000000000000000000000",
        ];
        let numbers = ["1", "7", "12345678901234567890123", "1.5", "0.25", "12.50"];
        for document in ["sponsored-result", "token-sponsor-result", "fee-quote"] {
            for (member, form) in VARYING {
                let Some(row) = member_validator(document, std::str::from_utf8(member).unwrap()) else {
                    continue;
                };
                let mut verdicts = std::collections::BTreeMap::new();
                let texts = texts.iter().map(|text| {
                    (
                        class_of_text(text.as_bytes(), form),
                        Value::String((*text).to_owned()),
                    )
                });
                let numbers = numbers.iter().map(|text| {
                    let class = class_of_number(text.as_bytes(), form);
                    (class, serde_json::from_str(text).unwrap())
                });
                for (class, value) in texts.chain(numbers) {
                    if let Some(class) = class {
                        let verdict = row.is_valid(&value);
                        let first = *verdicts.entry(class).or_insert(verdict);
                        assert_eq!(
                            verdict,
                            first,
                            "{document}.{} {value}",
                            String::from_utf8_lossy(member)
                        );
                    }
                }
            }
        }
    }
}
