//! Each mutation breaks the keyword and the place that it names and nothing else. The schema decides.

use std::fmt;

use paymaster_engine::generate::mutate::{Edit, Mutation, Site, sites};
use paymaster_schemas::document;

use crate::*;

const DRAWS: usize = 25;

fn drawn(name: &str) -> Vec<Value> {
    let strategy = strategy(name, &Overrides::new()).unwrap();
    let mut runner = runner(11);
    (0..DRAWS).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

fn base(pair: Kind) -> Value {
    let context = Context::default();
    let wanted = Tokens::SomeUnsupported.in_base(Base::accepted(pair));
    Source::new(3, &context).base(&wanted).unwrap()
}

/// A message broken at a site.
struct Broken {
    site: &'static Site,
    mutation: Mutation,
}

impl Broken {
    /// The value at the place after the edit; none when it was removed.
    fn now(&self) -> Option<&Value> {
        self.mutation.broken.pointer(&self.mutation.pointer)
    }
}

/// In a line, for people: `pattern of address broken at /params/0/sender: now "0x"`.
impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Longer values are cut, in characters.
        const LONGEST: usize = 60;
        write!(f, "{} of {} broken at {}: ", self.site.keyword, self.site.document, self.mutation.pointer)?;
        let Some(now) = self.now() else { return f.write_str("removed") };
        let text = now.to_string();
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => write!(f, "now {}...", &text[..end]),
            None => write!(f, "now {text}"),
        }
    }
}

/// Every mutation of `valid`, in the order of the sites.
fn mutations(document: &str, valid: &Value) -> Vec<Broken> {
    let mut all: Vec<Broken> = Vec::new();
    for site in sites(document) {
        // Two edits can give the same value: `0x` without its prefix is the empty string.
        if let Some(mutation) = site.apply(valid)
            && !all.iter().any(|known| known.mutation == mutation)
        {
            all.push(Broken { site, mutation });
        }
    }
    all
}

/// Checks everything that is stated about a mutation.
fn check(name: &str, valid: &Value, mutation: &Broken) {
    let (Broken { site, mutation: Mutation { pointer, broken } }, now) = (mutation, mutation.now());
    let was = valid.pointer(pointer);
    assert!(was.is_some() && was != now, "{mutation}");
    assert_eq!(now.is_none(), site.edit == Edit::Remove, "{mutation}");
    let validator = validator_for(name).unwrap();
    assert!(!validator.is_valid(broken), "{name}: {mutation}");
    let place = match now {
        None => pointer.rsplit_once('/').unwrap().0,
        Some(_) => pointer,
    };
    let id = document(site.document).unwrap().id;
    let claimed = format!("{id}#{}", site.schema_pointer);
    let mut located = false;
    for error in validator.iter_errors(broken) {
        let path = error.instance_path().as_str();
        assert!(path == place || path.starts_with(&format!("{place}/")), "{mutation}: {error} at {path}");
        located |= error.absolute_keyword_location().unwrap().as_str() == claimed;
    }
    assert!(located, "{mutation}");
    let schema = resolved(site.document).unwrap();
    assert!(schema.pointer(&site.schema_pointer).is_some(), "{mutation}");
    assert!(site.schema_pointer.ends_with(&format!("/{}", site.keyword)), "{mutation}");
    // Put back what was there, and nothing is broken.
    let mut mended = broken.clone();
    if now.is_some() {
        *mended.pointer_mut(pointer).unwrap() = was.unwrap().clone();
    } else {
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        let members = mended.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        members.insert(member.to_owned(), was.unwrap().clone());
    }
    assert_eq!(mended, *valid, "{mutation}");
}

#[test]
fn every_mutation_breaks_the_keyword_and_place_that_it_names() {
    for document in FEE_QUOTE.documents() {
        assert!(!sites(document.name).is_empty(), "{}", document.name);
        let mut seen = 0;
        for valid in drawn(document.name) {
            for mutation in mutations(document.name, &valid) {
                check(document.name, &valid, &mutation);
                seen += 1;
            }
        }
        assert!(seen > 0, "{}", document.name);
    }
}

