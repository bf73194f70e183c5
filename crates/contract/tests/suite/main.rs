//! The contract is tested itself: an honest executor passes every clause, and each broken one fails
//! exactly its own.

#![expect(clippy::unwrap_used, reason = "this whole program is a test")]

mod description;
mod honest;
mod matrix;
