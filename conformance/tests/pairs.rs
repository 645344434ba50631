//! The pairs of faults that `selftest --pairs` tries.

use paymaster_conformance::selftest::fault_pairs;

#[test]
fn pairs_are_drawn_with_a_seed_and_40_of_100_are_of_one_rule() {
    let names = |seed| -> Vec<[&str; 2]> {
        let pairs = fault_pairs(100, seed);
        assert_eq!(pairs.len(), 100);
        let of_one_rule = pairs.iter().filter(|pair| pair.is_of_one_rule);
        assert_eq!(of_one_rule.count(), 40);
        pairs.iter().map(|pair| pair.faults.map(|fault| fault.name)).collect()
    };
    assert_eq!(names(1), names(1));
    assert_ne!(names(1), names(2));
}
