//! The examples of the guide about kinds of vertices, as they stand there between the lines that end in dashes.

use hedgerow::{Column, Direction, EdgeKey, Graph, KeyKind, LabelOptions, PropertyType, ValueRef};

pub(super) fn kinds() -> Result<(), Box<dyn std::error::Error>> {
    // ---
    let wiki = Graph::in_memory()?;
    let user = wiki.define_kind("user", KeyKind::Str)?;
    let page = wiki.define_kind("page", KeyKind::U64)?;
    wiki.define_label("edited", LabelOptions::new().ends(user, page))?;
    wiki.put_edge_with(EdgeKey::new("edited", "ann", 7), [("minor", true)])?;
    let now = wiki.snapshot()?;
    assert_eq!(now.neighbors(page.key(7), Direction::In)?, Some(vec![])); // the default label has none
    assert_eq!(
        now.neighbors_of("edited", page.key(7), Direction::In)?,
        Some(vec![(user.key("ann").to_owned(), 0)])
    );
    assert_eq!((now.vertex_count_of(page)?, now.vertex_count_of(user)?), (1, 1));
    // ---
    Ok(())
}

pub(super) fn columns() -> Result<(), Box<dyn std::error::Error>> {
    // ---
    let shop = Graph::in_memory()?;
    let customer = shop.define_kind("customer", KeyKind::U64)?;
    let names = ["Ann", "Bob"].map(ValueRef::Utf8);
    let names = Column::of_values(PropertyType::Utf8, names).expect("all are texts");
    let since = Column::from(vec![1999, 2024]);
    let mut tx = shop.write()?;
    tx.put_vertex_columns(customer, [1, 2], &[("name", &names), ("since", &since)], 0)?;
    tx.commit()?;
    assert_eq!(shop.snapshot()?.vertex_property(customer.key(2), "name")?, Some("Bob".into()));
    // ---
    Ok(())
}
