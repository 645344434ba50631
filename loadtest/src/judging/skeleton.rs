//! The skeleton of an answer: its bytes, with the values left out that no rule tells apart.
//!
//! Judging an answer by every rule costs about as much as sending several requests. But a service answers the same request with
//! the same words, but for a signature, a price and a time. So an answer whose skeleton was found sound before is sound: what
//! differs are members that only the row of a result table looks at, and their values stay in a class that the row takes as a
//! whole. Anything else (another member, order, form, token, status, an id that is not the one that was sent) makes another
//! skeleton and goes to the judge. A test holds both ways of judging to the same verdicts, fault by fault.

/// Members whose values vary from answer to answer, and the form in which they may.
const VARYING: [(&[u8], Form); 8] = [
    (b"paymasterAndData", Form::Bytes),
    (b"preVerificationGas", Form::Amount),
    (b"verificationGasLimit", Form::Amount),
    (b"callGasLimit", Form::Amount),
    (b"maxGasFee", Form::Fraction),
    (b"maxGasFeeUSD", Form::Fraction),
    (b"exchangeRate", Form::Integer),
    (b"validUntil", Form::Integer),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A string of one byte or more in hex after 0x.
    Bytes,
    /// A string: decimal digits without leading zeros, or a hex quantity, in either case far below 2^256.
    Amount,
    /// An integer written in digits, not 0.
    Integer,
    /// An integer or a decimal fraction written in digits.
    Fraction,
}

/// Deeper nesting goes to the judge.
const DEEPEST: usize = 8;
/// More digits go to the judge: 2^256 has 78, in hex 64.
const DIGITS: usize = 60;

/// Writes the skeleton of an answer: the HTTP status and content type in `head`, the `body`, the `id` that was sent. False when the
/// answer is of a kind that is always brought before the judge.
pub(super) fn write(head: &[u8], body: &[u8], id: &[u8], skeleton: &mut Vec<u8>) -> bool {
    skeleton.clear();
    skeleton.extend_from_slice(head);
    skeleton.push(0);
    let mut walk = Walk {
        body,
        at: 0,
        skeleton,
        seen: [0; DEEPEST],
        depth: 0,
    };
    walk.run(id).is_some()
}

struct Walk<'a> {
    body: &'a [u8],
    at: usize,
    skeleton: &'a mut Vec<u8>,
    /// Which varying members were met in each open object; the last bit is the id.
    seen: [u16; DEEPEST],
    depth: usize,
}

const ID_BIT: u16 = 1 << VARYING.len();

impl Walk<'_> {
    fn run(&mut self, id: &[u8]) -> Option<()> {
        while let Some(&byte) = self.body.get(self.at) {
            match byte {
                b'"' => {
                    let start = self.at;
                    self.skip_string()?;
                    self.skeleton.extend_from_slice(&self.body[start..self.at]);
                    if self.body.get(self.at) == Some(&b':') {
                        self.skeleton.push(b':');
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
        self.skeleton.push(byte);
        self.at += 1;
    }

    /// Moves behind the string that begins here; a string with escapes goes to the judge.
    fn skip_string(&mut self) -> Option<()> {
        let rest = &self.body[self.at + 1..];
        let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        (rest[end] == b'"').then_some(())?;
        self.at += end + 2;
        Some(())
    }

    /// Writes the class of the value that begins here in place of it, where the member is one that varies.
    fn value(&mut self, name: &[u8], id: &[u8]) -> Option<()> {
        if self.depth == 1 && name == b"id" {
            self.once(ID_BIT)?;
            let rest = &self.body[self.at..];
            let ends = |byte: &u8| matches!(byte, b',' | b'}');
            if rest.starts_with(id) && rest.get(id.len()).is_some_and(ends) {
                self.skeleton.push(b'@');
                self.at += id.len();
            }
            return Some(());
        }
        let Some(place) = VARYING.iter().position(|(varying, _)| *varying == name) else {
            return Some(());
        };
        // Twice in one object, their values would have to be compared.
        self.once(1 << place)?;
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
            Some(class) => self.skeleton.push(class),
            None => self.skeleton.extend_from_slice(&self.body[start..self.at]),
        }
        Some(())
    }

    fn once(&mut self, bit: u16) -> Option<()> {
        let seen = self.seen.get_mut(self.depth)?;
        (*seen & bit == 0).then_some(())?;
        *seen |= bit;
        Some(())
    }
}

fn class_of_text(text: &[u8], form: Form) -> Option<u8> {
    let hex = text.strip_prefix(b"0x");
    let hex = hex.filter(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit));
    match form {
        Form::Bytes => hex.filter(|digits| digits.len() % 2 == 0).map(|_| b'B'),
        Form::Amount => match hex {
            Some(digits) => (digits.len() <= DIGITS && digits[0] != b'0').then_some(b'Q'),
            None => is_integer(text).then_some(b'D'),
        },
        Form::Integer | Form::Fraction => None,
    }
}

fn class_of_number(text: &[u8], form: Form) -> Option<u8> {
    match form {
        Form::Bytes => None,
        Form::Amount | Form::Integer => is_integer(text).then_some(b'I'),
        Form::Fraction => match text.iter().position(|byte| *byte == b'.') {
            None => is_integer(text).then_some(b'I'),
            Some(point) => {
                let (whole, fraction) = (&text[..point], &text[point + 1..]);
                let digits = !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit);
                (digits && fraction.len() <= DIGITS && (whole == b"0" || is_integer(whole))).then_some(b'F')
            }
        },
    }
}

