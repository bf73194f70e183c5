//! The store through its front door, the ports; and through what the world does to its files.

#![cfg(test)]

mod audit;
mod contract;
mod crashes;
mod faults;
mod lifecycle;
mod mounts;
mod neighbours;
mod open;
mod owners;
mod races;
mod search;
mod skills;
mod world;
