//! The commands of `docs/load-testing.md` and `docs/distributed.md` work as they are printed.

use std::fs;

use paymaster_reference_server::{Config, InjectedService, Service, to_profile};

use crate::*;

/// The target of the commands in the page.
const TARGET: &str = "http://127.0.0.1:4338/";

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    fs::read_to_string(path).unwrap()
}

/// The lines of the shell blocks of a page. A line that ends with a backslash goes on in the next one.
fn lines(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let joined = blocks.map(|block| block.replace("\\\n", " "));
    joined.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The words of a line as a shell has them: blanks separate, single quotes keep together, `#` begins a comment.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut begun) = (String::new(), false, false);
    for letter in line.chars() {
        match letter {
            '\'' => (quoted, begun) = (!quoted, true),
            '#' if !quoted && !begun => break,
            ' ' if !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            letter => {
                word.push(letter);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    assert!(!quoted, "{line}");
    words
}

/// The arguments of every command line of ours in a page.
fn commands(name: &str) -> Vec<Vec<String>> {
    let lines = lines(&page(name));
    let all = lines.iter().map(|line| words(line));
    let own = all.filter(|words| words.first().is_some_and(|program| program == "paymaster-loadtest"));
    own.map(|words| words[1..].to_vec()).collect()
}

/// Starts a reference server. It ends with the process of the tests.
fn serve() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let service = InjectedService::from(Service::new(&Config::default()).unwrap());
            paymaster_reference_server::run(listener, Arc::new(service), std::future::pending()).await;
        });
    });
    url
}

/// Each command runs in the order of the page, in one folder, with fewer requests. Thresholds and comparisons may fail a run that short;
/// no command is wrong, and each can test the target.
#[test]
fn the_commands_of_the_guide_work_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("paymaster.toml"),
        to_profile("fee-quote", &Config::default(), &[]).unwrap(),
    )
    .unwrap();
    let url = serve();
    let commands = commands("load-testing.md");
    assert!(commands.len() > 12, "{}", commands.len());
    for arguments in commands {
        let sends = !["scenarios", "compare", "merge"].contains(&arguments[0].as_str());
        let mut given: Vec<String> = arguments.iter().map(|word| word.replace(TARGET, &url)).collect();
        if sends {
            given.extend(["--max-requests", "40"].map(str::to_owned));
            // In the ramp and the warm-up nothing is measured, and the final figures have no reader.
            for (flag, value) in
                [("--ramp", "1ms"), ("--warm-up", "1ms"), ("--metrics-wait", "1ms"), ("--metrics", "0")]
            {
                if let Some(place) = given.iter().position(|word| word == flag) {
                    value.clone_into(&mut given[place + 1]);
                }
            }
        }
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let Finished { code, out, err } = run(folder.path(), &given);
        assert!([0, 1, 4].contains(&code), "{arguments:?}: {code}: {out}{err}");
        assert!(!out.contains("DEFECT"), "{arguments:?}: {out}");
        for pair in arguments.windows(2).filter(|pair| pair[0] == "-o") {
            let path = pair[1].split_once('=').map_or(pair[1].as_str(), |(_, path)| path);
            assert!(folder.path().join(path).exists(), "{arguments:?}");
        }
    }
}

/// Those that need a master, a header from the environment or a public host are read, and nothing is sent.
#[test]
fn the_commands_for_several_machines_are_valid() {
    let commands = commands("distributed.md");
    assert!(commands.len() > 2, "{commands:?}");
    for arguments in commands {
        let with_help: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let folder = tempfile::tempdir().unwrap();
        if arguments[0] == "locustfile" {
            assert_eq!(run(folder.path(), &with_help).code, 0, "{arguments:?}");
            continue;
        }
        // Arguments are read in their order: one that does not exist is named before a help is printed.
        let help = run(folder.path(), &[&with_help[..], &["--help"]].concat());
        assert_eq!(help.code, 0, "{arguments:?}: {}", help.err);
    }
}

/// A worker that the page shows is permitted to load its public host. At a documentation address (RFC 5737) no host answers.
#[test]
fn the_workers_of_the_guide_may_load_a_public_host() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("paymaster.toml"), "").unwrap();
    let workers: Vec<Vec<String>> =
        commands("distributed.md").into_iter().filter(|arguments| arguments[0] == "worker").collect();
    assert!(workers.len() > 1, "{workers:?}");
    for arguments in workers {
        let given =
            arguments.iter().map(|word| word.replace("https://staging.example/", "http://192.0.2.1/"));
        let output = command(folder.path())
            .env("API_KEY", "k3y")
            .args(given)
            .args(["--timeout", "100ms"])
            .output()
            .unwrap();
        let Finished { code, err, .. } = output.into();
        assert_eq!(code, 3, "{arguments:?}: {err}");
        assert!(err.contains("192.0.2.1"), "{arguments:?}: {err}");
    }
}
