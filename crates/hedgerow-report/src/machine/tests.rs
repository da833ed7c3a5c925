#[test]
fn days_are_counted_through_leap_years() {
    for (days, date) in [
        (0, "1970-01-01"),
        (58, "1970-02-28"),
        (59, "1970-03-01"),
        (11_016, "2000-02-29"),
        (11_017, "2000-03-01"),
        (20_088, "2024-12-31"),
        (20_089, "2025-01-01"),
        (47_540, "2100-02-28"),
        (47_541, "2100-03-01"),
    ] {
        assert_eq!(super::date(days * 86_400 + 86_399), date);
    }
}

#[test]
fn a_machine_has_a_class_and_no_name() {
    for (model, family) in [
        ("model name\t: AMD EPYC 7B13 64-Core Processor\n", Some("AMD EPYC")),
        (
            "flags : x\nmodel name\t: Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz\n",
            Some("Intel Xeon Platinum"),
        ),
        ("model name\t: Intel(R) Xeon(R) Processor @ 2.60GHz\n", Some("Intel Xeon")),
        ("model name\t: 12\n", None),
        ("", None),
    ] {
        assert_eq!(super::family_in(model).as_deref(), family, "{model}");
    }
    assert!(super::machine().contains(" cores, "), "{}", super::machine());
}
