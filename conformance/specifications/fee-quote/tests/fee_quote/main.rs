//! Rules, relations, requests and knowledge of the specification, without a socket.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod applicability;
mod common;
mod comparisons;
mod discovery;
mod first_draws;
mod in_process;
mod mutations;
mod on_chain;
mod plan;
mod policies;
mod refused_clients;
mod requests;
mod shrinking;
mod source;
mod strategies;
mod tallies;
mod verdicts;
mod wording;

use std::{
    cell::Cell,
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use bytes::Bytes;
use chrono::NaiveDate;
use common::{
    group::{ANSWER, NO, exchanged, json_response},
    letters::{self, address},
    runs::{Paymaster, answer, send},
    sample,
};
use paymaster_engine::{
    cases::{
        case::{Base, BuildInput, Draw, Group, Ids, Role},
        plan::{DEFAULT_CASES, Plan},
        scope::Scope,
    },
    diagnosis::finding::{Finding, Key},
    generate::{Overrides, runner, simpler, strategy},
    knowledge::{Expectation, Knowledge},
    message::request::ParsedRequest,
    rules::{Rule, View, Violation},
    session::{judge::Judge, tally::Tally},
    verdict::{
        conclusion::Verdict,
        known::{KnownFailure, KnownFailureKind, KnownFailureList},
        summary::RuleOutcome,
    },
};
use paymaster_exchange::{Exchange, Failure, Response};
use paymaster_fee_quote::{
    SPECIFICATION,
    base::Tokens,
    discovery::Discovery,
    generate::Source,
    observers::OBSERVERS,
    relations::{RELATIONS, STRING_IDS},
    target::{
        context::{Context, Support},
        dialect::{Amounts, Dialect, Pins, QuotedTokens},
        profile::{Accepts, Operations, Profile, SmartAccount, Sponsors, Token, TokenLists},
    },
};
use paymaster_reference_server::{Config, Service};
use paymaster_schemas::{Basis, FEE_QUOTE, Kind, Mode, kinds, resolved, validator_for};
use proptest::{
    prelude::Strategy,
    strategy::ValueTree,
    test_runner::{TestError, TestRunner},
};
use serde_json::{Map, Value, json};
