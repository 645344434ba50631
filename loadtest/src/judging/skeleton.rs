//! The skeleton of an answer: its bytes, with slots for the values that no rule distinguishes.
//!
//! Judging an answer by every rule costs about as much as sending several requests. But a service answers the same request with the
//! same bytes, except for a signature, a price and a time. So an answer breaks no rule if an answer with the same skeleton
//! broke none: the two differ only in members that only the row rule of a result table checks, and a slot takes one class
//! of values, which this rule accepts or rejects as a whole. Any other difference (member, order, form, token, status, id) gives
//! another skeleton, and the answer is judged. A test compares the outcomes of both ways, fault by fault.

use paymaster_engine::load::ValueForm;

/// Members whose values vary from answer to answer, and the form of their values. At most 15.
pub(crate) type Varying = &'static [(&'static str, ValueForm)];

/// Deepest nesting of an answer with a skeleton.
const DEEPEST: usize = 8;
/// Most digits of a value in a slot: 2^256 has 78 decimal and 64 hex digits.
const DIGITS: usize = 60;

/// An answer to a request, as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAnswer<'a> {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The value of `content-type`; empty without one.
    pub(crate) content_type: &'a str,
    pub(crate) body: &'a [u8],
    /// The id that was sent, in digits.
    pub(crate) id: &'a [u8],
    /// The token that was sent; empty without one.
    pub(crate) token: &'a str,
}

#[derive(Debug)]
pub(crate) struct AnswerSkeleton {
    status: u16,
    content_type: Box<str>,
    token: Box<str>,
    parts: Vec<Part>,
    /// The bytes after the last slot.
    end: Box<[u8]>,
}

/// Bytes that are as they were, and the slot after them.
#[derive(Debug)]
struct Part {
    bytes: Box<[u8]>,
    slot: Slot,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    /// The id that was sent.
    Id,
    /// A value of this form and class.
    Value(ValueForm, u8),
}

impl AnswerSkeleton {
    /// The skeleton of an answer; none if such an answer must always be judged.
    pub(crate) fn of(answer: &ReadAnswer<'_>, varying: Varying) -> Option<Self> {
        let (body, seen) = (answer.body, [0; DEEPEST]);
        let mut walker = Walker { body, varying, at: 0, from: 0, parts: Vec::new(), seen, depth: 0 };
        walker.walk(answer.id)?;
        Some(Self {
            status: answer.status,
            content_type: answer.content_type.into(),
            token: answer.token.into(),
            end: answer.body[walker.from..].into(),
            parts: walker.parts,
        })
    }

    pub(crate) fn matches(&self, answer: &ReadAnswer<'_>) -> bool {
        let is_alike = self.status == answer.status
            && *self.content_type == *answer.content_type
            && *self.token == *answer.token;
        let mut rest = answer.body;
        is_alike
            && self.parts.iter().all(|part| {
                let slot = rest.strip_prefix(&*part.bytes);
                let after = slot.and_then(|slot| part.slot.skip(slot, answer.id));
                rest = after.unwrap_or_default();
                after.is_some()
            })
            && *rest == *self.end
    }
}

impl Slot {
    /// The bytes after the value that begins here; none if it is not of the class.
    fn skip<'a>(self, bytes: &'a [u8], id: &[u8]) -> Option<&'a [u8]> {
        match self {
            Self::Id => after_id(bytes, id),
            Self::Value(form, class) => {
                let length = value_length(bytes)?;
                let (value, rest) = bytes.split_at(length);
                (class_of(value, form) == Some(class)).then_some(rest)
            }
        }
    }
}

/// The bytes after the id, if it begins here and ends as a value does.
fn after_id<'a>(bytes: &'a [u8], id: &[u8]) -> Option<&'a [u8]> {
    let rest = bytes.strip_prefix(id)?;
    matches!(rest.first(), Some(b',' | b'}')).then_some(rest)
}

/// The length of the string or number that begins here. `None` for a string with escapes or without an end.
fn value_length(bytes: &[u8]) -> Option<usize> {
    if bytes.first() == Some(&b'"') {
        let end = memchr::memchr2(b'"', b'\\', &bytes[1..])?;
        return (bytes[end + 1] == b'"').then_some(end + 2);
    }
    bytes.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))
}

