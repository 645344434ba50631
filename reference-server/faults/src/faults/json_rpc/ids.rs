//! Faults of ids: requests refused for their id, and ids that the response omits or changes (sections 2.1 and 2.10).

use serde_json::{Map, Value};

use crate::faults::{Fault, fault};
use crate::injection::{Behaviour, RequestView, decimal_text, in_error, json, remove, set, text_of};

/// A length that usual ids do not reach: a UUID has 36 characters.
const LONG_ID: usize = 64;

/// The combining acute accent.
const ACCENT: char = '\u{301}';

const NUMBER: Fault = Fault::breaking("request.id-number").depends_on("/id");
const STRING: Fault = Fault::breaking("request.id-string").depends_on("/id");
const ECHO: Fault = Fault::breaking("answer.id");
const OF_ID: Fault = ECHO.when(|view| view.has_id());
const ECHO_BY_ID: Fault = ECHO.depends_on("/id");

pub(crate) const FAULTS: &[Fault] = &[
    fault(NUMBER, "id-number-refused", "refuses every id that is a number")
        .refuses(|view| view.id().is_number()),
    fault(NUMBER, "id-zero-refused", "treats the id 0 as missing")
        .refuses(|view| view.id_number().as_deref() == Some("0")),
    fault(NUMBER, "id-negative-refused", "refuses negative ids")
        .refuses(|view| view.id_number().is_some_and(|digits| digits.starts_with('-')))
        .of_fee_quote(),
    fault(STRING, "id-string-refused", "refuses every id that is a string")
        .refuses(|view| view.id().is_string()),
    fault(STRING, "id-empty-refused", "treats the empty id as missing")
        .refuses(|view| view.id_string() == Some("")),
    fault(STRING, "id-long-refused", "refuses ids of more than 64 letters")
        .refuses(|view| view.id_string().is_some_and(|id| id.chars().count() > LONG_ID))
        .of_fee_quote(),
    fault(STRING, "id-non-ascii-refused", "refuses ids that are not ascii")
        .refuses(|view| view.id_string().is_some_and(|id| !id.is_ascii()))
        .of_fee_quote(),
    fault(STRING, "escaped-slash-refused", "refuses \\/ in a request")
        .refuses(|view| view.raw.windows(2).any(|pair| pair == b"\\/"))
        .of_fee_quote(),
    fault(STRING, "id-not-digits-refused", "refuses ids that are strings other than digits").refuses(
        |view| {
            view.id_string().is_some_and(|id| id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()))
        },
    ),
    fault(OF_ID, "id-missing", "leaves the id out").on_answer(|_, answer| remove(answer, "id")),
    fault(OF_ID, "id-missing-in-errors", "leaves the id out of errors")
        .on_answer(|_, answer| in_error(answer, |answer| remove(answer, "id"))),
    fault(OF_ID, "id-null-in-errors", "returns id null in every error")
        .on_answer(|_, answer| in_error(answer, |answer| set(answer, "id", Value::Null))),
    fault(OF_ID, "id-null", "returns id null").injects(TO_NULL),
    fault(OF_ID, "id-always-one", "returns id 1 for every request")
        .on_answer(|_, answer| set(answer, "id", 1)),
    fault(ECHO_BY_ID, "id-zero-null", "returns id null for the id 0")
        .injects(TO_NULL)
        .when(|view| view.id_number().as_deref() == Some("0")),
    fault(ECHO_BY_ID, "id-empty-null", "returns id null for the empty id")
        .injects(TO_NULL)
        .when(|view| view.id_string() == Some("")),
    fault(ECHO_BY_ID, "id-proto-null", "returns id null for the id __proto__")
        .injects(TO_NULL)
        .when(|view| view.id_string() == Some("__proto__"))
        .of_fee_quote(),
    fault(ECHO, "id-cut-between-pieces", "decodes each 4,096 bytes of a body alone")
        .on_answer(|view, answer| {
            let text: String = view.raw.chunks(4_096).map(String::from_utf8_lossy).collect();
            set(answer, "id", json(&text)["id"].clone());
        })
        .when(|view| view.id_string().is_some_and(|id| !id.is_ascii()))
        .of_fee_quote(),
    fault(ECHO_BY_ID, "id-zero-dropped", "leaves out the id 0 and the empty id, which may count as false")
        .on_answer(|_, answer| remove(answer, "id"))
        .when(|view| view.id_number().as_deref() == Some("0") || view.id_string() == Some("")),
    fault(ECHO_BY_ID, "id-as-markup", "writes &, < and > of ids as entities")
        .on_answer(|view, answer| {
            respell(view, answer, |id| id.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
        })
        .when(|view| view.id_string().is_some_and(|id| id.contains(['&', '<', '>']))),
    fault(ECHO_BY_ID, "id-as-date", "removes zero milliseconds from ids that are timestamps")
        .on_answer(|view, answer| respell(view, answer, |id| id.replace(".000Z", "Z")))
        .when(|view| view.id_string().is_some_and(|id| id.contains(".000Z"))),
    fault(ECHO_BY_ID, "id-without-accents", "drops combining accents from ids")
        .on_answer(|view, answer| respell(view, answer, |id| id.replace(ACCENT, "")))
        .when(|view| view.id_string().is_some_and(|id| id.contains(ACCENT))),
    fault(ECHO, "id-by-text-search", "returns the first id of the text, whatever object it is in")
        .on_answer(|view, answer| {
            let text = String::from_utf8_lossy(view.raw);
            let behind = text.split_once("\"id\":").map_or("", |(_, behind)| behind);
            let first = serde_json::Deserializer::from_str(behind).into_iter::<Value>().next();
            if let Some(Ok(id)) = first {
                set(answer, "id", id);
            }
        })
        .when(|view| view.is_call()),
    fault(ECHO_BY_ID, "id-number-as-string", "returns ids that are numbers as strings")
        .on_answer(|view, answer| set(answer, "id", decimal_text(view.id())))
        .when(|view| view.id().is_number()),
    fault(ECHO_BY_ID, "id-digits-as-number", "returns ids that are strings of digits as numbers")
        .on_answer(|view, answer| set(answer, "id", json(&text_of(view.id()))))
        .when(|view| {
            view.id_string().is_some_and(|id| {
                id.starts_with(|first| ('1'..='9').contains(&first)) && id.parse::<u64>().is_ok()
            })
        }),
    Fault::new("json-rpc.large-ids", "id-through-double", "loses the last digits of ids above 2^53")
        .on_answer(|view, answer| set(answer, "id", view.rounded_id()))
        .when_at("/id", |view| view.has_large_id()),
    fault(ECHO_BY_ID, "id-fraction-cut", "removes the fraction of an id")
        .on_answer(|view, answer| {
            set(answer, "id", json(text_of(view.id()).split('.').next().unwrap_or_default()));
        })
        .when(|view| view.id_number().is_some_and(|digits| digits.contains('.') && !digits.contains('e'))),
    fault(ECHO_BY_ID, "id-in-seconds", "cuts three zeros off ids of 13 digits, as of times in milliseconds")
        .on_answer(|view, answer| {
            set(answer, "id", json(text_of(view.id()).strip_suffix("000").unwrap_or_default()));
        })
        .when(|view| view.id_number().is_some_and(|digits| digits.len() == 13 && digits.ends_with("000"))),
    fault(ECHO_BY_ID, "id-sign-lost", "loses the sign of negative ids")
        .on_answer(|view, answer| set(answer, "id", json(text_of(view.id()).trim_start_matches('-'))))
        .when(|view| view.id_number().is_some_and(|digits| digits.starts_with('-') && digits != "-0")),
    fault(ECHO_BY_ID, "id-long-cut", "returns the first 64 letters of an id")
        .on_answer(|view, answer| set(answer, "id", shortened(view, LONG_ID)))
        .when(|view| view.id_string().is_some_and(|id| id.chars().count() > LONG_ID)),
    fault(ECHO_BY_ID, "id-non-ascii-replaced", "writes letters of ids that are not ascii as question marks")
        .on_answer(|view, answer| {
            respell(view, answer, |id| id.replace(|letter: char| !letter.is_ascii(), "?"));
        })
        .when(|view| view.id_string().is_some_and(|id| !id.is_ascii())),
    fault(ECHO, "id-wrong-now-and-then", "returns a wrong id in 1 of 25 answers")
        .on_answer(|_, answer| set(answer, "id", "another"))
        .when(|view| view.is_call() && view.is_one_in(25)),
    fault(ECHO, "id-of-previous", "returns the id of the previous request")
        .on_answer(|view, answer| {
            if let Some(previous) = view.memory.previous("id", view.id()) {
                set(answer, "id", previous);
            }
        })
        .when(|view| view.is_call())
        .depends_on_others(),
    fault(ECHO_BY_ID, "id-cut-in-errors", "cuts ids of more than 16 characters in errors")
        .on_answer(|view, answer| in_error(answer, |answer| set(answer, "id", shortened(view, 16))))
        .when(|view| view.id_string().is_some_and(|id| id.chars().count() > 16)),
    fault(ECHO, "id-null-in-token-mode", "returns id null in token mode only")
        .injects(TO_NULL)
        .when(|view| view.is_token_mode())
        .of_fee_quote(),
];

const TO_NULL: Behaviour = Behaviour::Answer(|_, answer| set(answer, "id", Value::Null));

/// Writes an id that is a string in another way.
pub(crate) fn respell(view: &RequestView<'_>, answer: &mut Map<String, Value>, spell: fn(&str) -> String) {
    set(answer, "id", spell(view.id_string().unwrap_or_default()));
}

/// The first letters of an id.
fn shortened(view: &RequestView<'_>, letters: usize) -> String {
    text_of(view.id()).chars().take(letters).collect()
}
