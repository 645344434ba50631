//! Answers that cannot be judged: they exceed our limits, or a gateway answered instead of the service.

use std::collections::BTreeMap;

use crate::{
    rules::View,
    session::{access::Access, unserved::without_answer},
};

/// How many groups have such an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnjudgedAnswers {
    /// By the limit that the answer exceeds.
    too_large: BTreeMap<String, usize>,
    /// By the HTTP status of the gateway that answered instead of the service. The other answers of such a group are judged.
    by_gateways: BTreeMap<u16, usize>,
}

impl UnjudgedAnswers {
    /// Counts the answers of a group that cannot be judged; false when the whole group cannot.
    pub fn can_judge(&mut self, views: &[View<'_>]) -> bool {
        if let Some(what) = views.iter().find_map(|view| view.answer.exceeded_limit()) {
            *self.too_large.entry(what).or_default() += 1;
            return false;
        }
        if let Some(status) = views.iter().find_map(View::gateway_status) {
            *self.by_gateways.entry(status).or_default() += 1;
        }
        true
    }

    /// Adds the counts of another part of the same run.
    pub fn merge(&mut self, other: Self) {
        for (what, groups) in other.too_large {
            *self.too_large.entry(what).or_default() += groups;
        }
        for (status, groups) in other.by_gateways {
            *self.by_gateways.entry(status).or_default() += groups;
        }
    }

    /// The number of groups for each reason. A run with such groups does not pass. Where HTTP refused every valid request, gateways are
    /// not counted: the run reports that separately.
    pub fn reasons(self, access: &Access) -> BTreeMap<String, usize> {
        let too_large =
            self.too_large.into_iter().map(|(what, groups)| (format!("{what}: more than we read"), groups));
        let by_gateways = self
            .by_gateways
            .into_iter()
            .filter(|_| access.denied().is_none())
            .map(|(status, groups)| (access.outcomes.described(&without_answer(status)), groups));
        too_large.chain(by_gateways).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;
    use crate::{cases::case::Role, target::context::Context};
    use paymaster_exchange::{Exchange, Failure, Response};

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"pm_sponsorUserOperation","params":[{"sender":"0x6fa3c1a0cd5b8ad3d71d5c70f1fe1dc1eaf0c5e1","nonce":"7","initCode":"0x","callData":"0x","callGasLimit":"1","verificationGasLimit":"1","preVerificationGas":"1","maxFeePerGas":"1","maxPriorityFeePerGas":"1"},{"mode":"SPONSORED","calculateGasLimits":true,"expiryDuration":300,"sponsorshipInfo":{"webhookData":{},"smartAccountInfo":{"name":"BICONOMY","version":"2.0.0"}}}]}"#;

    fn exchange(request: &str, outcome: Result<(u16, &str), Failure>) -> Exchange {
        Exchange {
            request: Bytes::from(request.to_owned()),
            outcome: outcome.map(|(status, body)| Response {
                status,
                headers: Vec::new(),
                body: Bytes::from(body.to_owned()),
            }),
            took: Duration::ZERO,
            on_chain: None,
            received: None,
            sent_as: None,
        }
    }

    fn look(answers: &mut UnjudgedAnswers, exchanges: &[Exchange]) -> bool {
        let context = Context::default();
        let views: Vec<View<'_>> =
            exchanges.iter().map(|exchange| View::new(Role::Call, "", exchange, &context)).collect();
        answers.can_judge(&views)
    }

    #[test]
    fn unjudged_answers_are_counted_by_reason() {
        let too_large = || {
            let limit = 7;
            exchange(CALL, Err(Failure::TooLarge { part: paymaster_exchange::Part::Body, limit }))
        };
        let gateway = || exchange(CALL, Ok((502, "<html>")));
        let fine = || exchange(CALL, Ok((200, "{}")));
        let mut answers = UnjudgedAnswers::default();
        assert!(look(&mut answers, &[fine()]));
        assert_eq!(answers, UnjudgedAnswers::default());
        assert!(!look(&mut answers, &[fine(), too_large()]));
        assert!(!look(&mut answers, &[gateway(), too_large()]), "it is not judged, for one reason");
        assert!(look(&mut answers, &[gateway(), gateway(), fine()]));
        let mut other = UnjudgedAnswers::default();
        assert!(look(&mut other, &[gateway()]));
        // A gateway may reject a request beyond the tables.
        assert!(look(&mut other, &[exchange("{}", Ok((502, "")))]));
        assert!(!look(&mut other, &[too_large()]));
        answers.merge(other);
        let reasons: Vec<(String, usize)> = answers.clone().reasons(&Access::default()).into_iter().collect();
        let [(theirs, 2), (ours, 3)] = &reasons[..] else {
            panic!("{reasons:?}");
        };
        assert_eq!(theirs, "HTTP 502, and no answer of the service");
        assert!(ours.ends_with("more than we read"), "{ours}");
        let mut denied = Access::default();
        let (refused, context) = (exchange(CALL, Ok((401, ""))), Context::default());
        denied.see("calls", &View::new(Role::Call, "", &refused, &context));
        assert_eq!(answers.reasons(&denied).len(), 1);
    }
}