/// The class of a value with its quotes; none for a value that must stay as it is.
fn class_of(value: &[u8], form: ValueForm) -> Option<u8> {
    if let [b'"', text @ .., b'"'] = value {
        let hex = text.strip_prefix(b"0x").filter(|digits| !digits.is_empty() && is_hex(digits));
        return match (form, hex) {
            (ValueForm::Bytes, Some(digits)) => (digits.len() % 2 == 0).then_some(b'B'),
            (ValueForm::Amount, Some(digits)) => {
                (digits.len() <= DIGITS && digits[0] != b'0').then_some(b'Q')
            }
            (ValueForm::Amount, None) => is_integer(text).then_some(b'D'),
            _ => None,
        };
    }
    let point = match form {
        ValueForm::Bytes => return None,
        ValueForm::Fraction => value.iter().position(|byte| *byte == b'.'),
        ValueForm::Amount | ValueForm::Integer => None,
    };
    let Some(point) = point else { return is_integer(value).then_some(b'I') };
    let (whole, fraction) = (&value[..point], &value[point + 1..]);
    let digits = !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit);
    (digits && fraction.len() <= DIGITS && (whole == b"0" || is_integer(whole))).then_some(b'F')
}

struct Walker<'a> {
    body: &'a [u8],
    varying: Varying,
    at: usize,
    /// Where the bytes after the last slot begin.
    from: usize,
    parts: Vec<Part>,
    /// The varying members of each open object so far, one bit each; the last bit is the id.
    seen: [u16; DEEPEST],
    depth: usize,
}

const ID_BIT: u16 = 1 << 15;

impl Walker<'_> {
    fn walk(&mut self, id: &[u8]) -> Option<()> {
        while let Some(&byte) = self.body.get(self.at) {
            match byte {
                b'"' => {
                    let start = self.at;
                    self.at += value_length(&self.body[start..])?;
                    if self.body.get(self.at) == Some(&b':') {
                        let name = &self.body[start + 1..self.at - 1];
                        self.at += 1;
                        self.value(name, id)?;
                    }
                    continue;
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    *self.seen.get_mut(self.depth)? = 0;
                }
                b'}' | b']' => self.depth = self.depth.checked_sub(1)?,
                _ => {}
            }
            self.at += 1;
        }
        (self.depth == 0).then_some(())
    }

    /// Makes a slot of the value that begins here, if the member is one that varies.
    fn value(&mut self, name: &[u8], id: &[u8]) -> Option<()> {
        let rest = &self.body[self.at..];
        if self.depth == 1 && name == b"id" {
            self.mark_once(ID_BIT)?;
            if after_id(rest, id).is_some() {
                self.slot(Slot::Id, id.len());
            }
            return Some(());
        }
        let known = self.varying.iter().position(|(varying, _)| varying.as_bytes() == name);
        let Some(place) = known else { return Some(()) };
        // A duplicate member must be judged.
        self.mark_once(1 << place)?;
        let length = value_length(rest)?;
        let form = self.varying[place].1;
        match class_of(&rest[..length], form) {
            Some(class) => self.slot(Slot::Value(form, class), length),
            None => self.at += length,
        }
        Some(())
    }

    fn slot(&mut self, slot: Slot, length: usize) {
        let bytes = self.body[self.from..self.at].into();
        self.parts.push(Part { bytes, slot });
        self.at += length;
        self.from = self.at;
    }

    fn mark_once(&mut self, bit: u16) -> Option<()> {
        let seen = self.seen.get_mut(self.depth)?;
        (*seen & bit == 0).then_some(())?;
        *seen |= bit;
        Some(())
    }
}

/// Whether a text is an integer in digits, without leading zeros, not 0 and far below 2^256.
fn is_integer(text: &[u8]) -> bool {
    text.len() <= DIGITS
        && text.first().is_some_and(|first| (b'1'..=b'9').contains(first))
        && text.iter().all(u8::is_ascii_digit)
}

