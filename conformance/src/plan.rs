//! The plan: every group of a run, from seed, profile and dialect alone.