#[test]
fn every_assertion_of_the_message_schemas_is_broken_by_some_mutation() {
    const ASSERTIONS: &str =
        "type enum const pattern minimum maximum minLength maxLength minItems maxItems anyOf oneOf required";
    fn collect(schema: &Value, pointer: &str, found: &mut BTreeSet<String>) {
        match schema {
            Value::Object(keywords) => {
                for (keyword, inner) in keywords {
                    let pointer = format!("{pointer}/{keyword}");
                    let member = pointer.ends_with(&format!("/properties/{keyword}"));
                    let branch = pointer.contains("/anyOf/") || pointer.contains("/oneOf/");
                    if ASSERTIONS.split(' ').any(|known| known == keyword) && !member && !branch {
                        found.insert(pointer.clone());
                    }
                    collect(inner, &pointer, found);
                }
            }
            Value::Array(items) => {
                for (index, inner) in items.iter().enumerate() {
                    collect(inner, &format!("{pointer}/{index}"), found);
                }
            }
            _ => {}
        }
    }
    let mut wanted = BTreeSet::new();
    for document in FEE_QUOTE.documents() {
        let mut found = BTreeSet::new();
        collect(resolved(document.name).unwrap(), "", &mut found);
        wanted.extend(found.iter().map(|pointer| format!("{}#{pointer}", document.name)));
    }
    assert!(wanted.len() > 60, "{}", wanted.len());
    for name in FEE_QUOTE.documents().map(|document| document.name) {
        for valid in drawn(name) {
            for mutation in mutations(name, &valid) {
                wanted.remove(&format!("{}#{}", mutation.site.document, mutation.site.schema_pointer));
            }
        }
    }
    // Requests are broken inside of `params`, so the keywords about how many elements it has need no mutation.
    let counts = ["maxItems", "minItems"].map(|name| format!("request-envelope#/properties/params/{name}"));
    assert_eq!(wanted, BTreeSet::from(counts));
}

#[test]
fn bases_are_broken_in_many_ways() {
    for pair in kinds::ALL {
        let name = pair.request_document;
        let valid = base(pair);
        let all = mutations(name, &valid);
        assert!(all.len() > 150, "{pair}: {}", all.len());
        for mutation in &all {
            check(name, &valid, mutation);
        }
        let keywords: BTreeSet<&str> = all.iter().map(|mutation| mutation.site.keyword).collect();
        for keyword in ["type", "enum", "const", "pattern", "minimum", "maximum", "required"] {
            assert!(keywords.contains(keyword), "{pair} {keyword}");
        }
        let distinct: BTreeSet<String> = all.iter().map(|known| known.mutation.broken.to_string()).collect();
        assert_eq!(distinct.len(), all.len(), "{pair}: the same message twice");
    }
    let all = mutations("sponsor-erc20-request", &base(kinds::SPONSOR_ERC20));
    let any_of = all.iter().find(|mutation| mutation.site.keyword == "anyOf").unwrap();
    assert_eq!((any_of.mutation.pointer.as_str(), any_of.now()), ("/params/1/tokenInfo", Some(&json!({}))));
}

#[test]
fn a_mutation_of_a_shrunk_base_is_still_that_mutation() {
    for pair in kinds::ALL {
        let name = pair.request_document;
        let valid = base(pair);
        let mut smaller = valid.clone();
        while let Some(next) = simpler(Some(name), &smaller, SPECIFICATION.may_change).into_iter().next() {
            smaller = next;
        }
        assert_ne!(smaller, valid);
        let mut kept = 0;
        for mutation in mutations(name, &valid) {
            let site = mutation.site;
            assert_eq!(site.apply(&valid).as_ref(), Some(&mutation.mutation));
            let Some(again) = site.apply(&smaller) else { continue };
            check(name, &smaller, &Broken { site, mutation: again });
            assert_eq!(site.apply(&mutation.mutation.broken), None, "a broken base is no base: {mutation}");
            kept += 1;
        }
        assert!(kept > 60, "{pair}: {kept}");
    }
}

