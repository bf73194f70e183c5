//! The contract is tested itself: a store in memory keeps every clause, and each broken one fails the clause
//! that was written against it.

#![cfg(test)]

mod broken;
mod honest;
mod memory;
