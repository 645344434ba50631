use proptest::prelude::*;

use super::*;

/// Messages as a master of Locust 2.47 sends them, written with Python's msgpack.
fn packed(kind: &str, data: &impl Serialize) -> Vec<u8> {
    from_worker(kind, data, "host_1")
}

#[derive(Serialize)]
struct SpawnSent {
    timestamp: f64,
    user_classes_count: BTreeMap<&'static str, u64>,
    host: Option<&'static str>,
    stop_timeout: f64,
    parsed_options: BTreeMap<&'static str, Option<&'static str>>,
}

#[test]
fn a_spawn_is_read_without_its_target() {
    let sent = SpawnSent {
        timestamp: 1.5,
        user_classes_count: BTreeMap::from([("journey", 3), ("errors", 0)]),
        host: Some("http://elsewhere.example"),
        stop_timeout: 2.0,
        parsed_options: BTreeMap::from([("paymaster_rate", Some("500")), ("host", None)]),
    };
    let FromMaster::Spawn(spawn) = read(&packed("spawn", &sent)).unwrap() else {
        panic!("not a spawn");
    };
    assert_eq!(spawn.user_classes_count["journey"], 3);
    let options = spawn.parsed_options.as_ref().unwrap();
    assert_eq!(options.paymaster_rate.as_deref(), Some("500"));
    assert!(!format!("{spawn:?}").contains("elsewhere"), "{spawn:?}");
}

#[test]
fn the_other_messages_are_read() {
    let nothing: Option<u8> = None;
    for (kind, expected) in [
        ("stop", FromMaster::Stop),
        ("quit", FromMaster::Quit),
        ("reconnect", FromMaster::Reconnect),
        ("heartbeat", FromMaster::Heartbeat),
        ("paymaster_finish", FromMaster::Finish),
        ("ack", FromMaster::Ack(None)),
        ("spawning_complete", FromMaster::SpawningComplete(None)),
        ("update_user_class", FromMaster::Other("update_user_class".to_owned())),
    ] {
        assert_eq!(read(&packed(kind, &nothing)).unwrap(), expected, "{kind}");
    }
    let index = BTreeMap::from([("index", 7)]);
    assert_eq!(read(&packed("ack", &index)).unwrap(), FromMaster::Ack(Some(7)));
    let users = BTreeMap::from([("user_count", 20)]);
    let complete = read(&packed("spawning_complete", &users)).unwrap();
    assert_eq!(complete, FromMaster::SpawningComplete(Some(20.0)));
    assert!(read(&packed("spawn", &nothing)).is_err());
    assert!(read(&packed("spawn", &index)).is_err());
}

#[test]
fn keys_of_any_type_are_skipped() {
    // {1: [2, b"\xff"], None: 1.5, "index": 4} as the data of an ack
    let bytes = b"\x93\xa3ack\x83\x01\x92\x02\xc4\x01\xff\xc0\xcb\x3f\xf8\0\0\0\0\0\0\xa5index\x04\xa1x";
    let read = read(bytes);
    assert!(matches!(read, Ok(FromMaster::Ack(Some(4))) | Err(_)), "{read:?}");
}

#[test]
fn what_a_worker_sends_has_the_members_of_locust() {
    let heartbeat = Heartbeat { state: "ready", current_cpu_usage: 1.5, current_memory_usage: 9 };
    let bytes = from_worker("heartbeat", &heartbeat, "n");
    let text = String::from_utf8_lossy(&bytes);
    for name in ["heartbeat", "state", "ready", "current_cpu_usage", "current_memory_usage"] {
        assert!(text.contains(name), "{text}");
    }
    assert_eq!(from_worker("spawning", &(), "n"), b"\x93\xa8spawning\xc0\xa1n");
    assert_eq!(from_worker(READY.0, &READY.1, "n"), b"\x93\xacclient_ready\xff\xa1n");
}

#[test]
fn statistics_have_float_keys_and_binary_figures() {
    let entry = StatsEntry {
        name: "journey/quote".to_owned(),
        response_times: [(0.5_f64.to_bits(), 3)].into(),
        num_reqs_per_sec: BTreeMap::from([(1_700_000_000, 3)]),
        ..StatsEntry::default()
    };
    let stats = Stats {
        stats: vec![entry.clone()],
        stats_total: entry,
        errors: BTreeMap::new(),
        users: UserCounts::default(),
        exact: Some(Bytes::from_static(&[1, 2, 3])),
    };
    let bytes = from_worker("stats", &stats, "n");
    let find = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    assert!(find(b"\xa3bin\xc4\x03\x01\x02\x03"), "bin");
    assert!(find(b"response_times\x81\xcb\x3f\xe0\0\0\0\0\0\0\x03"), "a float key");
    assert!(find(b"num_reqs_per_sec\x81\xce"), "a number as key");
    assert!(find(b"\xaauser_count\0"), "user_count beside stats");
}

proptest! {
    /// Whatever arrives, reading it returns a message or an error.
    #[test]
    fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }

    /// A valid message with one changed byte, or cut, gives a message or an error.
    #[test]
    fn a_damaged_message_is_no_crash(place in 0_usize..200, byte in any::<u8>(), cut in 0_usize..200) {
        let sent = SpawnSent {
            timestamp: 1.5,
            user_classes_count: BTreeMap::from([("journey", 3)]),
            host: None,
            stop_timeout: 2.0,
            parsed_options: BTreeMap::from([("paymaster_rate", Some("500"))]),
        };
        let mut bytes = packed("spawn", &sent);
        let place = place % bytes.len();
        bytes[place] = byte;
        let _ = read(&bytes);
        bytes.truncate(cut);
        let _ = read(&bytes);
    }
}

#[test]
fn deep_and_huge_announcements_are_errors() {
    // 100,000 arrays in each other; an array of 2^32 - 1 elements that never come.
    assert!(read(&vec![0x91; 100_000]).is_err());
    let mut deep = b"\x93\xa3ack".to_vec();
    deep.resize(100_000, 0x91);
    assert!(read(&deep).is_err());
    assert!(read(b"\xdd\xff\xff\xff\xff").is_err());
    assert!(read(b"\x93\xdb\xff\xff\xff\xff").is_err());
    assert!(read(b"\x93\xa5spawn\xdf\xff\xff\xff\xff").is_err());
}