/// Digits without leading zeros, not 0, far below 2^256.
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

    fn skeleton(body: &str) -> Option<String> {
        let mut skeleton = Vec::new();
        write(b"200", body.as_bytes(), b"17", &mut skeleton).then(|| String::from_utf8(skeleton).unwrap())
    }

    #[test]
    fn only_values_that_vary_are_left_out() {
        let body = r#"{"jsonrpc":"2.0","id":17,"result":{"MODE":"ERC20","paymasterAndData":"0xabCD","callGasLimit":12,"preVerificationGas":"0x1f","feeQuotes":[{"maxGasFee":0.25,"validUntil":99},{"maxGasFee":3}]}}"#;
        assert_eq!(
            skeleton(body).as_deref(),
            Some(
                "200\0{\"jsonrpc\":\"2.0\",\"id\":@,\"result\":{\"MODE\":\"ERC20\",\"paymasterAndData\":B,\"callGasLimit\":I,\"preVerificationGas\":Q,\"feeQuotes\":[{\"maxGasFee\":F,\"validUntil\":I},{\"maxGasFee\":I}]}}"
            )
        );
    }

    #[test]
    fn what_is_unusual_stays_as_it_is() {
        for value in ["\"0x\"", "\"0xabc\"", "\"0xzz\"", "\"abcd\"", "null", "17", "[]"] {
            let body = format!(r#"{{"id":17,"paymasterAndData":{value}}}"#);
            let kept = skeleton(&body).unwrap();
            assert!(kept.ends_with(&format!(":{value}}}")), "{kept}");
        }
        for id in ["18", "170", "\"17\"", "17.0", "1"] {
            let kept = skeleton(&format!(r#"{{"id":{id}}}"#)).unwrap();
            assert!(kept.ends_with(&format!(":{id}}}")), "{kept}");
        }
        // An id inside the result is none.
        assert!(skeleton(r#"{"result":{"id":17}}"#).unwrap().ends_with(":17}}"));
    }

    #[test]
    fn what_must_be_compared_goes_to_the_judge() {
        for body in [
            r#"{"id":17,"id":17}"#,
            r#"{"validUntil":1,"validUntil":2}"#,
            r#"{"a":"\u0041"}"#,
            r#"{"a":"b"#,
            r#"{"a":1"#,
            "}",
            "[[[[[[[[[[]]]]]]]]]]",
        ] {
            assert_eq!(skeleton(body), None, "{body}");
        }
    }

    /// The claim that everything rests on: a row takes all values of a class, or none of them.
    #[test]
    fn a_row_takes_a_class_as_a_whole() {
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
