//! Which clauses test which statement of ERC-7677, with what grade, and which faults and freedoms of servers belong to it.
//!
//! The statements have a letter and a number: R requests, V version, S stub, Z stub against data, I isFinal, D data, E errors, C chain and
//! EntryPoint, P contracts, K checks through a node.

use std::collections::BTreeSet;

use Grade::{Broken, Note, OnChain, Warn};
use paymaster_faults::{find_fault, find_variant};
use paymaster_schemas::{Basis, ERC_7677, find_clause};

/// How clear a statement is. The grade decides the bases that its clauses may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grade {
    /// The text says it, or it follows from its types: *stated*.
    Broken,
    /// Arguable, recommended, or needed by clients: *recommended*, *json-rpc*, *interoperability* or *plausibility*.
    Warn,
    /// Only noted: *not shown*.
    Note,
    /// A node decides it: *on-chain*, or *interoperability* where the profile names contract and signer.
    OnChain,
}

/// A statement, and what tests it.
#[derive(Debug)]
struct Statement {
    /// Its letter and number.
    id: &'static str,
    /// The clauses of one grade, with a space between them.
    grades: &'static [(Grade, &'static str)],
    /// Faults of servers that break it, by their numbers in [`FAULTS`] and [`WITHOUT_A_NAME`].
    faults: &'static [u8],
    /// Freedoms of servers that it leaves, by their numbers.
    freedoms: &'static [u8],
    /// Why it has no clause.
    not_observable: Option<&'static str>,
}

const fn tested(
    id: &'static str,
    grades: &'static [(Grade, &'static str)],
    faults: &'static [u8],
    freedoms: &'static [u8],
) -> Statement {
    Statement { id, grades, faults, freedoms, not_observable: None }
}

const fn untested(id: &'static str, reason: &'static str, freedoms: &'static [u8]) -> Statement {
    Statement { id, grades: &[], faults: &[], freedoms, not_observable: Some(reason) }
}

