//! The bounds on what clients send: sizes, times and counts, all from the configuration.

config! {
    /// The bounds on what clients send. Sizes are in bytes, times in milliseconds.
    pub struct Bounds {
        /// Largest request body, in bytes; a larger one gets HTTP 413.
        pub max_body_bytes: usize = 1024 * 1024,
        /// Largest request head, start line included, in bytes; a larger one gets HTTP 431.
        pub max_header_bytes: usize = 16 * 1024,
        /// Deepest nesting of arrays and objects in a body; at most [`Bounds::DEEPEST`]. A deeper body gets a parse error.
        pub max_depth: usize = 64,
        /// Most requests in a batch; a longer batch gets one error.
        pub max_batch_length: usize = 100,
        /// Most connections at a time; further ones get HTTP 503.
        pub max_connections: usize = 1024,
        /// Longest wait for the rest of a request head after its first byte, in milliseconds; the connection is then closed.
        pub header_timeout_ms: u64 = 10_000,
        /// Longest wait for the rest of a body after its head, in milliseconds; the client then gets HTTP 408.
        pub body_timeout_ms: u64 = 10_000,
        /// Longest wait for the next request of a connection, in milliseconds; the connection is then closed.
        pub idle_timeout_ms: u64 = 60_000,
        /// Longest time from the first byte of a request to its response, in milliseconds; the connection is then closed.
        pub total_timeout_ms: u64 = 30_000,
        /// Longest wait for requests in flight when the server stops, in milliseconds.
        pub drain_timeout_ms: u64 = 10_000,
    }
}

impl Bounds {
    /// Greatest value of `max_depth`: the JSON parser reads no deeper.
    pub const DEEPEST: usize = 120;
    /// Smallest value of `max_header_bytes`: the request head of any client needs as much.
    pub const SMALLEST_HEADER_BOUND: usize = 256;

    /// The first value that is out of range, as an error message.
    pub(crate) fn problem(&self) -> Option<String> {
        let positive = [
            ("bounds.max_body_bytes", self.max_body_bytes as u64),
            ("bounds.max_depth", self.max_depth as u64),
            ("bounds.max_batch_length", self.max_batch_length as u64),
            ("bounds.max_connections", self.max_connections as u64),
            ("bounds.header_timeout_ms", self.header_timeout_ms),
            ("bounds.body_timeout_ms", self.body_timeout_ms),
            ("bounds.idle_timeout_ms", self.idle_timeout_ms),
            ("bounds.total_timeout_ms", self.total_timeout_ms),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Some(format!("{name} must be at least 1"));
        }
        if self.max_depth > Self::DEEPEST {
            return Some(format!("bounds.max_depth must be at most {}", Self::DEEPEST));
        }
        if self.max_header_bytes < Self::SMALLEST_HEADER_BOUND {
            return Some(format!("bounds.max_header_bytes must be at least {}", Self::SMALLEST_HEADER_BOUND));
        }
        None
    }
}
