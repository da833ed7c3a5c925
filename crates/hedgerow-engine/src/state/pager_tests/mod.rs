//! Tests of the pager in a whole store: reads of keys and lists in files, and room within a memory limit.

mod cold_lists;
mod room;
mod stored_keys;