/// Every statement.
static STATEMENTS: &[Statement] = &[
    tested("R1", &[(Broken, "call.params"), (Note, "observed.params-forms")], &[], &[20]),
    tested("R2", &[(Warn, "call.letter-case call.same-operation")], &[57], &[13]),
    tested("R3", &[(Warn, "context.null"), (Note, "observed.context")], &[45], &[19]),
    tested("R4", &[(Broken, "operation.members-06")], &[], &[22]),
    tested("R5", &[(Broken, "operation.unsigned"), (Warn, "operation.dummy-signature")], &[38, 39], &[]),
    tested(
        "R6",
        &[(Warn, "operation.null-members operation.factory operation.eip-7702 operation.stub-members")],
        &[39, 42, 43, 44],
        &[26],
    ),
    tested(
        "R7",
        &[(Warn, "stub-request.zero-limits stub-request.zero-fees operation.nonce")],
        &[28, 40, 41],
        &[27],
    ),
    tested("R8", &[(Note, "observed.packed-members")], &[], &[]),
    tested(
        "V1",
        &[
            (Broken, "stub.members-06 stub.members-07 data.members-06 data.members-07"),
            (Warn, "result.one-shape"),
        ],
        &[5, 6, 7, 51, 58],
        &[34],
    ),
    tested("S1", &[(Broken, "answer.result-object")], &[51], &[]),
    tested(
        "S2",
        &[
            (Broken, "result.gas-limit"),
            (Warn, "result.null-member result.gas-limit-size"),
            (Note, "observed.limits-returned observed.gas-limit-zeros"),
        ],
        &[2, 3, 4],
        &[7, 14, 36],
    ),
    tested("S3", &[(Broken, "stub.post-op-gas-07"), (Warn, "stub.post-op-gas-08")], &[1], &[8]),
    tested("S4", &[(Broken, "stub.limits-used")], &[], &[]),
    tested(
        "S5",
        &[(Broken, "sponsor-member.name"), (Warn, "sponsor-member.icon"), (Note, "observed.icon")],
        &[35, 36, 37],
        &[10, 11],
    ),
    tested("S6", &[(Warn, "refusal.early refusal.of-data")], &[33, 34], &[33, 35]),
    tested("S7", &[(Warn, "result.operation-members"), (Note, "observed.extra-members")], &[20], &[12]),
    tested("Z1", &[(Broken, "stub-and-data.length")], &[11, 12], &[2, 17]),
    tested("Z2", &[(Broken, "stub-and-data.zero-bytes"), (Note, "observed.zero-bytes")], &[13, 14], &[3, 32]),
    tested("Z3", &[(OnChain, "stub.simulates")], &[15, 16, 17, 65], &[4]),
    tested("Z4", &[(Note, "unshown.stub-window")], &[], &[5]),
    tested("Z5", &[(Note, "observed.paymaster-changes")], &[65], &[34]),
    tested("I1", &[(Broken, "is-final.boolean"), (Note, "observed.is-final")], &[31], &[1]),
    tested("I2", &[(Warn, "is-final.data-served")], &[32], &[]),
    tested("I3", &[(OnChain, "is-final.accepted is-final.signature")], &[29, 30], &[6]),
    untested("I4", "it is a freedom: two valid answers may differ", &[38]),
    untested(
        "I5",
        "it says where Z1 to Z3 do not hold: the rules of stub and data leave final stubs out",
        &[6],
    ),
    tested(
        "D1",
        &[(Broken, "result.bytes result.paymaster"), (Warn, "result.address-once")],
        &[8, 9, 10],
        &[6],
    ),
    untested(
        "D2",
        "members beyond the listed ones are noted: observed.extra-members and observed.limits-returned",
        &[9, 10],
    ),
    tested(
        "D3",
        &[
            (OnChain, "data.accepted data.signature data.signature-of-call data.window data.concurrent"),
            (Warn, "data.differs"),
        ],
        &[18, 20, 22, 23, 24, 25, 26, 27, 28, 55, 56, 62, 63],
        &[16, 17],
    ),
    tested("D4", &[(OnChain, "data.signature-of-limits")], &[19, 20], &[26]),
    tested("D5", &[(Note, "observed.repeated-data")], &[], &[15, 28]),
    tested("D6", &[(Broken, "result.paymaster-and-data")], &[58], &[]),
    tested("D7", &[(Note, "unshown.deposit")], &[], &[]),
    tested(
        "E1",
        &[
            (
                Broken,
                "answer.object answer.result-or-error answer.jsonrpc answer.id \
            answer.single-valued-members error.object error.code error.message",
            ),
            (Warn, "json-rpc.any-answer"),
        ],
        &[50, 51, 52, 53, 54],
        &[23, 31],
    ),
    tested("E2", &[(Warn, "json-rpc.reserved-codes"), (Note, "observed.error-codes")], &[], &[23]),
    tested(
        "E3",
        &[
            (
                Warn,
                "json-rpc.invalid-params json-rpc.method-not-found json-rpc.parse-error \
            json-rpc.invalid-request",
            ),
            (Note, "observed.error-texts"),
        ],
        &[64],
        &[25],
    ),
    tested(
        "E4",
        &[
            (Broken, "answer.json-text answer.http-message"),
            (Warn, "http.status-of-result http.content-type http.idle-connection request.headers"),
        ],
        &[61],
        &[24, 28],
    ),
    tested(
        "E5",
        &[(
            Warn,
            "json-rpc.batch json-rpc.batch-elements json-rpc.empty-batch json-rpc.notification \
            json-rpc.null-id json-rpc.unique-members",
        )],
        &[49],
        &[29, 30],
    ),
    tested(
        "E6",
        &[
            (Broken, "request.id-string request.id-number"),
            (Warn, "json-rpc.large-ids"),
            (Note, "observed.id-forms"),
        ],
        &[54],
        &[],
    ),
    untested("E7", "params by name are noted: observed.params-forms", &[]),
    untested("E8", "the number of params is noted: observed.params-forms", &[20]),
    tested("C1", &[(Broken, "chain.own-data"), (Note, "observed.foreign-chain")], &[21], &[18]),
    untested("C2", "no code is prescribed; the form of the refusal is that of every error", &[18]),
    tested(
        "C3",
        &[
            (Broken, "entry-point.unknown-refused"),
            (Warn, "entry-point.letter-case"),
            (Note, "observed.unknown-entry-point"),
        ],
        &[47, 48],
        &[22],
    ),
    tested("C4", &[(Warn, "entry-point.other-operation")], &[], &[37]),
    tested("C5", &[(Note, "observed.chain-id-forms")], &[], &[21]),
    untested("P1", "the sender's nonce within the contract is signed, and a node alone knows it", &[]),
    untested("P2", "it says what a contract signs: data.signature checks it", &[17]),
    untested("P3", "it says what a contract signs: data.signature checks it", &[17]),
    untested(
        "P4",
        "it says what a contract signs: data.signature checks it where the profile states contract.flags",
        &[17],
    ),
    tested("K1", &[(Note, "observed.node")], &[], &[]),
    untested(
        "K2",
        "K1 shows the same of the data; where the profile names a bundler, its handleOps confirms a revert",
        &[],
    ),
    untested("K3", "it says which clock counts: data.accepted compares the times with ours", &[]),
    untested("K4", "it says that K1 is sharp, and the tests of this crate show it", &[]),
    tested("K5", &[(OnChain, "stub.verification-gas")], &[59], &[]),
    tested("silence 8", &[(Warn, "data-request.without-stub")], &[46], &[]),
    tested(
        "service",
        &[
            (Broken, "endpoint.stub-and-data stub.sponsorable-is-served data.sponsorable-is-served"),
            (Note, "unshown.wallet"),
        ],
        &[],
        &[33],
    ),
];

