//! Tests of the rule for absent data. They do not change the environment, because it belongs to the process.

use super::{DataError, absent};

#[test]
fn absent_data_is_named() {
    let error = DataError { what: "static/none".to_owned(), folder: "somewhere".into() };
    let text = error.to_string();
    assert!(
        text.contains("static/none") && text.contains("somewhere") && text.contains("HEDGEROW_REQUIRE_DATA")
    );
    let required = std::env::var("HEDGEROW_REQUIRE_DATA").is_ok_and(|v| v == "1");
    assert_eq!(absent("x", "y".into()).is_err(), required);
}
