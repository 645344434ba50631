//! Faults of ids: requests refused for their id, and ids that the response omits or changes (sections 2.1 and 2.10).

use serde_json::{Map, Value};

use crate::faults::Fault;
use crate::injection::{Behaviour, RequestView, decimal_text, json, text_of};

/// The largest integer below which a double represents every integer.
const LARGEST_SAFE_INTEGER: i128 = (1 << 53) - 1;
/// A length that usual ids do not reach: a UUID has 36 characters.
const LONG_ID: usize = 64;

/// The combining acute accent.
const ACCENT: char = '\u{301}';

const NUMBER: &str = "request.id-number";
const STRING: &str = "request.id-string";
const ECHO: &str = "answer.id";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::refusal(NUMBER, "id-number-refused", "refuses every id that is a number", |view| {
        view.id().is_number()
    })
    .depends_on("/id"),
    Fault::refusal(NUMBER, "id-zero-refused", "treats the id 0 as missing", |view| {
        view.id_number().as_deref() == Some("0")
    })
    .depends_on("/id"),
    Fault::refusal(NUMBER, "id-negative-refused", "refuses negative ids", |view| {
        view.id_number().is_some_and(|digits| digits.starts_with('-'))
    })
    .depends_on("/id"),
    Fault::refusal(STRING, "id-string-refused", "refuses every id that is a string", |view| {
        view.id().is_string()
    })
    .depends_on("/id"),
    Fault::refusal(STRING, "id-empty-refused", "treats the empty id as missing", |view| {
        view.id_string() == Some("")
    })
    .depends_on("/id"),
    Fault::refusal(STRING, "id-long-refused", "refuses ids of more than 64 letters", |view| {
        view.id_string().is_some_and(|id| id.chars().count() > LONG_ID)
    })
    .depends_on("/id"),
    Fault::refusal(STRING, "id-non-ascii-refused", "refuses ids that are not ascii", |view| {
        view.id_string().is_some_and(|id| !id.is_ascii())
    })
    .depends_on("/id"),
    Fault::refusal(
        STRING,
        "id-not-digits-refused",
        "refuses ids that are strings other than digits",
        |view| {
            view.id_string().is_some_and(|id| id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()))
        },
    )
    .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-missing",
        "leaves the id out",
        Behaviour::Answer(|_, answer| {
            answer.shift_remove("id");
        }),
    )
    .when(|view| view.has_id()),
    Fault::new(
        ECHO,
        "id-missing-in-errors",
        "leaves the id out of errors",
        Behaviour::Answer(|_, answer| {
            if answer.contains_key("error") {
                answer.shift_remove("id");
            }
        }),
    )
    .when(|view| view.has_id()),
    Fault::new(
        ECHO,
        "id-null-in-errors",
        "returns id null in every error",
        Behaviour::Answer(|_, answer| {
            if answer.contains_key("error") {
                set(answer, Value::Null);
            }
        }),
    )
    .when(|view| view.has_id()),
    Fault::new(ECHO, "id-null", "returns id null", Behaviour::Answer(|_, answer| set(answer, Value::Null)))
        .when(|view| view.has_id()),
    Fault::new(ECHO, "id-always-one", "returns id 1 for every request", to_one()).when(|view| view.has_id()),
    Fault::new(ECHO, "id-zero-null", "returns id null for the id 0", to_null())
        .when(|view| view.id_number().as_deref() == Some("0"))
        .depends_on("/id"),
    Fault::new(ECHO, "id-empty-null", "returns id null for the empty id", to_null())
        .when(|view| view.id_string() == Some(""))
        .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-zero-dropped",
        "leaves out the ids 0 and the empty string, which count as false in some languages",
        Behaviour::Answer(|_, answer| {
            answer.shift_remove("id");
        }),
    )
    .when(|view| view.id_number().as_deref() == Some("0") || view.id_string() == Some(""))
    .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-as-markup",
        "writes &, < and > of ids as entities",
        Behaviour::Answer(|view, answer| {
            let id = view.id_string().unwrap_or_default();
            let escaped = id.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            set(answer, escaped.into());
        }),
    )
    .when(|view| view.id_string().is_some_and(|id| id.contains(['&', '<', '>'])))
    .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-as-date",
        "removes zero milliseconds from ids that are timestamps",
        Behaviour::Answer(|view, answer| {
            let id = view.id_string().unwrap_or_default();
            set(answer, id.replace(".000Z", "Z").into());
        }),
    )
    .when(|view| view.id_string().is_some_and(|id| id.contains(".000Z")))
    .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-without-accents",
        "drops combining accents from ids",
        Behaviour::Answer(|view, answer| {
            let id = view.id_string().unwrap_or_default();
            set(answer, id.replace(ACCENT, "").into());
        }),
    )
    .when(|view| view.id_string().is_some_and(|id| id.contains(ACCENT)))
    .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-number-as-string",
        "returns ids that are numbers as strings",
        Behaviour::Answer(|view, answer| set(answer, decimal_text(view.id()))),
    )
    .when(|view| view.id().is_number())
    .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-digits-as-number",
        "returns ids that are strings of digits as numbers",
        Behaviour::Answer(|view, answer| set(answer, json(&text_of(view.id())))),
    )
    .when(|view| {
        view.id_string().is_some_and(|id| {
            id.starts_with(|first| ('1'..='9').contains(&first)) && id.parse::<u64>().is_ok()
        })
    })
    .depends_on("/id"),
    Fault::new(
        "json-rpc.large-ids",
        "id-through-double",
        "loses the last digits of ids above 2^53",
        Behaviour::Answer(|view, answer| {
            let double = text_of(view.id()).parse::<f64>().unwrap_or_default();
            set(answer, json(&format!("{double}")));
        }),
    )
    .when(is_large)
    .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-fraction-cut",
        "removes the fraction of an id",
        Behaviour::Answer(|view, answer| {
            let digits = text_of(view.id());
            let whole = digits.split_once('.').map_or(digits.as_str(), |(whole, _)| whole);
            set(answer, json(whole));
        }),
    )
    .when(|view| view.id_number().is_some_and(|digits| digits.contains('.') && !digits.contains('e')))
    .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-sign-lost",
        "loses the sign of negative ids",
        Behaviour::Answer(|view, answer| set(answer, json(text_of(view.id()).trim_start_matches('-')))),
    )
    .when(|view| view.id_number().is_some_and(|digits| digits.starts_with('-') && digits != "-0"))
    .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-long-cut",
        "returns the first 64 letters of an id",
        Behaviour::Answer(|view, answer| {
            let id: String = text_of(view.id()).chars().take(LONG_ID).collect();
            set(answer, id.into());
        }),
    )
    .when(|view| view.id_string().is_some_and(|id| id.chars().count() > LONG_ID))
    .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-non-ascii-replaced",
        "replaces letters of ids that are not ascii by question marks",
        Behaviour::Answer(|view, answer| {
            let letters = text_of(view.id());
            let id: String =
                letters.chars().map(|letter| if letter.is_ascii() { letter } else { '?' }).collect();
            set(answer, id.into());
        }),
    )
    .when(|view| view.id_string().is_some_and(|id| !id.is_ascii()))
    .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-wrong-now-and-then",
        "returns a wrong id in 1 of 25 answers",
        Behaviour::Answer(|_, answer| set(answer, "another".into())),
    )
    .when(|view| view.is_call() && view.is_one_in_25()),
    Fault::new(
        ECHO,
        "id-of-previous",
        "returns the id of the previous request",
        Behaviour::Answer(|view, answer| {
            if let Some(previous) = view.memory.previous("id", view.id()) {
                set(answer, previous);
            }
        }),
    )
    .when(|view| view.is_call())
    .depends_on_others(),
    Fault::new(
        ECHO,
        "id-cut-in-errors",
        "cuts ids of more than 16 characters in errors",
        Behaviour::Answer(|view, answer| {
            if answer.contains_key("error") {
                let id = text_of(view.id());
                set(answer, id.chars().take(16).collect::<String>().into());
            }
        }),
    )
    .when(|view| view.id_string().is_some_and(|id| id.chars().count() > 16))
    .depends_on("/id"),
    Fault::new(ECHO, "id-null-in-token-mode", "returns id null in token mode only", to_null())
        .when(|view| view.is_token_mode()),
];

const fn to_null() -> Behaviour {
    Behaviour::Answer(|_, answer| set(answer, Value::Null))
}

const fn to_one() -> Behaviour {
    Behaviour::Answer(|_, answer| set(answer, 1.into()))
}

fn set(answer: &mut Map<String, Value>, id: Value) {
    answer.insert("id".to_owned(), id);
}

/// Whether the id is an integer that a double may not represent.
fn is_large(view: &RequestView<'_>) -> bool {
    let number = view.id_number().and_then(|digits| digits.parse::<i128>().ok());
    number.is_some_and(|number| number.abs() > LARGEST_SAFE_INTEGER)
}