/// The numbers of faults, and the faults and variants of the reference server that behave so, with a space between them.
const FAULTS: &[(u8, &str)] = &[
    (1, "stub-post-op-gas-missing"),
    (2, "gas-limit-decimal"),
    (3, "gas-limit-number"),
    (4, "gas-limit-without-digits"),
    (5, "stub-06-as-07 data-06-as-07"),
    (6, "stub-07-as-06 data-07-as-06"),
    (7, "entry-point-08-as-06"),
    (8, "address-in-the-data address-twice"),
    (9, "data-half-a-byte data-without-prefix"),
    (10, "paymaster-of-nineteen-bytes paymaster-of-a-word paymaster-zero"),
    (11, "stub-without-signature"),
    (12, "data-signature-compact"),
    (13, "stub-signature-zero"),
    (14, "stub-window-zero"),
    (15, "stub-signature-cut"),
    (16, "stub-signature-reverts"),
    (18, "signed-for-zero-limits"),
    (19, "constant-limits-signed"),
    (20, "own-estimate-signed own-gas-limits-returned small-verification-limit-raised"),
    (21, "foreign-chain-served"),
    (22, "gas-limits-swapped"),
    (23, "fees-swapped"),
    (24, "factory-not-signed"),
    (25, "signature-of-another-digest"),
    (26, "data-expired"),
    (27, "data-not-yet-valid data-due-too-late"),
    (28, "nonce-cut nonce-of-64-bits"),
    (29, "stub-called-final final-stub-reverts"),
    (30, "final-for-zero-limits"),
    (31, "is-final-text is-final-number"),
    (32, "data-refused-after-final"),
    (33, "denied-stub-served"),
    (34, "denied-data-served"),
    (35, "sponsor-without-name sponsor-name-number"),
    (36, "icon-https"),
    (37, "icon-without-comma icon-broken-base64"),
    (38, "unsigned-operation-refused"),
    (
        39,
        "dummy-signature-refused stub-members-refused stub-members-without-context-refused \
        stub-members-of-delegate-refused paymaster-signature-refused",
    ),
    (40, "zero-limits-refused"),
    (41, "zero-fees-divided-by"),
    (42, "null-members-refused"),
    (43, "authorization-refused authorization-nonce-refused authorization-for-07-refused"),
    (44, "delegated-factory-refused"),
    (45, "context-null-fails"),
    (46, "data-without-stub-refused"),
    (47, "entry-point-lower-case-refused"),
    (48, "unknown-entry-point-served"),
    (50, "refusal-without-envelope"),
    (51, "refusal-as-result refusal-as-result-null"),
    (52, "error-null-beside-result"),
    (53, "refusal-code-text"),
    (54, "id-missing id-number-as-string id-through-double"),
    (55, "data-swapped"),
    (56, "data-cached-by-sender call-of-the-stub-signed"),
    (57, "spelling-signed upper-case-refused entry-point-in-capitals-refused"),
    (58, "refusal-as-empty-data"),
    (59, "verification-gas-too-small"),
    (61, "html-for-stubs-of-08"),
    (65, "stub-paymaster-not-deployed"),
];