#[test]
fn a_mutation_that_is_valid_for_another_pair_is_detected() {
    let all = mutations("quote-sponsored-request", &base(kinds::QUOTE_SPONSORED));
    let other = json!("pm_sponsorUserOperation");
    let swapped: Vec<&Broken> = all.iter().filter(|mutation| mutation.now() == Some(&other)).collect();
    let [swapped] = swapped.as_slice() else { panic!("{} have the other method", swapped.len()) };
    assert_eq!(
        (swapped.site.keyword, swapped.mutation.valid_pair(&SPECIFICATION)),
        ("const", Some(kinds::SPONSOR_SPONSORED))
    );
    let plain = all.iter().find(|mutation| mutation.site.keyword == "pattern").unwrap();
    assert_eq!(plain.mutation.valid_pair(&SPECIFICATION), None);
}

#[test]
fn a_mutation_reads_as_one_line() {
    let valid = base(kinds::SPONSOR_ERC20);
    let all = mutations("sponsor-erc20-request", &valid);
    let line = |pointer: &str, now: Option<Value>| {
        let is_it = |known: &&Broken| known.mutation.pointer == pointer && known.now() == now.as_ref();
        let found = all.iter().find(is_it);
        found.unwrap().to_string()
    };
    assert_eq!(
        line("/params/0/sender", Some(json!("0x"))),
        "pattern of address broken at /params/0/sender: now \"0x\""
    );
    assert_eq!(
        line("/params/1/mode", None),
        "required of sponsor-erc20-request broken at /params/1/mode: removed"
    );
}

/// A snapshot: it shows the effect of a change of a schema or an edit.
#[test]
fn mutations_of_typed_messages_match_their_snapshots() {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    let quote = r#"{"jsonrpc":"2.0","id":1,"method":"pm_getFeeQuoteOrData","params":[{"sender":"0x6fa3c1a0cd5b8ad3d71d5c70f1fe1dc1eaf0c5e1","nonce":"7","initCode":"0x","callData":"0xb61d27f6","callGasLimit":"50000","verificationGasLimit":"100000","preVerificationGas":"21000","maxFeePerGas":"30000000000","maxPriorityFeePerGas":"1000000000"},{"mode":"ERC20","calculateGasLimits":true,"tokenInfo":{"preferredToken":"0x2791bca1f2de4661ed88a30c99a7a9449aa84174","tokenList":["0x6b175474e89094c44da98b954eedeac495271d0f"]}}]}"#;
    let fee_quote = r#"{"symbol":"USDC","decimal":6,"tokenAddress":"0x2791bca1f2de4661ed88a30c99a7a9449aa84174","maxGasFee":0.0123,"maxGasFeeUSD":0.0123,"exchangeRate":232808808808808800000,"premiumPercentage":"7","validUntil":1686847490,"logoUrl":"https://example.org/logo.png"}"#;
    let sponsored = r#"{"MODE":"SPONSORED","paymasterAndData":"0xabcdef","preVerificationGas":"21000","verificationGasLimit":100000,"callGasLimit":50000}"#;
    let typed = [
        sample::sponsor_request("pm_sponsorUserOperation"),
        serde_json::from_str(quote).unwrap(),
        serde_json::from_str(fee_quote).unwrap(),
        serde_json::from_str(sponsored).unwrap(),
    ];
    let documents = ["sponsor-sponsored-request", "quote-erc20-request", "fee-quote", "sponsored-result"];
    for (document, valid) in documents.into_iter().zip(typed) {
        let all = mutations(document, &valid);
        let lines: Vec<String> = all.iter().map(Broken::to_string).collect();
        settings.bind(|| insta::assert_snapshot!(document, lines.join("\n")));
    }
}

#[test]
fn what_is_not_valid_has_no_mutations() {
    assert!(mutations("quote-erc20-request", &json!({})).is_empty());
    assert!(sites("no-such-document").is_empty());
}

#[test]
fn sites_do_not_change_between_calls_and_name_their_message() {
    for name in FEE_QUOTE.documents().map(|document| document.name) {
        assert!(std::ptr::eq(sites(name), sites(name)));
        assert!(sites(name).iter().all(|site| site.message == name));
    }
}
