//! Faults of ids: requests refused for their id, and ids that the response omits or changes (sections 2.1 and 2.10).

use serde_json::Value;

use crate::faults::Fault;
use crate::injection::{Behaviour, RequestView, decimal_text, json, remove, set, text_of};

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
    Fault::new(NUMBER, "id-number-refused", "refuses every id that is a number")
        .refuses(|view| view.id().is_number())
        .depends_on("/id"),
    Fault::new(NUMBER, "id-zero-refused", "treats the id 0 as missing")
        .refuses(|view| view.id_number().as_deref() == Some("0"))
        .depends_on("/id"),
    Fault::new(NUMBER, "id-negative-refused", "refuses negative ids")
        .refuses(|view| view.id_number().is_some_and(|digits| digits.starts_with('-')))
        .depends_on("/id")
        .of_fee_quote(),
    Fault::new(STRING, "id-string-refused", "refuses every id that is a string")
        .refuses(|view| view.id().is_string())
        .depends_on("/id"),
    Fault::new(STRING, "id-empty-refused", "treats the empty id as missing")
        .refuses(|view| view.id_string() == Some(""))
        .depends_on("/id"),
    Fault::new(STRING, "id-long-refused", "refuses ids of more than 64 letters")
        .refuses(|view| view.id_string().is_some_and(|id| id.chars().count() > LONG_ID))
        .depends_on("/id")
        .of_fee_quote(),
    Fault::new(STRING, "id-non-ascii-refused", "refuses ids that are not ascii")
        .refuses(|view| view.id_string().is_some_and(|id| !id.is_ascii()))
        .depends_on("/id")
        .of_fee_quote(),
    Fault::new(STRING, "id-not-digits-refused", "refuses ids that are strings other than digits")
        .refuses(|view| {
            view.id_string().is_some_and(|id| id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()))
        })
        .depends_on("/id"),
    Fault::new(ECHO, "id-missing", "leaves the id out")
        .injects(Behaviour::Answer(|_, answer| remove(answer, "id")))
        .when(|view| view.has_id()),
    Fault::new(ECHO, "id-missing-in-errors", "leaves the id out of errors")
        .injects(Behaviour::Answer(|_, answer| {
            if answer.contains_key("error") {
                remove(answer, "id");
            }
        }))
        .when(|view| view.has_id()),
    Fault::new(ECHO, "id-null-in-errors", "returns id null in every error")
        .injects(Behaviour::Answer(|_, answer| {
            if answer.contains_key("error") {
                set(answer, "id", Value::Null);
            }
        }))
        .when(|view| view.has_id()),
    Fault::new(ECHO, "id-null", "returns id null").injects(TO_NULL).when(|view| view.has_id()),
    Fault::new(ECHO, "id-always-one", "returns id 1 for every request")
        .injects(Behaviour::Answer(|_, answer| set(answer, "id", 1)))
        .when(|view| view.has_id()),
    Fault::new(ECHO, "id-zero-null", "returns id null for the id 0")
        .injects(TO_NULL)
        .when(|view| view.id_number().as_deref() == Some("0"))
        .depends_on("/id"),
    Fault::new(ECHO, "id-empty-null", "returns id null for the empty id")
        .injects(TO_NULL)
        .when(|view| view.id_string() == Some(""))
        .depends_on("/id"),
    Fault::new(
        ECHO,
        "id-zero-dropped",
        "leaves out the ids 0 and the empty string, which count as false in some languages",
    )
    .injects(Behaviour::Answer(|_, answer| remove(answer, "id")))
    .when(|view| view.id_number().as_deref() == Some("0") || view.id_string() == Some(""))
    .depends_on("/id"),
    Fault::new(ECHO, "id-as-markup", "writes &, < and > of ids as entities")
        .injects(Behaviour::Answer(|view, answer| {
            let id = view.id_string().unwrap_or_default();
            let escaped = id.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            set(answer, "id", escaped);
        }))
        .when(|view| view.id_string().is_some_and(|id| id.contains(['&', '<', '>'])))
        .depends_on("/id"),
    Fault::new(ECHO, "id-as-date", "removes zero milliseconds from ids that are timestamps")
        .injects(Behaviour::Answer(|view, answer| {
            let id = view.id_string().unwrap_or_default();
            set(answer, "id", id.replace(".000Z", "Z"));
        }))
        .when(|view| view.id_string().is_some_and(|id| id.contains(".000Z")))
        .depends_on("/id"),
    Fault::new(ECHO, "id-without-accents", "drops combining accents from ids")
        .injects(Behaviour::Answer(|view, answer| {
            let id = view.id_string().unwrap_or_default();
            set(answer, "id", id.replace(ACCENT, ""));
        }))
        .when(|view| view.id_string().is_some_and(|id| id.contains(ACCENT)))
        .depends_on("/id"),
    Fault::new(ECHO, "id-number-as-string", "returns ids that are numbers as strings")
        .injects(Behaviour::Answer(|view, answer| set(answer, "id", decimal_text(view.id()))))
        .when(|view| view.id().is_number())
        .depends_on("/id"),
    Fault::new(ECHO, "id-digits-as-number", "returns ids that are strings of digits as numbers")
        .injects(Behaviour::Answer(|view, answer| set(answer, "id", json(&text_of(view.id())))))
        .when(|view| {
            view.id_string().is_some_and(|id| {
                id.starts_with(|first| ('1'..='9').contains(&first)) && id.parse::<u64>().is_ok()
            })
        })
        .depends_on("/id"),
    Fault::new("json-rpc.large-ids", "id-through-double", "loses the last digits of ids above 2^53")
        .injects(Behaviour::Answer(|view, answer| {
            let double = text_of(view.id()).parse::<f64>().unwrap_or_default();
            set(answer, "id", json(&format!("{double}")));
        }))
        .when(is_large)
        .depends_on("/id"),
    Fault::new(ECHO, "id-fraction-cut", "removes the fraction of an id")
        .injects(Behaviour::Answer(|view, answer| {
            let digits = text_of(view.id());
            let whole = digits.split_once('.').map_or(digits.as_str(), |(whole, _)| whole);
            set(answer, "id", json(whole));
        }))
        .when(|view| view.id_number().is_some_and(|digits| digits.contains('.') && !digits.contains('e')))
        .depends_on("/id"),
    Fault::new(ECHO, "id-sign-lost", "loses the sign of negative ids")
        .injects(Behaviour::Answer(|view, answer| {
            set(answer, "id", json(text_of(view.id()).trim_start_matches('-')));
        }))
        .when(|view| view.id_number().is_some_and(|digits| digits.starts_with('-') && digits != "-0"))
        .depends_on("/id"),
    Fault::new(ECHO, "id-long-cut", "returns the first 64 letters of an id")
        .injects(Behaviour::Answer(|view, answer| {
            let id: String = text_of(view.id()).chars().take(LONG_ID).collect();
            set(answer, "id", id);
        }))
        .when(|view| view.id_string().is_some_and(|id| id.chars().count() > LONG_ID))
        .depends_on("/id"),
    Fault::new(ECHO, "id-non-ascii-replaced", "replaces letters of ids that are not ascii by question marks")
        .injects(Behaviour::Answer(|view, answer| {
            let letters = text_of(view.id());
            let id: String =
                letters.chars().map(|letter| if letter.is_ascii() { letter } else { '?' }).collect();
            set(answer, "id", id);
        }))
        .when(|view| view.id_string().is_some_and(|id| !id.is_ascii()))
        .depends_on("/id"),
    Fault::new(ECHO, "id-wrong-now-and-then", "returns a wrong id in 1 of 25 answers")
        .injects(Behaviour::Answer(|_, answer| set(answer, "id", "another")))
        .when(|view| view.is_call() && view.is_one_in_25()),
    Fault::new(ECHO, "id-of-previous", "returns the id of the previous request")
        .injects(Behaviour::Answer(|view, answer| {
            if let Some(previous) = view.memory.previous("id", view.id()) {
                set(answer, "id", previous);
            }
        }))
        .when(|view| view.is_call())
        .depends_on_others(),
    Fault::new(ECHO, "id-cut-in-errors", "cuts ids of more than 16 characters in errors")
        .injects(Behaviour::Answer(|view, answer| {
            if answer.contains_key("error") {
                let id = text_of(view.id());
                set(answer, "id", id.chars().take(16).collect::<String>());
            }
        }))
        .when(|view| view.id_string().is_some_and(|id| id.chars().count() > 16))
        .depends_on("/id"),
    Fault::new(ECHO, "id-null-in-token-mode", "returns id null in token mode only")
        .injects(TO_NULL)
        .when(|view| view.is_token_mode())
        .of_fee_quote(),
];

const TO_NULL: Behaviour = Behaviour::Answer(|_, answer| set(answer, "id", Value::Null));

/// Whether the id is an integer that a double may not represent.
fn is_large(view: &RequestView<'_>) -> bool {
    let number = view.id_number().and_then(|digits| digits.parse::<i128>().ok());
    number.is_some_and(|number| number.abs() > LARGEST_SAFE_INTEGER)
}
