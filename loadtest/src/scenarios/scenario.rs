//! The type of a scenario.

use super::{error::ScenarioError, generator::RequestGenerator, template::RequestTemplate};

/// Requests that one user sends one after the other. Most scenarios have one request; a journey has two.
pub type RequestSequence = Vec<RequestTemplate>;

/// A kind of request sequence that a load test can send.
#[derive(Debug)]
pub struct Scenario {
    /// Its name, unique among the scenarios.
    pub id: &'static str,
    /// What it sends, in one line.
    pub about: &'static str,
    /// Its weight in `mixed`, unless the user names weights.
    pub weight: u32,
    /// The label of each request of a sequence, in order: the rows of reports.
    pub labels: &'static [&'static str],
    pub make: fn(&Scenario, &mut RequestGenerator<'_>) -> Result<Vec<RequestSequence>, ScenarioError>,
}

impl Scenario {
    /// The error for a profile that does not allow any request of this scenario.
    pub(super) fn profile_too_small(&self) -> ScenarioError {
        ScenarioError::ProfileTooSmall { scenario: self.id }
    }
}
