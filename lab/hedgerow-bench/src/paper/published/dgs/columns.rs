//! The columns of the tables of operations.

use super::super::block::Column;

/// The five containers, all with one setting.
pub(super) const fn five(setting: &'static str) -> [Column; 5] {
    [
        ("adjlst", setting),
        ("livegraph", setting),
        ("aspen", setting),
        ("teseo", setting),
        ("sortledton", setting),
    ]
}
