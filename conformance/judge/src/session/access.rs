//! Whether any valid request reached the service, by the HTTP status of the answers.

use std::{collections::BTreeMap, fmt::Write as _};

use crate::rules::View;

/// Counts the valid requests that HTTP refused. When all of them get 401, 403 or 404, the service was not tested: the body may
/// come from a gateway or a framework, or be a JSON-RPC error about a missing key.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Valid requests that were refused or redirected, by status.
    refused: BTreeMap<u16, u64>,
    /// The location that the first redirect named.
    redirected_to: Option<String>,
    /// Whether the service answered a valid request.
    answered: bool,
}

impl Access {
    /// Counts one exchange.
    pub fn see(&mut self, view: &View<'_>) {
        let (Some(_), Some(response)) = (view.valid_call(), view.answer.response()) else {
            return;
        };
        if view.refused_for_headers() {
            return; // a plain request shows whether the service can be reached
        }
        let status = response.status;
        if view.rejected_before_service() || is_denial(status) && view.answer.result().is_none() {
            *self.refused.entry(status).or_default() += 1;
            if self.redirected_to.is_none() && is_redirect(status) {
                self.redirected_to = response.header("location").map(str::to_owned);
            }
        } else if !view.refused_by_status() {
            self.answered = true;
        }
    }

    /// Adds the counts of another part of the run.
    pub fn merge(&mut self, other: Self) {
        for (status, times) in other.refused {
            *self.refused.entry(status).or_default() += times;
        }
        self.redirected_to = self.redirected_to.take().or(other.redirected_to);
        self.answered |= other.answered;
    }

    /// Whether every valid request was refused with a status that more requests will not change.
    pub fn is_permanently_denied(&self) -> bool {
        let for_good = |status: &u16| is_denial(*status) || is_redirect(*status);
        !self.answered && !self.refused.is_empty() && self.refused.keys().all(for_good)
    }

    /// Why nothing of the service was tested, and what to check; none when the service answered, or nothing was refused.
    pub fn denied(&self) -> Option<String> {
        let (most, _) = self.refused.iter().max_by_key(|(_, times)| **times)?;
        if self.answered {
            return None;
        }
        let mut text = String::from("HTTP ");
        for (place, status) in self.refused.keys().enumerate() {
            let between = if place > 0 { " or " } else { "" };
            // Writing to a String cannot fail.
            let _ = write!(text, "{between}{status}");
        }
        text.push_str(" for every valid request");
        if self.refused.len() > 1 {
            let _ = write!(text, ", most often {most}");
        }
        if let Some(place) = self.redirected_to.as_ref().filter(|_| is_redirect(*most)) {
            let _ = write!(text, ", a redirect to {place}");
        }
        text.push_str(match *most {
            status if is_redirect(status) => ": redirects are not followed; give the URL that they lead to",
            401 => ": check the key, which the target expects in a header or in the URL",
            403 => ": check the key and the headers, and whether they give access to this service",
            404 => ": check the path of the URL, and the key where it is part of the path",
            502..=504 => ": a gateway answered, and the service behind it did not",
            _ => ": check the path, the headers and the key",
        });
        Some(text)
    }
}

/// A status that a target gives to every request when key, headers or path are wrong.
fn is_denial(status: u16) -> bool {
    matches!(status, 401 | 403 | 404)
}

fn is_redirect(status: u16) -> bool {
    (300..400).contains(&status)
}
