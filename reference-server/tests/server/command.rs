//! The command: its configuration, exit codes, logs and shutdown.

use crate::*;

#[test]
fn it_serves_and_stops_at_either_signal() {
    for signal in ["INT", "TERM"] {
        let server = Running::start(&[]);
        let answer = server.post("/", &the_four_pairs()[3].to_string());
        assert!(answer.contains("\"paymasterAndData\":\"0x"), "{answer}");
        let stopped = server.stop(signal);
        assert_eq!(stopped.code, Some(0), "{}", stopped.log);
    }
}

#[test]
fn the_effective_configuration_is_printed() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"quote_valid_seconds = 5\n[signing]\nchain_id = 10\n").unwrap();
    let path = file.path().display().to_string();
    let printed = run(&["--config", &path, "--chain-id", "137", "--no-signing", "--print-config"]);
    assert!(printed.status.success());
    let config = Config::from_toml(&text(&printed.stdout)).unwrap();
    let mut expected = Config { quote_valid_seconds: 5, ..Config::default() };
    expected.signing = SigningConfig { enabled: false, chain_id: 137, ..SigningConfig::default() };
    assert_eq!(config, expected);
}

#[test]
fn an_empty_variable_is_2_and_an_argument_overrides_it() {
    for name in ["PAYMASTER_SIGNING_KEY", "PAYMASTER_CHAIN_RPC"] {
        let error = failed(2, &command().env(name, " ").arg("--print-config").output().unwrap());
        assert!(error.contains(&format!("{name} is set, but empty")), "{error}");
    }
    let mut overridden = command();
    overridden.env("PAYMASTER_CHAIN_RPC", "").env("RUST_LOG", "");
    overridden.args(["--chain-rpc", "http://127.0.0.1:1/", "--print-config"]);
    assert!(overridden.output().unwrap().status.success());
}

#[cfg(unix)]
#[test]
fn a_file_without_end_is_2() {
    let error = failed(2, &run(&["--config", "/dev/zero", "--print-config"]));
    assert!(error.contains("/dev/zero"), "{error}");
}

#[test]
fn a_real_key_is_never_shown() {
    let key = format!("0x{}", "5a".repeat(32));
    let printed = command().env("PAYMASTER_SIGNING_KEY", &key).arg("--print-config").output().unwrap();
    assert!(printed.status.success());
    assert!(!text(&printed.stdout).contains(&key));
    let error = failed(2, &run(&["--signing-key", &key[..40]]));
    assert!(!error.contains(&key[..40]), "{error}");
}

#[test]
fn a_wrong_configuration_gives_exit_code_2_and_the_reason() {
    for (toml, expected) in [
        ("liste = 1", "did you mean `listen`?"),
        ("[bounds]\nmax_depth = 5000", "bounds.max_depth"),
        ("[[tokens]]\nsymbol = \"A\"", "missing field `address`"),
        ("quote_valid_seconds = \"long\"", "line 1, column 23: invalid type"),
        ("[policy]\ndenied_senders = [\"0x1\"]", "`policy.denied_senders` must be an address"),
        ("[signing]\ntoken_paymaster = \"x\"", "`signing.token_paymaster` must be an address"),
        ("]", "line 1, column 1: "),
    ] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(toml.as_bytes()).unwrap();
        let error = failed(2, &run(&["--config", &file.path().display().to_string()]));
        assert!(error.contains(expected), "{toml}: {error}");
    }
    for arguments in [
        "--config /nonexistent/file.toml",
        "--unknown",
        "--error-status 500",
        "--log a=b=c",
        "--cors-origin localhost:5173",
    ] {
        failed(2, &run(&arguments.split(' ').collect::<Vec<_>>()));
    }
}

#[test]
fn tokens_are_checked() {
    let token = |change: &str| {
        let mut lines = vec![
            "address = \"0x00000000000000000000000000000000000000aa\"",
            "symbol = \"A\"",
            "decimals = 6",
            "rate = \"1.5\"",
            "usd_price = \"2\"",
            "premium_percent = 1",
            "logo_url = \"https://a.example/a.png\"",
        ];
        let key = change.split(' ').next().unwrap_or_default();
        lines.retain(|line| key.is_empty() || !line.starts_with(&format!("{key} ")));
        lines.push(change);
        format!("[[tokens]]\n{}\n", lines.join("\n"))
    };
    let problem = |toml: &str| {
        let config = Config::from_toml(toml).expect("it is toml");
        Service::new(&config).err().map(|error| error.to_string())
    };
    assert_eq!(problem(&token("")), None);
    let changes = r#"rate = "0", rate = "-1", rate = "1e3", usd_price = "", decimals = 37, premium_percent = 1001,
        address = "0x1", symbol = "", logo_url = "a.png""#;
    for change in changes.split(',').map(str::trim) {
        let key = change.split(' ').next().unwrap();
        let message = problem(&token(change)).unwrap_or_default();
        assert!(message.contains(&format!("`tokens.{key}` must be")), "{change}: {message}");
    }
    assert!(problem(&format!("{}{}", token(""), token(""))).unwrap().contains("no other token has"));
}

#[test]
fn an_address_in_use_gives_exit_code_3() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = run(&["--listen", &address]);
    let error = failed(3, &output);
    assert!(error.contains("cannot listen on"), "{error}");
    assert_eq!(json!(text(&output.stdout)), json!(""));
}

#[test]
fn an_unknown_fault_or_variant_is_refused_with_the_nearest_one() {
    for (arguments, expected) in [
        (["--fault", "id-mising"], "error: unknown fault `id-mising`: did you mean `id-missing`?\n"),
        (["--variant", "chunkd"], "error: unknown variant `chunkd`: did you mean `chunked`?\n"),
    ] {
        assert_eq!(failed(2, &run(&arguments)), expected);
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    for argument in ["--list-faults", "--print-config"] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = command().arg(argument).stdout(writer).stderr(Stdio::piped()).spawn();
        let output = output.and_then(Child::wait_with_output).expect("the command runs");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{argument}");
    }
}

#[test]
fn the_lists_are_the_tables() {
    let listed = |argument| {
        let output = run(&[argument]);
        assert_eq!(output.status.code(), Some(0));
        let lines = text(&output.stdout);
        let names = lines.lines().filter_map(|line| line.split_whitespace().next());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let faults: Vec<_> = paymaster_reference_server::faults().map(|fault| fault.name).collect();
    assert_eq!(listed("--list-faults"), faults);
    let variants: Vec<_> = paymaster_reference_server::variants().map(|variant| variant.name).collect();
    assert_eq!(listed("--list-variants"), variants);
}

#[test]
fn a_fault_and_a_variant_are_served_together() {
    let server = Running::start(&["--fault", "id-missing", "--variant", "extra-members-in-answer"]);
    let answer = server.post("/", &the_four_pairs()[2].to_string());
    assert!(!answer.contains("\"id\":"), "{answer}");
    assert!(answer.contains("\"requestId\":"), "{answer}");
}
