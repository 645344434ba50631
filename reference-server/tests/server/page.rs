//! `docs/reference-server.md`: it names every flag and every key, and its configuration works.

use std::path::Path;

use crate::*;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference-server.md");
    std::fs::read_to_string(path).expect("the page")
}

#[test]
fn every_flag_is_in_the_page_and_every_flag_of_the_page_exists() {
    let help = text(&run(&["--help"]).stdout);
    let flags = |text: &str| {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
        let flags = words.filter(|word| word.starts_with("--") && word.len() > 3);
        flags.map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
    };
    let table = page();
    let table = table.split("## Options").nth(1).expect("a section");
    let table = table.split("\n## ").next().expect("a section");
    assert_eq!(flags(table), flags(&help));
}

#[test]
fn every_key_of_the_file_is_in_the_page() {
    let keys: toml::Table = toml::from_str(&Config::default().to_toml().unwrap()).unwrap();
    let page = page();
    for (key, value) in &keys {
        match value {
            toml::Value::Table(_) if key == "bounds" => assert!(page.contains("`bounds.*`")),
            toml::Value::Table(table) => {
                for inner in table.keys() {
                    assert!(page.contains(&format!("`{key}.{inner}`")), "{key}.{inner}");
                }
            }
            _ => assert!(page.contains(&format!("`{key}`")), "{key}"),
        }
    }
}

#[test]
fn the_start_is_the_one_of_the_page() {
    let page = page();
    let (_, shown) = page.split_once("$ paymaster-reference-server\n").expect("a start");
    let (shown, _) = shown.split_once("```").expect("its end");
    let printed = Running::start(&[]).stop("TERM").printed;
    let (_, printed) = printed.split_once('\n').expect("lines");
    let (first, shown) = shown.split_once('\n').expect("lines");
    assert_eq!(shown, printed);
    assert_eq!(first, format!("listening on http://{}", Config::default().listen));
}

#[test]
fn the_tokens_of_the_page_are_quoted() {
    let page = page();
    let (_, block) = page.split_once("```toml\n").expect("a file");
    let (file, _) = block.split_once("```").expect("its end");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("paymaster.dev.toml");
    std::fs::write(&path, file).unwrap();
    let server = Running::start(&["--config", &path.display().to_string()]);
    let tokens = Config::from_toml(file).unwrap().tokens;
    let list: Vec<&str> = tokens.iter().map(|token| token.address.as_str()).collect();
    assert_eq!(list.len(), 2);
    let request = quote(&json!({ "mode": "ERC20", "tokenInfo": { "tokenList": list } }));
    let answer = server.post("/", &request.to_string());
    let (_, body) = answer.split_once("\r\n\r\n").expect("a response");
    let answer: Value = serde_json::from_str(body).expect("json");
    for (token, quoted) in tokens.iter().zip(answer["result"]["feeQuotes"].as_array().expect("quotes")) {
        assert_eq!(quoted["tokenAddress"], token.address.as_str(), "{quoted}");
        assert_eq!(quoted["symbol"], token.symbol.as_str());
        let fee = quoted["maxGasFee"].to_string();
        assert!(fee.trim_matches('"') > "0", "{quoted}");
    }
}
