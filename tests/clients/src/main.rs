//! Belljar with other people's programs, from their registries by their own clients: MCP clients that nobody here wrote,
//! and the validator of the skills format.

#![cfg(test)]

mod inspector;
mod place;
mod programs;
mod python_client;
mod skills_ref;
