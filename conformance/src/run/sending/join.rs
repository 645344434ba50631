//! Waits for several futures at once.
//!
//! `join_all` of futures-util polls only the futures that were woken. With it, a fault that closes 1 of 25 connections was missed in 13 of
//! 14 runs with 60 cases, and in none of 6 with this one (`selftest --only closed-without-answer --cases 60`). The reason is not known yet.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

/// Runs futures concurrently within the task of the caller; returns their outputs in the same order.
pub(crate) async fn join_all<T, F: Future<Output = T>>(futures: impl IntoIterator<Item = F>) -> Vec<T> {
    let mut running: Vec<(Pin<Box<F>>, Option<T>)> = futures
        .into_iter()
        .map(|future| (Box::pin(future), None))
        .collect();
    poll_fn(|cx| {
        for (future, output) in &mut running {
            if output.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(cx)
            {
                *output = Some(ready);
            }
        }
        if running.iter().all(|(_, output)| output.is_some()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    running.into_iter().filter_map(|(_, output)| output).collect()
}
