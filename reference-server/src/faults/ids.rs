//! Ids: refused, dropped, changed (sections 2.1 and 2.10).

use serde_json::{Map, Value};

use super::Fault;
use crate::deviations::{Act, Asked, decimal_text, json, text_of};

/// The largest integer up to which a double holds every one.
const LARGEST_SAFE_INTEGER: i128 = (1 << 53) - 1;
/// Longer than a usual id: a UUID has 36 letters.
const LONG_ID: usize = 64;

/// The combining acute accent.
const ACCENT: char = '\u{301}';

const NUMBER: &str = "request.id-number";
const STRING: &str = "request.id-string";
const ECHO: &str = "answer.id";

pub(super) const FAULTS: &[Fault] = &[
    Fault::refusal(
        NUMBER,
        "id-number-refused",
        "refuses every id that is a number",
        |asked| asked.id().is_number(),
    ),
    Fault::refusal(NUMBER, "id-zero-refused", "takes the id 0 for none", |asked| {
        asked.id_number().as_deref() == Some("0")
    }),
    Fault::refusal(NUMBER, "id-negative-refused", "refuses negative ids", |asked| {
        asked.id_number().is_some_and(|digits| digits.starts_with('-'))
    }),
    Fault::refusal(NUMBER, "id-large-refused", "refuses ids above 2^53", is_large),
    Fault::refusal(
        STRING,
        "id-string-refused",
        "refuses every id that is a string",
        |asked| asked.id().is_string(),
    ),
    Fault::refusal(
        STRING,
        "id-empty-refused",
        "takes the empty id for none",
        |asked| asked.id_string() == Some(""),
    ),
    Fault::refusal(
        STRING,
        "id-long-refused",
        "refuses ids of more than 64 letters",
        |asked| asked.id_string().is_some_and(|id| id.chars().count() > LONG_ID),
    ),
    Fault::refusal(
        STRING,
        "id-non-ascii-refused",
        "refuses ids that are not ascii",
        |asked| asked.id_string().is_some_and(|id| !id.is_ascii()),
    ),
    Fault::refusal(
        STRING,
        "id-not-digits-refused",
        "refuses strings that do not read as a number",
        |asked| {
            asked
                .id_string()
                .is_some_and(|id| id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()))
        },
    ),
    Fault::of(
        ECHO,
        "id-missing",
        "leaves the id out",
        Act::Answer(|_, answer| {
            answer.shift_remove("id");
        }),
    )
    .when(|asked| asked.has_id()),
    Fault::of(
        ECHO,
        "id-missing-in-errors",
        "leaves the id out of errors",
        Act::Answer(|_, answer| {
            if answer.contains_key("error") {
                answer.shift_remove("id");
            }
        }),
    )
    .when(|asked| asked.has_id()),
    Fault::of(
        ECHO,
        "id-null-in-errors",
        "says id null in every error",
        Act::Answer(|_, answer| {
            if answer.contains_key("error") {
                set(answer, Value::Null);
            }
        }),
    )
    .when(|asked| asked.has_id()),
    Fault::of(
        ECHO,
        "id-null",
        "says id null",
        Act::Answer(|_, answer| set(answer, Value::Null)),
    )
    .when(|asked| asked.has_id()),
    Fault::of(ECHO, "id-always-one", "says id 1, whatever was asked", to_one()).when(|asked| asked.has_id()),
    Fault::of(ECHO, "id-zero-null", "says id null for the id 0", to_null())
        .when(|asked| asked.id_number().as_deref() == Some("0")),
    Fault::of(ECHO, "id-empty-null", "says id null for the empty id", to_null())
        .when(|asked| asked.id_string() == Some("")),
    Fault::of(
        ECHO,
        "id-zero-dropped",
        "leaves out an id that counts as false in some languages: 0 and the empty string",
        Act::Answer(|_, answer| {
            answer.shift_remove("id");
        }),
    )
    .when(|asked| asked.id_number().as_deref() == Some("0") || asked.id_string() == Some("")),
    Fault::of(
        ECHO,
        "id-as-markup",
        "writes &, < and > of ids as entities",
        Act::Answer(|asked, answer| {
            let id = asked.id_string().unwrap_or_default();
            let escaped = id.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            set(answer, escaped.into());
        }),
    )
    .when(|asked| asked.id_string().is_some_and(|id| id.contains(['&', '<', '>']))),
    Fault::of(
        ECHO,
        "id-as-date",
        "writes ids that read as a moment without their milliseconds",
        Act::Answer(|asked, answer| {
            let id = asked.id_string().unwrap_or_default();
            set(answer, id.replace(".000Z", "Z").into());
        }),
    )
    .when(|asked| asked.id_string().is_some_and(|id| id.contains(".000Z"))),
    Fault::of(
        ECHO,
        "id-without-accents",
        "drops combining accents from ids",
        Act::Answer(|asked, answer| {
            let id = asked.id_string().unwrap_or_default();
            set(answer, id.replace(ACCENT, "").into());
        }),
    )
    .when(|asked| asked.id_string().is_some_and(|id| id.contains(ACCENT))),
    Fault::of(
        ECHO,
        "id-number-as-string",
        "turns ids that are numbers into strings",
        Act::Answer(|asked, answer| set(answer, decimal_text(asked.id()))),
    )
    .when(|asked| asked.id().is_number()),
    Fault::of(
        ECHO,
        "id-digits-as-number",
        "turns ids that are strings of digits into numbers",
        Act::Answer(|asked, answer| set(answer, json(&text_of(asked.id())))),
    )
    .when(|asked| {
        asked.id_string().is_some_and(|id| {
            id.starts_with(|first| ('1'..='9').contains(&first)) && id.parse::<u64>().is_ok()
        })
    }),
    Fault::of(
        ECHO,
        "id-through-double",
        "loses the last digits of ids above 2^53",
        Act::Answer(|asked, answer| {
            let double = text_of(asked.id()).parse::<f64>().unwrap_or_default();
            set(answer, json(&format!("{double}")));
        }),
    )
    .when(is_large),
    Fault::of(
        ECHO,
        "id-fraction-cut",
        "cuts the fraction of an id off",
        Act::Answer(|asked, answer| {
            let digits = text_of(asked.id());
            let whole = digits.split_once('.').map_or(digits.as_str(), |(whole, _)| whole);
            set(answer, json(whole));
        }),
    )
    .when(|asked| {
        asked
            .id_number()
            .is_some_and(|digits| digits.contains('.') && !digits.contains('e'))
    }),
    Fault::of(
        ECHO,
        "id-sign-lost",
        "loses the sign of negative ids",
        Act::Answer(|asked, answer| set(answer, json(text_of(asked.id()).trim_start_matches('-')))),
    )
    .when(|asked| {
        asked
            .id_number()
            .is_some_and(|digits| digits.starts_with('-') && digits != "-0")
    }),
    Fault::of(
        ECHO,
        "id-long-cut",
        "keeps the first 64 letters of an id",
        Act::Answer(|asked, answer| {
            let id: String = text_of(asked.id()).chars().take(LONG_ID).collect();
            set(answer, id.into());
        }),
    )
    .when(|asked| asked.id_string().is_some_and(|id| id.chars().count() > LONG_ID)),
    Fault::of(
        ECHO,
        "id-non-ascii-replaced",
        "puts question marks for letters that are not ascii",
        Act::Answer(|asked, answer| {
            let letters = text_of(asked.id());
            let id: String = letters
                .chars()
                .map(|letter| if letter.is_ascii() { letter } else { '?' })
                .collect();
            set(answer, id.into());
        }),
    )
    .when(|asked| asked.id_string().is_some_and(|id| !id.is_ascii())),
    Fault::of(
        ECHO,
        "id-wrong-now-and-then",
        "says a wrong id in 1 of 25 answers",
        Act::Answer(|_, answer| set(answer, "another".into())),
    )
    .when(|asked| asked.is_call() && asked.now_and_then()),
    Fault::of(
        ECHO,
        "id-of-previous",
        "says the id of the request before",
        Act::Answer(|asked, answer| {
            if let Some(previous) = asked.memory.previous("id", asked.id()) {
                set(answer, previous);
            }
        }),
    )
    .when(|asked| asked.is_call()),
    Fault::of(
        ECHO,
        "id-null-in-token-mode",
        "says id null in token mode only",
        to_null(),
    )
    .when(|asked| asked.is_token_mode()),
];

const fn to_null() -> Act {
    Act::Answer(|_, answer| set(answer, Value::Null))
}

const fn to_one() -> Act {
    Act::Answer(|_, answer| set(answer, 1.into()))
}

fn set(answer: &mut Map<String, Value>, id: Value) {
    answer.insert("id".to_owned(), id);
}

/// A whole number that a double may not hold.
fn is_large(asked: &Asked<'_>) -> bool {
    let number = asked.id_number().and_then(|digits| digits.parse::<i128>().ok());
    number.is_some_and(|number| number.abs() > LARGEST_SAFE_INTEGER)
}
