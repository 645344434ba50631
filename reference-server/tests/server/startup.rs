//! What the command prints once it listens: each sentence is true of the server that prints it.

use paymaster_reference_server::faults;
use paymaster_schemas::find_clause;

use crate::*;

/// What a server with these arguments prints.
fn printed(arguments: &[&str]) -> String {
    Running::start(arguments).stop("TERM").printed
}

#[test]
fn the_default_port_is_not_that_of_the_proxy() {
    assert_eq!(Config::default().listen, "127.0.0.1:4338");
    let help = text(&run(&["--help"]).stdout);
    let words: Vec<_> = help.split_whitespace().collect();
    assert!(words.join(" ").contains("[default: 127.0.0.1:4338]"), "{help}");
}

#[test]
fn the_start_says_what_is_served() {
    let default = printed(&[]);
    for expected in [
        "web pages of every origin can read the responses",
        "chain 31337 and by 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266, a public test key",
        "every senderNonce in the paymaster's contract is taken as 0",
    ] {
        assert!(default.contains(expected), "{expected}: {default}");
    }
    assert!(
        !default.contains("fault") && !default.contains("metrics") && !default.contains("judge"),
        "{default}"
    );

    let key = format!("0x{}", "5a".repeat(32));
    let own = printed(&[
        "--signing-key",
        &key,
        "--chain-id",
        "10",
        "--cors-origin",
        "http://a.example",
        "--chain-rpc",
        "http://node.example/CANARY",
    ]);
    for expected in [
        "web pages of these origins can read the responses: http://a.example",
        "chain 10 and by 0x",
        "the senderNonce of each sponsored sender is read from the chain at http://node.example/(redacted)",
    ] {
        assert!(own.contains(expected), "{expected}: {own}");
    }
    assert!(!own.contains("test key") && !own.contains("CANARY") && !own.contains(&key), "{own}");

    let unsigned = printed(&["--no-signing"]);
    assert!(unsigned.contains("the signatures are zeros"), "{unsigned}");
    assert!(!unsigned.contains("senderNonce"), "{unsigned}");
}

#[test]
fn the_start_says_which_fault_is_on_and_which_clause_it_breaks() {
    let fault = find_fault("fee-decimal-string").unwrap();
    let clause = find_clause(fault.clause).unwrap();
    let printed = printed(&["--fault", fault.name, "--variant", "chunked"]);
    for expected in [
        format!("fault {}: {}\n", fault.name, fault.about),
        format!("it breaks {} (section {}): {}\n", clause.id, clause.section, clause.text),
        format!("--rule {}\n", clause.id),
        "variant chunked: ".to_owned(),
        "it is lawful".to_owned(),
    ] {
        assert!(printed.contains(&expected), "{expected}: {printed}");
    }
    assert!(!printed.contains("--strict"), "{printed}");
}

#[test]
fn a_clause_that_only_warns_is_judged_strictly() {
    let warned = faults()
        .find(|fault| find_clause(fault.clause).unwrap().basis != paymaster_schemas::Basis::Stated)
        .expect("there is such a fault");
    let printed = printed(&["--fault", warned.name]);
    assert!(printed.contains(&format!("--rule {} --strict\n", warned.clause)), "{printed}");
}

#[test]
fn the_printed_command_of_a_variant_names_it() {
    let printed = printed(&["--variant", "large-call-data-refused"]);
    let command = "--variant large-call-data-refused --print-profile >reference-profile.toml";
    assert!(printed.contains(command), "{printed}");
    let without = to_profile("fee-quote", &Config::default(), &[]).unwrap();
    let variant = find_variant("large-call-data-refused").unwrap();
    let with = to_profile("fee-quote", &Config::default(), &[variant]).unwrap();
    assert!(without.contains("[limits]") && !with.contains("[limits]"), "{with}");
}

#[test]
fn the_printed_command_writes_the_profile_of_this_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("the config.toml");
    let config = "[[tokens]]\naddress = \"0x00000000000000000000000000000000000000a1\"\nsymbol = \"ONE\"\n\
        decimals = 6\nrate = \"2\"\nusd_price = \"1\"\npremium_percent = 0\nlogo_url = \"https://a.example/1.png\"\n";
    std::fs::write(&file, config).unwrap();
    let file = file.display().to_string();
    let denied = "0x00000000000000000000000000000000000000d1";
    let printed = printed(&["--config", &file, "--deny-sender", denied, "--fault", "id-missing"]);
    let command =
        printed.lines().find(|line| line.contains("--print-profile")).unwrap_or_else(|| panic!("{printed}"));
    let done = Command::new("sh").args(["-c", command]).current_dir(folder.path()).output().expect("a shell");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let profile = std::fs::read_to_string(folder.path().join("reference-profile.toml")).unwrap();
    let mut expected = Config::from_toml(config).unwrap();
    expected.policy.denied_senders.push(denied.to_owned());
    let known = to_profile("fee-quote", &expected, &[]).unwrap();
    assert_eq!(profile, format!("spec = \"fee-quote\"\n\n{known}"));
    assert!(profile.contains("ONE") && profile.contains(denied), "{profile}");
}
