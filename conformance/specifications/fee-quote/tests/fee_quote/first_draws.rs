//! Snapshots of what a seed draws. They change only with the generators, and then a seed gives other requests for every user.

use std::fmt::Write;

use crate::*;

/// Long texts by their beginning and their length in bytes.
fn cut(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > 20 => {
            let beginning: String = text.chars().take(10).collect();
            *text = format!("{beginning}...{}", text.len());
        }
        Value::Array(items) => items.iter_mut().for_each(cut),
        Value::Object(members) => members.values_mut().for_each(cut),
        _ => {}
    }
}

fn write_draw(text: &mut String, mut value: Value) {
    cut(&mut value);
    writeln!(text, "  {value}").unwrap();
}

#[test]
fn draws_of_every_document() {
    let mut text = String::new();
    for document in FEE_QUOTE.documents() {
        let strategy = strategy(document.name, &Overrides::new()).unwrap();
        let mut runner = runner(1);
        writeln!(text, "{}", document.name).unwrap();
        for _ in 0..6 {
            write_draw(&mut text, strategy.new_tree(&mut runner).unwrap().current());
        }
    }
    insta::assert_snapshot!("documents", text);
}

fn bases(context: &Context) -> String {
    let mut text = String::new();
    for pair in kinds::ALL {
        for draw in [Draw::Accepted, Draw::Sponsored, Draw::Refused] {
            for tokens in [Tokens::Any, Tokens::Supported, Tokens::SomeUnsupported] {
                let mut source = Source::new(1, context);
                let wanted = tokens.in_base(Base { draw, ..Base::accepted(pair) });
                let drawn: Vec<Value> = (0..3).map_while(|_| source.base(&wanted)).collect();
                writeln!(text, "{} {draw:?} {tokens:?}", pair.name).unwrap();
                for base in drawn {
                    // Members that are in every request are left out.
                    let params = &base["params"];
                    let mut values = params[0].as_object().unwrap().clone();
                    values.extend(params[1].as_object().unwrap().clone());
                    write_draw(&mut text, values.values().cloned().collect());
                }
            }
        }
    }
    text
}

#[test]
fn draws_for_an_unknown_target() {
    insta::assert_snapshot!("unknown_target", bases(&Context::default()));
}

#[test]
fn draws_for_a_profile() {
    let operation = |sender: String| -> Map<String, Value> {
        let operation = json!({ "sender": sender, "nonce": 7, "callData": "0xaabb" });
        operation.as_object().unwrap().clone()
    };
    let profile = |accepts| Profile {
        tokens: letters::tokens(),
        operations: Operations {
            accepts,
            sponsorable: vec![operation(address("1")), operation(address("2"))],
            refused: vec![operation(address("3"))],
            refused_senders: vec![address("4")],
            max_call_data_bytes: Some(400),
            ..Operations::default()
        },
        accounts: vec![SmartAccount { name: "SAFE".into(), version: "1.4.1".into() }],
        ..Profile::default()
    };
    insta::assert_snapshot!("listed", bases(&Context::new(profile(Accepts::Listed))));
    let mut any = Context::new(profile(Accepts::Any));
    any.learn_unlisted_tokens(Support::Unsupported);
    insta::assert_snapshot!("any", bases(&any));
}
