//! Edits that break messages, drawn by proptest from a fixed seed.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Bytes that have been trouble to somebody's parser.
pub(crate) const AWKWARD: &[&[u8]] = &[
    b"",
    b" ",
    b"null",
    b"[]",
    b"{}",
    b"[[]]",
    b"[{}]",
    b"\"\"",
    b"0",
    b"-0",
    b"1e400",
    b"NaN",
    b"\xef\xbb\xbf{}",
    b"\xff\xfe{\0}\0",
    b"\xc3\x28",
    b"\"\\ud800\"",
    b"{\"id\":1,\"id\":2}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}{\"jsonrpc\":\"2.0\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1e99999999,\"result\":{\"MODE\":\"ERC20\",\"feeQuotes\":[{\"exchangeRate\":1e99999999}]}}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1e308,\"message\":\"\\u0000\\u001b[31m\"}}",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

/// Pieces that mean something to a JSON-RPC parser.
const PIECES: &str = r#"{ } [ ] , : " \ \u0000 \ud83d null true - 1e999 0x 2.0 "id": "result":null, "error":{}, "params":
    "MODE": [] {} 99999999999999999999999999"#;

#[derive(Clone, Debug)]
enum Edit {
    Flip(Index, u8),
    Cut(Index, Index),
    Repeat(Index, Index),
    Insert(Index, &'static str),
    End(Index),
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let span = |from: &Index, to: &Index, bytes: &[u8]| {
            let (a, b) = (from.index(bytes.len() + 1), to.index(bytes.len() + 1));
            a.min(b)..a.max(b)
        };
        match self {
            Self::Flip(at, bits) if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] ^= bits;
            }
            Self::Flip(..) => {}
            Self::Cut(from, to) => {
                let span = span(from, to, bytes);
                bytes.drain(span);
            }
            Self::Repeat(from, to) => {
                let span = span(from, to, bytes);
                let (end, piece) = (span.end, bytes[span].to_vec());
                bytes.splice(end..end, piece);
            }
            Self::Insert(at, piece) => {
                let at = at.index(bytes.len() + 1);
                bytes.splice(at..at, piece.bytes());
            }
            Self::End(at) => bytes.truncate(at.index(bytes.len() + 1)),
        }
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let index = any::<Index>;
    let pieces: Vec<&str> = PIECES.split_whitespace().chain(["\u{feff}", "\u{1b}"]).collect();
    proptest::prop_oneof![
        (index(), 1..=u8::MAX).prop_map(|(at, bits)| Edit::Flip(at, bits)),
        (index(), index()).prop_map(|(from, to)| Edit::Cut(from, to)),
        (index(), index()).prop_map(|(from, to)| Edit::Repeat(from, to)),
        (index(), select(pieces)).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        index().prop_map(Edit::End),
    ]
}

/// Brings that many seeds before a check, each broken by a few edits; the smallest bytes that fail are told.
pub(crate) fn edited(seeds: &[Vec<u8>], times: u32, check: impl FnMut(&[u8])) {
    let config = Config { cases: times, failure_persistence: None, ..Config::default() };
    let fixed = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let bytes = (any::<Index>(), vec(edit(), 1..6)).prop_map(|(seed, edits)| {
        let mut bytes = seeds[seed.index(seeds.len())].clone();
        for edit in &edits {
            edit.apply(&mut bytes);
        }
        bytes
    });
    let check = std::cell::RefCell::new(check);
    TestRunner::new_with_rng(config, fixed)
        .run(&bytes, |bytes| {
            (check.borrow_mut())(&bytes);
            Ok(())
        })
        .unwrap_or_else(|cause| panic!("{cause}"));
}
