//! Generation of requests from the schemas: valid ones, boundary values, and ones that break exactly one keyword.