/// The numbers of faults that the reference server does not have, and why.
const WITHOUT_A_NAME: &[(u8, &str)] = &[
    (17, "a stub without exchange rate needs the contract of a token: interop/foreign/faults.mjs has it"),
    (
        49,
        "a token that ends the service: answer.http-message judges what was in flight, in the tests of the command line",
    ),
    (
        60,
        "too little gas for postOp: handleOps returns all the same, and an event alone tells it, which no call returns",
    ),
    (
        62,
        "a wrong count of the sender's operations: the contract has the count, so that a node alone shows it",
    ),
    (63, "a wrong paymasterSignature: the server writes none, and the tests of paymaster-ethereum read them"),
    (64, "secrets in the texts of errors: these are noted (observed.error-texts), and break no rule"),
];

#[test]
fn every_statement_has_a_clause_or_a_reason() {
    let numbered =
        [("R", 8), ("V", 1), ("S", 7), ("Z", 5), ("I", 5), ("D", 7), ("E", 8), ("C", 5), ("P", 4), ("K", 5)];
    let expected = numbered
        .into_iter()
        .flat_map(|(letter, last)| (1..=last).map(move |number| format!("{letter}{number}")));
    for id in expected {
        let found: Vec<&Statement> = STATEMENTS.iter().filter(|statement| statement.id == id).collect();
        let [statement] = found[..] else { panic!("{id} is listed {} times", found.len()) };
        assert!(statement.grades.is_empty() == statement.not_observable.is_some(), "{id}");
        assert!(statement.not_observable.is_none_or(|reason| reason.len() > 20), "{id}");
    }
}

#[test]
fn the_basis_of_every_clause_is_that_of_its_grade() {
    for statement in STATEMENTS {
        for (grade, clauses) in statement.grades {
            for id in clauses.split(' ') {
                let basis = find_clause(id).unwrap_or_else(|| panic!("{id} is no clause")).basis;
                let fits = match grade {
                    Broken => basis == Basis::Stated,
                    Warn => matches!(
                        basis,
                        Basis::Recommended | Basis::JsonRpc | Basis::Interoperability | Basis::Plausibility
                    ),
                    Note => basis == Basis::NotShown,
                    OnChain => matches!(basis, Basis::OnChain | Basis::Interoperability),
                };
                assert!(fits, "{}: {id} is {basis}", statement.id);
            }
        }
    }
}

#[test]
fn every_clause_tests_a_statement_and_every_fault_and_freedom_belongs_to_one() {
    let clauses: BTreeSet<&str> = STATEMENTS
        .iter()
        .flat_map(|statement| statement.grades)
        .flat_map(|(_, clauses)| clauses.split(' '))
        .collect();
    for clause in ERC_7677.clauses() {
        assert!(clauses.contains(clause.id), "{} tests no statement", clause.id);
    }
    let numbers = |of: fn(&Statement) -> &'static [u8]| -> BTreeSet<u8> {
        STATEMENTS.iter().flat_map(|statement| of(statement).iter().copied()).collect()
    };
    let unnamed: BTreeSet<u8> = WITHOUT_A_NAME.iter().map(|(number, _)| *number).collect();
    assert_eq!(&numbers(|statement| statement.faults) | &unnamed, (1..=65).collect());
    assert_eq!(numbers(|statement| statement.freedoms), (1..=38).collect());
}

#[test]
fn every_fault_breaks_a_clause_of_a_statement_that_has_its_number() {
    let numbers = FAULTS.iter().chain(WITHOUT_A_NAME).map(|(number, _)| *number);
    let mut numbers: Vec<u8> = numbers.collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=65), "each number once");
    for (number, names) in FAULTS {
        let own = STATEMENTS.iter().filter(|statement| statement.faults.contains(number));
        let clauses = own.flat_map(|statement| statement.grades).flat_map(|(_, clauses)| clauses.split(' '));
        for name in names.split(' ') {
            match find_fault(name) {
                Ok(fault) => assert!(clauses.clone().any(|own| own == fault.clause), "F{number}: {name}"),
                Err(cause) => assert!(find_variant(name).is_ok(), "F{number}: {cause}"),
            }
        }
    }
}