/// Whether every byte is a hex digit. Without an early end, so that the compiler can look at several bytes at once.
fn is_hex(digits: &[u8]) -> bool {
    digits.iter().fold(true, |all, digit| all & digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use paymaster_fee_quote::SPECIFICATION;
    use paymaster_schemas::member_validator;
    use paymaster_settings::SPECIFICATIONS;
    use serde_json::Value;

    use super::*;

    fn answer<'a>(body: &'a str, id: &'a str) -> ReadAnswer<'a> {
        ReadAnswer {
            status: 200,
            content_type: "application/json",
            body: body.as_bytes(),
            id: id.as_bytes(),
            token: "",
        }
    }

    fn skeleton(body: &str, id: &str) -> Option<AnswerSkeleton> {
        AnswerSkeleton::of(&answer(body, id), SPECIFICATION.load.varying)
    }

    /// Whether the answer to the request with id 18 has the skeleton of this answer to the request with id 17.
    fn alike(first: &str, other: &str) -> bool {
        let kept = skeleton(first, "17").unwrap();
        assert!(kept.matches(&answer(first, "17")), "{first}");
        kept.matches(&answer(other, "18"))
    }

    #[test]
    fn only_values_that_vary_may_differ() {
        let body = r#"{"jsonrpc":"2.0","id":17,"result":{"MODE":"ERC20","paymasterAndData":"0xabCD","callGasLimit":12,"preVerificationGas":"0x1f","feeQuotes":[{"maxGasFee":0.25,"validUntil":99},{"maxGasFee":3}]}}"#;
        let other = body.replace(":17,", ":18,");
        assert!(alike(body, &other));
        for (value, replacement, expected) in [
            ("0xabCD", "0x12345678", true),
            ("0xabCD", "0x123", false),
            ("0xabCD", "0xabCg", false),
            ("0xabCD", "0x\\u0061", false),
            (":12", ":9999", true),
            (":12", ":\"12\"", false),
            (":12", ":0", false),
            (":12", ":I", false),
            ("\"0x1f\"", "\"0x2f\"", true),
            ("\"0x1f\"", "\"31\"", false),
            ("0.25", "7.5", true),
            ("0.25", "7", false),
            ("0.25", "7e5", false),
            (":99", ":100", true),
            ("ERC20", "ERC21", false),
            ("\"id\":18", "\"id\":180", false),
            ("\"id\":18", "\"id\":17", false),
            ("}}", "}} ", false),
            ("}}", "}", false),
            ("{\"maxGasFee\":3}", "{\"maxGasFee\":3},{\"maxGasFee\":3}", false),
        ] {
            assert!(other.contains(value), "{value}");
            assert_eq!(
                alike(body, &other.replacen(value, replacement, 1)),
                expected,
                "{value} {replacement}"
            );
        }
    }

    #[test]
    fn unusual_values_must_be_the_same() {
        for value in ["\"0x\"", "\"0xabc\"", "\"0xzz\"", "\"abcd\"", "null", "17", "[]"] {
            let body = |value: &str, id: &str| format!(r#"{{"id":{id},"paymasterAndData":{value}}}"#);
            assert!(alike(&body(value, "17"), &body(value, "18")));
            assert!(!alike(&body(value, "17"), &body("\"0xab\"", "18")), "{value}");
        }
        for id in ["18", "170", "\"17\"", "17.0", "1"] {
            let body = format!(r#"{{"id":{id}}}"#);
            let own = skeleton(&body, "17").unwrap();
            assert!(own.matches(&answer(&body, "17")), "{id}");
            assert!(!own.matches(&answer(r#"{"id":17}"#, "17")), "{id}");
        }
        // A member `id` of the result is not the id of the answer.
        assert!(!alike(r#"{"result":{"id":17}}"#, r#"{"result":{"id":18}}"#));
        let kept = skeleton("[1]", "17").unwrap();
        for other in [
            ReadAnswer { status: 201, ..answer("[1]", "17") },
            ReadAnswer { content_type: "text/plain", ..answer("[1]", "17") },
            ReadAnswer { token: "0x1", ..answer("[1]", "17") },
        ] {
            assert!(!kept.matches(&other), "{other:?}");
        }
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
            assert!(skeleton(body, "17").is_none(), "{body}");
        }
    }

    /// What the skeleton relies on: a row rule accepts all values of a class or none of them.
    #[test]
    fn a_row_rule_accepts_a_class_as_a_whole() {
        let texts = ["0xab", "0xABCDEF", "0x00", "0x1", "0x12", "0xfff", "1", "42", "1000000000000000000000"];
        let numbers = ["1", "7", "12345678901234567890123", "1.5", "0.25", "12.50"];
        for specification in SPECIFICATIONS {
            let varying = specification.load.varying;
            assert!(varying.len() < 16, "the bits of a member: {}", specification.name);
            let documents = specification.definition.documents().map(|document| document.name);
            for (document, (member, form)) in
                documents.flat_map(|document| varying.iter().map(move |row| (document, *row)))
            {
                // A request has members of these names too.
                let Some(row) = member_validator(document, member).filter(|_| document.contains("result"))
                else {
                    continue;
                };
                let mut verdicts = std::collections::BTreeMap::new();
                let texts = texts.iter().map(|text| {
                    (class_of(format!("\"{text}\"").as_bytes(), form), Value::String((*text).to_owned()))
                });
                let numbers = numbers.iter().map(|text| {
                    let class = class_of(text.as_bytes(), form);
                    (class, serde_json::from_str(text).unwrap())
                });
                for (class, value) in texts.chain(numbers) {
                    if let Some(class) = class {
                        let verdict = row.is_valid(&value);
                        let first = *verdicts.entry(class).or_insert(verdict);
                        assert_eq!(verdict, first, "{document}.{member} {value}");
                    }
                }
            }
        }
    }
}
