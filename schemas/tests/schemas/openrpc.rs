//! Each OpenRPC description is one, and says of each method what the documents say.

use std::fs;
use std::path::Path;

use crate::support;
use jsonschema::{Draft, Registry, Resource, Validator};
use paymaster_schemas::{DEFINITIONS, Definition, ERC_7677, FEE_QUOTE, documents, resolved};
use serde_json::{Value, json};

#[test]
fn each_is_valid_against_the_openrpc_meta_schema() {
    let validator = meta_validator();
    for definition in DEFINITIONS {
        if let Err(error) = validator.validate(&description(definition)) {
            panic!("{error} at {:?}", error.instance_path().as_str());
        }
    }
}

#[test]
fn the_meta_schema_bites() {
    let validator = meta_validator();
    let breaks: &[fn(&mut Value)] = &[
        |it| it["openrpc"] = json!("4.0.0"),
        |it| it["info"]["version"] = json!(1),
        |it| it["methods"][0]["paramStructure"] = json!("by-name-or-position"),
        |it| it["methods"][0]["params"][0]["schema"] = json!("user-operation"),
        |it| it["methods"][1]["params"][1]["schema"]["allOf"] = json!({}),
        |it| it["methods"][1]["result"]["optional"] = json!(true),
    ];
    for (index, break_it) in breaks.iter().enumerate() {
        let mut broken = description(&FEE_QUOTE);
        break_it(&mut broken);
        assert!(!validator.is_valid(&broken), "break {index} goes unseen");
    }
}

#[test]
fn its_version_is_the_packages() {
    for definition in DEFINITIONS {
        assert_eq!(description(definition)["info"]["version"], env!("CARGO_PKG_VERSION"));
    }
}

/// Specification, method, its request documents, its result documents.
const METHODS: [(&Definition, &str, [&str; 2], [&str; 2]); 4] = [
    (
        &FEE_QUOTE,
        "pm_getFeeQuoteOrData",
        ["quote-sponsored-request", "quote-erc20-request"],
        ["sponsored-result", "quote-result"],
    ),
    (
        &FEE_QUOTE,
        "pm_sponsorUserOperation",
        ["sponsor-sponsored-request", "sponsor-erc20-request"],
        ["sponsored-result", "token-sponsor-result"],
    ),
    (
        &ERC_7677,
        "pm_getPaymasterStubData",
        ["stub-request-06", "stub-request-07"],
        ["stub-result-06", "stub-result-07"],
    ),
    (
        &ERC_7677,
        "pm_getPaymasterData",
        ["data-request-06", "data-request-07"],
        ["data-result-06", "data-result-07"],
    ),
];

#[test]
fn it_describes_the_methods_and_parameters_of_the_request_documents() {
    let described: usize =
        DEFINITIONS.iter().map(|it| description(it)["methods"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(described, METHODS.len());
    for (definition, name, requests, _) in METHODS {
        let method = method(definition, name);
        assert_eq!(method["paramStructure"], "by-position", "{name}");
        let params = method["params"].as_array().expect("params");
        let required = params.iter().filter(|param| param["required"] == true).count();
        assert!(params[..required].iter().all(|param| param["required"] == true), "{name}");
        for request in requests {
            let schema = resolved(request).expect("a document");
            let envelope = schema["$ref"].as_str().and_then(|name| name.strip_suffix(".schema.json"));
            let counted = &envelope.and_then(resolved).unwrap_or(schema)["properties"]["params"];
            assert_eq!(schema["properties"]["method"]["const"], name);
            assert_eq!(
                (counted["minItems"].clone(), counted["maxItems"].clone()),
                (json!(required), json!(params.len()))
            );
        }
    }
}

#[test]
fn its_params_and_results_take_the_valid_examples_of_their_documents() {
    for (definition, name, requests, results) in METHODS {
        let method = method(definition, name);
        let params = method["params"].as_array().expect("params");
        let params: Vec<_> = params.iter().map(|param| validator(&param["schema"])).collect();
        for (path, request) in requests.iter().flat_map(|name| valid_examples(name)) {
            for (param, given) in params.iter().zip(request["params"].as_array().expect("params")) {
                assert!(param.is_valid(given), "{path} {given}");
            }
        }
        let result = validator(&method["result"]["schema"]);
        for (path, example) in results.iter().flat_map(|name| valid_examples(name)) {
            assert!(result.is_valid(&example), "{path}");
        }
    }
}

#[test]
fn its_params_and_results_refuse_those_of_the_other_method() {
    let [quote, sponsor] = [METHODS[0].1, METHODS[1].1].map(|name| method(&FEE_QUOTE, name));
    let no_token = json!({ "mode": "ERC20", "tokenInfo": {} });
    assert!(validator(&quote["params"][1]["schema"]).is_valid(&no_token));
    assert!(!validator(&sponsor["params"][1]["schema"]).is_valid(&no_token));
    for (path, example) in valid_examples("quote-result") {
        assert!(!validator(&sponsor["result"]["schema"]).is_valid(&example), "{path}");
    }
    for (path, example) in valid_examples("token-sponsor-result") {
        assert!(!validator(&quote["result"]["schema"]).is_valid(&example), "{path}");
    }
}

fn description(definition: &Definition) -> Value {
    serde_json::from_str(definition.openrpc).expect("openrpc.json is JSON")
}

fn method(definition: &Definition, name: &str) -> Value {
    let description = description(definition);
    let found =
        description["methods"].as_array().expect("methods").iter().find(|method| method["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not described")).clone()
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The meta-schema is draft 7 under a `$schema` of its own, and refers to one of JSON Schema.
fn meta_validator() -> Validator {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vendor/openrpc-meta-schema");
    let mut json_schema = read(&folder.join("json-schema.json"));
    let mut openrpc = read(&folder.join("openrpc.json"));
    for schema in [&mut json_schema, &mut openrpc] {
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    }
    // Its references spell that address with and without the final slash.
    let addresses = ["https://meta.json-schema.tools/", "https://meta.json-schema.tools"];
    let resources = addresses.map(|address| (address, Draft::Draft7.create_resource(json_schema.clone())));
    let registry =
        Registry::new().extend(resources).and_then(jsonschema::RegistryBuilder::prepare).expect("a registry");
    jsonschema::draft7::options()
        .with_registry(&registry)
        .offline()
        .build(&openrpc)
        .expect("the OpenRPC meta-schema compiles")
}

/// A validator of a schema inside the description, which refers to our documents.
fn validator(schema: &Value) -> Validator {
    let resources = documents().map(|document| {
        let parsed = resolved(document.name).expect("parsed");
        (document.id, Resource::from_contents(parsed.clone()))
    });
    let registry =
        Registry::new().extend(resources).and_then(jsonschema::RegistryBuilder::prepare).expect("a registry");
    jsonschema::draft202012::options()
        .with_registry(&registry)
        .offline()
        .build(schema)
        .expect("its references resolve")
}

fn valid_examples(document: &str) -> Vec<(String, Value)> {
    let folder = support::examples(document).join("valid");
    let examples: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| {
            let path = entry.expect("an entry").path();
            (path.display().to_string(), read(&path))
        })
        .collect();
    assert!(!examples.is_empty(), "{document} has no valid example");
    examples
}
