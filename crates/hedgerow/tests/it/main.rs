//! Tests of the store through its public interface.

#[path = "../common/mod.rs"]
mod common;

mod all_labels;
mod bad_input;
mod basics;
mod bulk;
mod checkpoints;
mod concurrency;
mod damage;
mod disk_full;
mod durability;
mod equivalence;
mod files;
mod fixtures;
mod held;
mod labels;
mod no_effect;
mod options;
mod own_reads;
mod own_writes;
mod pipeline;
mod readers;
mod review;
mod salvage;
mod scan;
mod settling;
mod tools;
mod views;
