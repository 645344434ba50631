//! Generation of requests from the schemas: valid ones, boundary values, ones that break exactly one keyword, simpler ones.
