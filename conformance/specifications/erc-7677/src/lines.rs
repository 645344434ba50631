//! The lines of the profile that inconclusive rules wait for.

use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::has_one_of;
use paymaster_engine::rules::MissingLine;

use crate::target::{COSTS, Target};

/// The list of operations that the target sponsors, as messages name it.
pub(crate) const SPONSORABLE_LIST: &str = "operations.sponsorable";

/// An operation that the target sponsors.
pub static SPONSORABLE: MissingLine = MissingLine {
    table: "[operations]",
    meaning: "an operation that the target sponsors",
    advice: "name operations that the target sponsors in the profile, with their gas limits and fees: operations.sponsorable, because a \
             service that simulates refuses senders that do not exist; or operations.accepts = \"any\" where every well-formed operation gets a result",
    text: |knowledge| {
        let version = Target::of(knowledge).profile.service.entry_points.first().cloned();
        let version = version.unwrap_or_else(|| "0.7".to_owned());
        let costs: Vec<String> = COSTS.iter().map(|member| format!("{member} = \"<0x...>\"")).collect();
        format!(
            r#"sponsorable = [{{ entry-point = "{version}", operation = {{ sender = "<address>", nonce = "<0x...>", callData = "<0x...>", {} }} }}]"#,
            costs.join(", ")
        )
    },
    then: Some(&ACCEPTS),
};

/// Where some are listed: whether others get results too.
pub static ACCEPTS: MissingLine = MissingLine {
    table: "[operations]",
    meaning: "whether operations that are not listed get results too (with \"listed\", these rules do not apply)",
    advice: "say operations.accepts = \"any\" in the profile where every well-formed operation gets a result; or list more operations that the \
             target sponsors, several of each EntryPoint, with their gas limits and fees: operations.sponsorable",
    text: |_| r#"accepts = "<any, or listed>""#.to_owned(),
    then: None,
};

/// An operation that it refuses.
pub static REFUSED: MissingLine = MissingLine {
    table: "[operations]",
    meaning: "an operation or a sender that the target refuses",
    advice: "name a sender or an operation that the target refuses in the profile: operations.refused",
    text: |_| r#"refused = [{ sender = "<address>" }]"#.to_owned(),
    then: None,
};

/// The chain that it serves.
pub static CHAIN_ID: MissingLine = MissingLine {
    table: "[service]",
    meaning: "the chain that the target serves",
    advice: "name the chain of the target in the profile: service.chain-id; where its errors speak of the operation, name operations that it \
             sponsors too: operations.sponsorable",
    text: |_| "chain-id = <number>".to_owned(),
    then: Some(&SPONSORABLE),
};

/// The line of the profile for which an error asks by its words. A policy is a member of the context.
pub(crate) fn asked_for(message: &str) -> Option<&'static str> {
    match message {
        _ if has_one_of(message, &["context", "policy"]) => Some("service.context"),
        _ if has_one_of(message, &["chain"]) => Some("service.chain-id"),
        _ if has_one_of(message, &["entrypoint", "entry point"]) => Some("service.entry-points"),
        _ => None,
    }
}

/// Why rules about refused operations do not apply.
pub(crate) fn refuses_nothing(knowledge: &dyn Knowledge) -> Option<&'static str> {
    use crate::profile::Accepts;
    let operations = &Target::of(knowledge).profile.operations;
    (operations.accepts == Accepts::Any && operations.refused.is_empty())
        .then_some("the profile says that the target sponsors every operation")
}

/// Why rules about operations that are not listed do not apply.
pub(crate) fn only_listed(knowledge: &dyn Knowledge) -> Option<&'static str> {
    use crate::profile::Accepts;
    (Target::of(knowledge).profile.operations.accepts == Accepts::Listed)
        .then_some("the profile says that only listed operations get a result")
}

/// Why rules about final stubs do not apply; none when they do.
pub(crate) fn no_final_stub(knowledge: &dyn Knowledge) -> Option<&'static str> {
    (!Target::of(knowledge).found.is_final).then_some("no stub of the target has isFinal true")
}

/// Why rules about signatures do not apply.
pub(crate) fn unchecked_signatures(knowledge: &dyn Knowledge) -> Option<&'static str> {
    (!Target::of(knowledge).checks_signatures()).then_some(
        "the profile names no contract with its signer whose signatures are checked without a node: contract.kind and contract.signer",
    )
}

#[cfg(test)]
mod tests {
    use paymaster_engine::rules::missing_line;

    use crate::{SPECIFICATION, target::Target};

    #[test]
    fn where_operations_are_listed_their_line_is_not_asked_for() {
        let line = |profile: &str| {
            let target =
                (SPECIFICATION.read_profile)(&format!("[service]\nchain-id = 1\n{profile}")).unwrap();
            let rule = SPECIFICATION.find_rule("data.differs").unwrap();
            missing_line(rule, &*target).map(|line| (line.text)(Target::of(&*target)))
        };
        assert!(line("").unwrap().starts_with("sponsorable = "));
        let listed = r#"[operations]
            sponsorable = [{ entry-point = "0.7", operation = { sender = "0x00000000000000000000000000000000000000a1" } }]"#;
        assert_eq!(line(listed).unwrap(), r#"accepts = "<any, or listed>""#);
        assert_eq!(line("[operations]\naccepts = \"any\""), None, "the profile says it already");

        let target = (SPECIFICATION.read_profile)("[service]\nchain-id = 1").unwrap();
        let mut target = Target::of(&*target).clone();
        target.found.served.insert("0.7".to_owned());
        let rule = SPECIFICATION.find_rule("data.differs").unwrap();
        let line = missing_line(rule, &target).map(|line| (line.text)(&target));
        assert_eq!(line.unwrap(), r#"accepts = "<any, or listed>""#, "what we invent is served");
    }
}
