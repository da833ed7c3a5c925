//! Tests of the class of a machine.

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
