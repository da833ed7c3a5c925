//! Tests of headers for Neo4j's importer: columns in any order, with types and with spaces of ids.

use serde_json::json;

use crate::{Bench, field, hedgerow};

#[test]
fn edges_have_the_columns_that_the_header_says() {
    let bench = Bench::new();
    for (name, content) in [
        ("plain", ":START_ID,:END_ID,:TYPE,since:INT,how\n1,2,KNOWS,2001,x\n2,3,LIKES,,\"\"\n"),
        (
            "turned",
            "how:string,since:long,:TYPE,:END_ID(Person),:START_ID(Person)\nx,2001,KNOWS,2,1\n\"\",,LIKES,3,2\n",
        ),
    ] {
        let (store, file) = (bench.path(name), bench.file("a.csv", content));
        let loaded = hedgerow("load @ @ --json", &[&store, &file]).ok();
        assert_eq!((field(&loaded, "rows"), field(&loaded, "notes")), (json!(2), json!([])));
        let export =
            |label: &str| hedgerow(&format!("export @ --properties --label {label}"), &[&store]).ok();
        let columns = if name == "plain" { "since:i64,how:utf8" } else { "how:utf8,since:i64" };
        let knows = if name == "plain" { "2001,x" } else { "x,2001" };
        assert_eq!(export("KNOWS"), format!("src,dst,{columns}\n1,2,{knows}\n"));
        assert!(export("LIKES").contains("\n2,3,"), "{}", export("LIKES"));
    }
    // Without types and labels, the report names only the direction. An option overrides the header.
    let file = bench.file("a.csv", ":END_ID,:START_ID,:TYPE,n:INT\n2,1,KNOWS,5\n3,2,KNOWS,6\n");
    let store = bench.path("said");
    let loaded = hedgerow("load @ @ --label likes --property m:f64=4 --json", &[&store, &file]).ok();
    let exported = hedgerow("export @ --properties --label likes", &[&store]).ok();
    assert_eq!(exported, "src,dst,m:f64\n1,2,5\n2,3,6\n");
    let note = "column 3 (:TYPE) is left out; --property NAME:TYPE=3 keeps it";
    assert_eq!(field(&loaded, "notes")[0]["note"], note);
    let weighted = bench.path("weighted");
    let file = bench.file("w.csv", ":END_ID,:START_ID,weight:double\n2,1,0.5\n");
    hedgerow("load @ @ --weighted", &[&weighted, &file]).ok();
    assert_eq!(hedgerow("export @", &[&weighted]).ok(), "src,dst,weight\n1,2,0.5\n");
}

#[test]
fn vertices_have_the_properties_that_the_header_says() {
    let bench = Bench::new();
    let people = "name|id:ID(Person)|age:INT|born:date|:LABEL\nAnn|1|30|2001-02-03|Person\nBob|2|||Person\n";
    let people = bench.file("people.csv", people);
    let loaded = hedgerow("load @ --vertices @ --json", &[&bench.store(), &people]).ok();
    let out = bench.path("out.csv");
    hedgerow("export @ --properties --vertices @", &[&bench.store(), &out]).ok();
    let expected = "id,name:utf8,age:i64,born:timestamp\n1,Ann,30,2001-02-03T00:00:00Z\n2,Bob,,\n";
    assert_eq!(std::fs::read_to_string(out).expect("written"), expected);
    let note = field(&loaded, "notes")[0]["note"].as_str().expect("a note").to_owned();
    assert!(note.starts_with("column 5 (:LABEL) is left out"), "{note}");
}

#[test]
fn what_cannot_be_told_is_refused() {
    let bench = Bench::new();
    for (content, expected) in [
        (
            ":START_ID(Person),:END_ID(Film)\n1,1\n",
            "header: ids of \"Person\" and of \"Film\" are different vertices",
        ),
        (
            ":START_ID,:END_ID,at:point\n1,2,x\n",
            "header: column 3 (at) has type \"point\", which is not supported",
        ),
        (":START_ID,:END_ID,a:INT,a:INT\n1,2,3,4\n", "two columns are property a"),
    ] {
        let file = bench.file("a.csv", content);
        let error = hedgerow("load @ @", &[&bench.store(), &file]).fails(1);
        assert!(error.contains(expected), "{error}");
        assert!(!bench.store().exists());
    }
    let edges = bench.file("a.csv", ":START_ID,:END_ID\n1,2\n");
    let error = hedgerow("load @ --vertices @", &[&bench.store(), &edges]).fails(1);
    assert!(error.contains("header: edges, not vertices"), "{error}");
}

#[test]
fn tables_of_vertices_with_an_ordinary_header_are_sniffed() {
    let bench = Bench::new();
    let airports = "code;name;lat;big;opened;zip;runs\n1;\"Goroka; PNG\";-6.08;true;1960-01-01;00501;7\n2;Madang;-5;false;;10001;8\n";
    let file = bench.file("airports.dat", airports);
    let ran = hedgerow("load @ --vertices @", &[&bench.store(), &file]);
    let read = "7 columns between semicolons, header: code, name:utf8, lat:f64, big:bool, opened:timestamp, zip:utf8, runs:i64";
    assert!(ran.err.contains(read), "{}", ran.err);
    ran.ok();
    let out = bench.path("out.csv");
    hedgerow("export @ --properties --vertices @", &[&bench.store(), &out]).ok();
    let expected = "id,name:utf8,lat:f64,big:bool,opened:timestamp,zip:utf8,runs:i64\n\
        1,Goroka; PNG,-6.08,true,1960-01-01T00:00:00Z,00501,7\n2,Madang,-5,false,,10001,8\n";
    assert_eq!(std::fs::read_to_string(out).expect("written"), expected);
    // A first row of data is not read as names.
    for (content, options, expected) in [
        ("1,Goroka,7\n2,Madang,8\n", "", "airports.dat: header: the first row names no columns"),
        ("1,Goroka,7\n2,Madang,8\n", "--no-header", "airports.dat: header: the first row names no columns"),
        ("ann,x\nbob,y\n", "--keys str", "cannot tell whether \"ann,x\" is a header"),
    ] {
        let file = bench.file("airports.dat", content);
        let error =
            hedgerow(&format!("load @ --vertices @ {options}"), &[&bench.path("new"), &file]).fails(1);
        assert!(error.contains(expected), "{error}");
    }
    // A row that does not fit the types of the first rows is malformed.
    let rows: String = (0..1500).map(|i| format!("{i},{i}\n")).collect();
    let file = bench.file("airports.dat", format!("code,n\n{rows}1500,x\n"));
    let error = hedgerow("load @ --vertices @", &[&bench.path("new"), &file]).fails(1);
    assert!(error.contains("airports.dat:1502: property n is not a whole number"), "{error}");
}
