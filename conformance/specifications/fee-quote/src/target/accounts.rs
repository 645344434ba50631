//! Smart accounts (section 2.4) for a profile that names none: those that published clients send, and those that the target
//! served.

use crate::call::CallParts;
use crate::target::{SmartAccount, by_pair};
use paymaster_engine::message::Call;
use std::collections::BTreeMap;

use paymaster_schemas::{Kind, Mode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The smart accounts that published clients send. They are used when the profile names none and the target served none.
pub(crate) const PUBLISHED: [(&str, &str); 2] = [("BICONOMY", "2.0.0"), ("INFINITISM", "1.0.0")];

/// The smart accounts that discovery sends when the profile names none.
pub(crate) const CANDIDATES: [(&str, &str); 4] =
    [("BICONOMY", "2.0.0"), ("INFINITISM", "1.0.0"), ("BICONOMY", "1.0.0"), ("SAFE", "1.4.1")];

/// How the target answered a sponsored-mode request that names a smart account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccountService {
    /// With a result whose `paymasterAndData` is `0x`.
    Answered,
    /// With a result that sponsors the operation.
    Sponsored,
}

/// Which smart accounts the target served, by pair of method and mode, and the best service of each. The accounts of a pair are sorted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServedAccounts(#[serde(with = "by_pair")] BTreeMap<Kind, Vec<(SmartAccount, AccountService)>>);

impl ServedAccounts {
    /// Adds the result of a call. Calls without a smart account are ignored. In token mode, where the account does not decide, every
    /// result counts as sponsored.
    pub fn learn(&mut self, call: &Call, result: &Value) {
        let account = account_of(&call.mode_object()["sponsorshipInfo"]);
        let data = result["paymasterAndData"].as_str();
        if let (Mode::Erc20, Some(account)) = (Mode::of(call.pair), &account) {
            self.note(call.pair, account, AccountService::Sponsored);
        }
        if let (Mode::Sponsored, Some(account), Some(data)) = (Mode::of(call.pair), account, data) {
            let service = if data == "0x" { AccountService::Answered } else { AccountService::Sponsored };
            self.note(call.pair, &account, service);
        }
    }

    /// Adds how an account was served. The best service is kept.
    pub fn note(&mut self, pair: Kind, account: &SmartAccount, service: AccountService) {
        let known = self.0.entry(pair).or_default();
        match known.binary_search_by(|(known, _)| known.cmp(account)) {
            Ok(place) => known[place].1 = known[place].1.max(service),
            Err(place) => known.insert(place, (account.clone(), service)),
        }
    }

    /// How the target served this account in this pair; none when it did not.
    pub fn service(&self, pair: Kind, account: &SmartAccount) -> Option<AccountService> {
        let mut known = self.0.get(&pair)?.iter();
        known.find(|(known, _)| known == account).map(|(_, service)| *service)
    }

    /// Every account that was served, once for each pair in which it was, with its best service.
    pub fn all(&self) -> impl Iterator<Item = (Kind, &SmartAccount, AccountService)> {
        self.0
            .iter()
            .flat_map(|(pair, accounts)| accounts.iter().map(|(account, service)| (*pair, account, *service)))
    }

    /// The accounts that were served in sponsored mode: the candidates of discovery in their order, then the others.
    pub fn accounts(&self) -> Vec<SmartAccount> {
        let mut accounts: Vec<SmartAccount> = Vec::new();
        for (pair, account, _) in self.all() {
            if Mode::of(pair) == Mode::Sponsored && !accounts.contains(account) {
                accounts.push(account.clone());
            }
        }
        accounts.sort_by_key(|account| {
            let place = |known: &(&str, &str)| *known == (account.name.as_str(), account.version.as_str());
            CANDIDATES.iter().position(place).unwrap_or(CANDIDATES.len())
        });
        accounts
    }
}

/// The smart account that a sponsorshipInfo names; none when name or version is missing.
pub(crate) fn account_of(info: &Value) -> Option<SmartAccount> {
    let account = &info["smartAccountInfo"];
    Some(SmartAccount {
        name: account["name"].as_str()?.to_owned(),
        version: account["version"].as_str()?.to_owned(),
    })
}

/// Accounts of one of the tables above.
pub(crate) fn listed(table: &[(&str, &str)]) -> Vec<SmartAccount> {
    table
        .iter()
        .map(|(name, version)| SmartAccount { name: (*name).to_owned(), version: (*version).to_owned() })
        .collect()
}
