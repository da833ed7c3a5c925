//! Tests of the store through its public interface.

#[path = "../common/mod.rs"]
#[macro_use]
mod common;

mod all_labels;
mod backpressure;
mod bad_input;
mod basics;
mod batches;
mod budget;
mod bulk;
mod changes;
mod check_keys;
mod checkpoints;
mod closing;
mod cold;
mod columns;
mod commit_loads;
mod concurrency;
mod container;
mod cooled_copies;
mod cooling;
mod cut_short_batches;
mod damage;
mod disk_cases;
mod disk_full;
mod durability;
mod ends;
mod equivalence;
mod few;
mod files;
mod fixtures;
mod graph_read;
mod held;
mod held_quarter;
mod hub_reads;
mod hubs;
mod inboxes;
mod key_looks;
mod kinds;
mod kinds_of_kernels;
mod labels;
mod long_values;
mod maintained;
mod many_labels;
mod meaning;
mod memory;
mod memory_limit;
mod no_effect;
mod opening;
mod opening_keys;
mod options;
mod own_reads;
mod own_writes;
mod page_versions;
mod pages_loaded_meanwhile;
mod permissions;
mod pipeline;
mod random_reads;
mod readers;
mod removing;
mod review;
mod salvage;
mod scan;
mod scan_runs;
mod selections;
mod settling;
mod singles;
mod sorted_keys;
mod tiered;
mod tools;
mod tools_by_page;
mod unwritten_versions;
mod vertex_columns;
mod views;
mod views_by_reads;
mod within_limit;

shared_tests! {
    budget:
        a_scan_charges_the_lists_that_it_lends,
        small_reads_continue_while_commits_have_no_room;
    commit_loads:
        a_commit_to_many_subgraphs_has_room_for_all_of_them_made_at_once,
        two_commits_that_need_more_than_half_of_the_memory_each_are_both_made,
        a_commit_of_more_than_the_limit_by_estimate_waits_for_what_others_have_changed,
        a_commit_whose_list_changes_at_each_read_of_it_is_made;
    held:
        hundreds_of_snapshots_read_what_they_read_when_they_opened,
        many_snapshots_of_one_moment_end_one_by_one,
        what_a_snapshot_kept_goes_with_it_whatever_others_keep,
        threads_that_hold_snapshots_beside_writers_leave_nothing;
    inboxes:
        commits_write_to_lists_that_are_not_in_memory,
        commits_beside_checkpoints_know_which_edges_exist,
        a_list_without_a_version_gets_operations_while_it_is_not_in_memory,
        every_reader_merges_deltas_with_images,
        a_checkpoint_after_a_segment_that_cannot_be_opened_loses_nothing;
    tools:
        a_backup_is_the_store_of_its_moment,
        a_backup_beside_writers_is_a_prefix,
        a_backup_overwrites_nothing_and_cleans_up,
        a_sound_store_is_salvaged_whole,
        without_a_manifest_everything_else_is_found,
        a_damaged_log_is_read_on_behind_the_damage,
        a_damaged_segment_loses_what_is_damaged,
        what_is_missing_or_foreign_is_told,
        a_hub_that_is_lost_is_told_edge_by_edge;
    ends: every_way_of_writing_keeps_to_the_kinds_of_a_label;
    memory: the_account_explains_what_a_store_holds;
    equivalence: random_transactions_agree_with_the_model;
    cold:
        cold_reads_say_what_a_resident_store_says,
        reads_of_what_is_not_in_memory_are_counted,
        reads_of_a_hub_are_counted,
        a_chain_that_is_read_again_comes_into_memory,
        a_damaged_block_is_an_error_of_each_read_of_it;
    page_versions:
        reads_of_held_snapshots_say_what_those_of_a_resident_store_say,
        reads_of_held_snapshots_of_a_graph_that_grows,
        commits_go_on_beside_snapshots_that_see_what_they_saw;
    cooled_copies: what_cools_is_linked_again_only_if_it_is_what_it_was;
    many_labels:
        a_page_that_left_stays_under_a_hold_and_is_not_filled,
        commits_over_many_labels_go_on_within_a_small_limit;
    opening:
        a_graph_over_many_pages_is_what_was_written_however_it_was_opened,
        an_opening_reads_what_the_number_of_pages_asks_for_and_a_read_its_page,
        a_damaged_page_is_an_error_of_the_calls_that_need_it,
        threads_that_touch_pages_at_once_find_them_whole,
        a_graph_larger_than_its_limit_is_read_and_written_within_it,
        a_segment_that_could_not_be_opened_is_not_passed_over_later,
        images_are_read_from_files_that_were_removed,
        readers_and_writers_beside_an_evictor_see_what_they_should,
        cold_readers_beside_writers_and_an_evictor_see_what_they_should;
    views:
        reads_by_id_agree_with_and_without_a_view,
        reads_by_id_find_every_neighbor_of_a_hub,
        snapshots_of_one_timestamp_share_a_view,
        a_few_point_reads_build_no_view,
        refreshed_views_agree_with_point_reads,
        a_refresh_of_many_subgraphs_reads_all_that_changed,
        views_beside_writers_are_of_one_timestamp,
        a_settled_graph_gets_a_settled_view_at_the_same_timestamp,
        a_view_that_keeps_many_old_lists_is_given_up,
        views_of_labels_are_kept_and_made_of_one_another;
}
