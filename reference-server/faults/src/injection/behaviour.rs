//! What an injection does, and when.

use serde_json::{Map, Value};

use super::{RequestView, WireResponse, change::replace};

/// Whether a behaviour is injected for this request.
pub(crate) type Condition = fn(&RequestView<'_>) -> bool;

/// One injected behaviour of a faulty or varied server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Injection {
    /// Evaluated once a request, and only where the behaviour can apply: conditions may count requests.
    pub(crate) condition: Condition,
    pub(crate) behaviour: Behaviour,
}

/// The condition that every request meets.
pub(crate) fn always(_: &RequestView<'_>) -> bool {
    true
}

/// A change to a request or to its response. The variants stand in the order in which they are applied.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Behaviour {
    /// Changes the request before the service reads it. Where nothing changes, the service reads the original bytes.
    Request(fn(&RequestView<'_>, &mut Value)),
    /// Changes the request as [`Behaviour::Request`] does, and then the result, which is an object.
    Exchange(fn(&RequestView<'_>, &mut Value), fn(&RequestView<'_>, &mut Map<String, Value>)),
    /// Replaces a result by an error.
    Refuse,
    /// Changes one member of a result, or of each of its fee quotes. `row` is the id of the clause about that member, such as `sponsored-result.MODE`.
    Row { row: &'static str, change: MemberChange },
    /// Changes a result that is an object.
    Result(fn(&RequestView<'_>, &mut Map<String, Value>)),
    /// Changes an error object.
    Error(fn(&RequestView<'_>, &mut Map<String, Value>)),
    /// Changes the JSON-RPC response to one request, alone or in a batch.
    Answer(fn(&RequestView<'_>, &mut Map<String, Value>)),
    /// Changes the response to the whole body: a single response, a batch of them, or none.
    Reply(fn(&RequestView<'_>, &mut Option<Value>)),
    /// Changes the responses to a batch, where there are any.
    Batch(fn(&RequestView<'_>, &mut Vec<Value>)),
    /// Swaps the response, or its result, with that of another request in flight.
    Swap(SwappedPart),
    /// Changes the text of the response body.
    Text(fn(&RequestView<'_>, &mut Vec<u8>)),
    /// Changes the HTTP response.
    Http(fn(&RequestView<'_>, &mut WireResponse)),
    /// Resets the connection in the middle of the response.
    Reset,
}

impl Behaviour {
    pub(crate) const NOTHING: Self = Self::Answer(|_, _| {});
    /// Sponsors nothing: every `paymasterAndData` is `0x`.
    pub(crate) const SPONSOR_NOTHING: Self =
        Self::Result(|_, result| replace(result, "paymasterAndData", "0x"));
}

/// The methods that give a fault or a variant its behaviour.
macro_rules! behaviours {
    () => {
        const fn injects(mut self, behaviour: $crate::injection::Behaviour) -> Self {
            self.injection.behaviour = behaviour;
            self
        }
        behaviours! {
            on_request Request(serde_json::Value);
            on_result Result(serde_json::Map<String, serde_json::Value>);
            on_error Error(serde_json::Map<String, serde_json::Value>);
            on_answer Answer(serde_json::Map<String, serde_json::Value>);
            on_reply Reply(Option<serde_json::Value>);
            on_text Text(Vec<u8>);
            on_http Http($crate::injection::WireResponse);
        }
    };
    ($($method:ident $behaviour:ident($changed:ty);)+) => {
        $(const fn $method(self, change: fn(&$crate::injection::RequestView<'_>, &mut $changed)) -> Self {
            self.injects($crate::injection::Behaviour::$behaviour(change))
        })+
    };
}

/// A change to one member of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemberChange {
    /// Removes the member.
    Remove,
    /// Replaces the value by this JSON text.
    Set(&'static str),
    /// Replaces the value by what the function returns for it.
    Map(fn(&Value) -> Value),
}

/// What [`Behaviour::Swap`] swaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SwappedPart {
    /// The whole response, its id included.
    Answer,
    /// The result alone: each response keeps its id.
    Result,
}
