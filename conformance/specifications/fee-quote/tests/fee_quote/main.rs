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

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use chrono::NaiveDate;
use common::group::{ANSWER, NO, exchanged, json_response};
use common::letters::{self, address};
use common::runs::{Paymaster, answer, send};
use common::sample;
use paymaster_engine::cases::case::{Base, BuildInput, Draw, Group, Ids, Role};
use paymaster_engine::cases::plan::{DEFAULT_CASES, Plan};
use paymaster_engine::cases::scope::Scope;
use paymaster_engine::diagnosis::finding::{Finding, Key};
use paymaster_engine::generate::{Overrides, runner, simpler, strategy};
use paymaster_engine::knowledge::{Expectation, Knowledge};
use paymaster_engine::message::request::ParsedRequest;
use paymaster_engine::rules::{Rule, View, Violation};
use paymaster_engine::session::judge::Judge;
use paymaster_engine::session::tally::Tally;
use paymaster_engine::verdict::conclusion::Verdict;
use paymaster_engine::verdict::known::{KnownFailure, KnownFailureKind, KnownFailureList};
use paymaster_engine::verdict::summary::RuleOutcome;
use paymaster_exchange::{Exchange, Failure, Response};
use paymaster_fee_quote::SPECIFICATION;
use paymaster_fee_quote::base::Tokens;
use paymaster_fee_quote::discovery::Discovery;
use paymaster_fee_quote::generate::Source;
use paymaster_fee_quote::observers::OBSERVERS;
use paymaster_fee_quote::relations::{RELATIONS, STRING_IDS};
use paymaster_fee_quote::target::context::{Context, Support};
use paymaster_fee_quote::target::dialect::{Amounts, Dialect, Pins, QuotedTokens};
use paymaster_fee_quote::target::profile::{
    Accepts, Operations, Profile, SmartAccount, Sponsors, Token, TokenLists,
};
use paymaster_reference_server::{Config, Service};
use paymaster_schemas::{Basis, FEE_QUOTE, Kind, Mode, kinds, resolved, validator_for};
use proptest::prelude::Strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::{TestError, TestRunner};
use serde_json::{Map, Value, json};
