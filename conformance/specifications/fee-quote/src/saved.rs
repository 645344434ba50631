//! What is known of a target as JSON, for replay files.

use serde::{Deserialize, Serialize};

use crate::{
    SPECIFICATION,
    target::{
        accounts::AccountService,
        context::{Context, Support},
        dialect::{Dialect, Pins, QuotedTokens},
        forms::ServedForms,
        profile::{Profile, SmartAccount, Token},
        quoted::QuotedFacts,
        spellings::ServedCapitals,
    },
};

/// What was known about the target when the answers were judged.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedContext {
    /// The profile.
    pub profile: Profile,
    /// The dialect.
    pub dialect: Pins,
    /// Tokens that the target supports.
    pub supported_tokens: Vec<String>,
    /// Tokens that it does not support.
    pub unsupported_tokens: Vec<String>,
    /// Whether all other tokens are unsupported.
    pub unlisted_tokens_are_unsupported: bool,
    /// Symbol and decimals of tokens, as the target returned them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub token_facts: Vec<Token>,
    /// Smart accounts that the target served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served_accounts: Vec<ServedAccount>,
    /// Forms beyond the tables that the target served.
    pub served_forms: ServedForms,
    /// Where the target served addresses in capital letters.
    pub served_capitals: ServedCapitals,
    /// The paymaster and the prices of the first quotes.
    pub quoted: QuotedFacts,
}

/// A smart account that the target served in a pair of method and mode.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ServedAccount {
    /// The pair, as `quote-sponsored`.
    pub pair: String,
    /// `smartAccountInfo.name`.
    pub name: String,
    /// `smartAccountInfo.version`.
    pub version: String,
    /// Whether an operation of it was sponsored.
    pub sponsored: bool,
}

impl SavedContext {
    pub(crate) fn of(context: &Context) -> Self {
        let tokens = |support| context.tokens_with(support).map(str::to_owned).collect();
        let dialect = &context.dialect;
        Self {
            profile: context.profile.clone(),
            dialect: Pins {
                jsonrpc_version: Some(dialect.jsonrpc_version.clone()),
                sponsored_name: Some(dialect.sponsored_name.clone()),
                fee_token_member: Some(dialect.fee_token_member.clone()),
                mode_member: Some(dialect.mode_member.clone()),
                amount_notation: Some(dialect.amount_notation),
                quoted_tokens: Some(dialect.quoted_tokens)
                    .filter(|reading| *reading != QuotedTokens::Unknown),
            },
            supported_tokens: tokens(Support::Supported),
            unsupported_tokens: tokens(Support::Unsupported),
            unlisted_tokens_are_unsupported: context.unlisted_tokens == Support::Unsupported,
            token_facts: context.facts.all().cloned().collect(),
            served_accounts: context
                .served_accounts
                .all()
                .map(|record| ServedAccount {
                    pair: record.pair.name.to_owned(),
                    name: record.account.name,
                    version: record.account.version,
                    sponsored: record.service == AccountService::Sponsored,
                })
                .collect(),
            served_forms: context.served_forms.clone(),
            served_capitals: context.served_capitals.clone(),
            quoted: context.quoted.clone(),
        }
    }

    /// The context in which answers are judged.
    pub(crate) fn context(&self) -> Context {
        let mut context = Context::new(self.profile.clone());
        context.dialect = Dialect::pinned(&self.dialect);
        for token in &self.supported_tokens {
            context.learn_token(token, Support::Supported);
        }
        for token in &self.unsupported_tokens {
            context.learn_token(token, Support::Unsupported);
        }
        for token in &self.token_facts {
            context.facts.note(token);
        }
        for served in &self.served_accounts {
            let service = if served.sponsored { AccountService::Sponsored } else { AccountService::Answered };
            let account = SmartAccount { name: served.name.clone(), version: served.version.clone() };
            if let Some(pair) = SPECIFICATION.find_kind(&served.pair) {
                context.served_accounts.note(pair, &account, service);
            }
        }
        context.served_forms = self.served_forms.clone();
        context.served_capitals = self.served_capitals.clone();
        context.quoted = self.quoted.clone();
        if self.unlisted_tokens_are_unsupported {
            context.unlisted_tokens = Support::Unsupported;
        }
        context
    }
}

#[cfg(test)]
mod tests {
    use paymaster_schemas::kinds;

    use super::*;
    use crate::target::dialect::Amounts;
    use paymaster_engine::message::request::ParsedRequest;
    use serde_json::{Value, json};

    #[test]
    fn the_context_survives_a_replay_file() {
        let mut learned = Context::new(Profile { ..Profile::default() });
        learned.dialect = Dialect {
            jsonrpc_version: "2.0.0".to_owned(),
            sponsored_name: "SPONSOR".to_owned(),
            fee_token_member: "tokenAddress".to_owned(),
            mode_member: "mode".to_owned(),
            amount_notation: Amounts::Mixed,
            quoted_tokens: QuotedTokens::List,
        };
        learned.learn_token("0xab", Support::Supported);
        learned.learn_token("0xcd", Support::Unsupported);
        let account = |name: &str| SmartAccount { name: name.to_owned(), version: "1.0.0".to_owned() };
        let served = &mut learned.served_accounts;
        served.note(kinds::QUOTE_SPONSORED, &account("A"), AccountService::Answered);
        served.note(kinds::SPONSOR_SPONSORED, &account("B"), AccountService::Sponsored);
        let request = concat!(
            r#"{"jsonrpc":"2.0.0","id":1,"method":"pm_sponsorUserOperation","params":[{"sender":"0xABCDEFABCDEFABCDEFABCDEFABCDEFABCDEFABCD","#,
            r#""nonce":"0x1","callData":"0x","maxFeePerGas":"1","maxPriorityFeePerGas":"1"},{"mode":"ERC20","#,
            r#""tokenInfo":{"feeTokenAddress":"0x27a44456bedb94dbd59d0f0a14fe977c777fc5c3"}}]}"#
        );
        let request = ParsedRequest::of(request.as_bytes(), &SPECIFICATION);
        let call = request.valid_call().expect("it is valid");
        learned.served_forms.learn(call, &learned.dialect);
        learned.served_capitals.learn(call, &Value::Null);
        learned.quoted.learn(&json!({"paymasterAddress": "0xEF"}), None);
        assert_ne!(learned.served_forms, ServedForms::default());
        assert_ne!(learned.served_capitals, ServedCapitals::default());
        learned.unlisted_tokens = Support::Unsupported;
        learned.facts.note(&Token {
            address: "0xAB".to_owned(),
            symbol: Some("ONE".to_owned()),
            decimals: Some(6),
        });

        let written = serde_json::to_string(&SavedContext::of(&learned)).unwrap();
        let again = serde_json::from_str::<SavedContext>(&written).unwrap().context();
        assert_eq!(again, learned);
        assert_eq!(again.quoted.paymaster.as_deref(), Some("0xef"));
    }
}
