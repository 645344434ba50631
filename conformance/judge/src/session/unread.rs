//! What came back and tells nothing of the service: more than we read, or an answer that something before it gave.

use std::collections::BTreeMap;

use crate::rules::View;

/// How many groups were left out because of such an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// By what of the answer was more than we read.
    beyond_us: BTreeMap<String, usize>,
    /// By the status with which something before the service answered a request that the service owed an answer. The rest of such a group is
    /// judged.
    by_others: BTreeMap<u16, usize>,
}

impl Unread {
    /// Looks at the answers of a group; false when it cannot be judged.
    pub fn lets_judge(&mut self, views: &[View<'_>]) -> bool {
        if let Some(what) = views.iter().find_map(|view| view.answer.beyond_reading()) {
            *self.beyond_us.entry(what).or_default() += 1;
            return false;
        }
        if let Some(status) = views.iter().find_map(View::answered_by_another) {
            *self.by_others.entry(status).or_default() += 1;
        }
        true
    }

    /// Adds what another part of the same run left out.
    pub fn merge(&mut self, other: Self) {
        for (what, groups) in other.beyond_us {
            *self.beyond_us.entry(what).or_default() += groups;
        }
        for (status, groups) in other.by_others {
            *self.by_others.entry(status).or_default() += groups;
        }
    }

    /// In words, how many groups each. A run with any is no pass, however often the rules held elsewhere. Where every valid request
    /// was `denied`, the run says so itself.
    pub fn told(self, denied: bool) -> BTreeMap<String, usize> {
        let beyond_us = self
            .beyond_us
            .into_iter()
            .map(|(what, groups)| (format!("{what}: more than we read"), groups));
        let by_others = self
            .by_others
            .into_iter()
            .filter(|_| !denied)
            .map(|(status, groups)| (format!("HTTP {status}, and no answer of the service"), groups));
        beyond_us.chain(by_others).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;
    use crate::target::context::Context;
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
        }
    }

    fn look(unread: &mut Unread, exchanges: &[Exchange]) -> bool {
        let context = Context::default();
        let views: Vec<View<'_>> = exchanges
            .iter()
            .map(|exchange| View::new("call", "", exchange, &context))
            .collect();
        unread.lets_judge(&views)
    }

    #[test]
    fn what_is_no_answer_of_the_service_is_told_by_its_reason() {
        let too_large = || {
            let limit = 7;
            exchange(
                CALL,
                Err(Failure::TooLarge {
                    part: paymaster_exchange::Part::Body,
                    limit,
                }),
            )
        };
        let gateway = || exchange(CALL, Ok((502, "<html>")));
        let fine = || exchange(CALL, Ok((200, "{}")));
        let mut unread = Unread::default();
        assert!(look(&mut unread, &[fine()]));
        assert_eq!(unread, Unread::default());
        assert!(!look(&mut unread, &[fine(), too_large()]));
        assert!(
            !look(&mut unread, &[gateway(), too_large()]),
            "it is not judged, for one reason"
        );
        assert!(look(&mut unread, &[gateway(), gateway(), fine()]));
        let mut other = Unread::default();
        assert!(look(&mut other, &[gateway()]));
        // What goes beyond the tables may be turned away.
        assert!(look(&mut other, &[exchange("{}", Ok((502, "")))]));
        assert!(!look(&mut other, &[too_large()]));
        unread.merge(other);
        let told: Vec<(String, usize)> = unread.clone().told(false).into_iter().collect();
        let [(theirs, 2), (ours, 3)] = &told[..] else {
            panic!("{told:?}");
        };
        assert_eq!(theirs, "HTTP 502, and no answer of the service");
        assert!(ours.ends_with("more than we read"), "{ours}");
        assert_eq!(unread.told(true).len(), 1);
    }
}
