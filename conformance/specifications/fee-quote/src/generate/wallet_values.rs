//! Values of real wallets: selectors, factories, nonce keys, gas and fees of real chains.

use proptest::test_runner::TestRng;

use paymaster_engine::generate::random::RngExt;

/// Selectors with which wallets begin call data, and what they call.
const SELECTORS: &[(&str, &str)] = &[
    ("b61d27f6", "execute(address,uint256,bytes)"),
    ("0000189a", "execute_ncC of Biconomy"),
    ("47e1da2a", "executeBatch(address[],uint256[],bytes[])"),
    ("00004680", "executeBatch_y6U of Biconomy"),
    ("18dfb3c7", "executeBatch(address[],bytes[])"),
    ("34fcd5be", "executeBatch((address,uint256,bytes)[])"),
    ("a9059cbb", "transfer(address,uint256) of ERC-20"),
    ("095ea7b3", "approve(address,uint256) of ERC-20"),
    ("7bb37428", "executeUserOp of the Safe 4337 module"),
    ("541d63c8", "executeUserOpWithErrorString of the Safe 4337 module"),
    ("51945447", "execute(address,uint256,bytes,uint8) of Kernel 2"),
    ("e9ae5c53", "execute(bytes32,bytes) of ERC-7579 accounts such as Kernel 3"),
];

/// Factories of published accounts, with the selector that creates an account.
const FACTORIES: &[(&str, &str)] = &[
    ("000000a56aaca3e9a4c479ea6b6cd0dbcb6634f5", "df20ffbc"),
    ("4e1dcf7ad4e460cfd30791ccc4f9c8a4f820ec67", "1688f0b9"),
    ("5de4839a76cf55d0c90e2061ef4386d962e15ae3", "296601cd"),
    ("9406cc6185a346906296840746125a0e44976454", "5fbfb9cf"),
];

/// Call data as a wallet writes it: a selector, and arguments of whole words; sometimes nothing after the selector, or arguments
/// that are cut short. At most `most` bytes.
pub(super) fn call_data(rng: &mut TestRng, most: usize) -> String {
    let (selector, _) = rng.pick(SELECTORS);
    let words = rng.count(0, 8);
    let cut = if rng.chance(15) { rng.count(1, 31) } else { 0 };
    let arguments = (32 * words).saturating_sub(cut).min(most.saturating_sub(4));
    let arguments = rng.hex(arguments);
    format!("0x{selector}{}", &arguments[2..])
}

/// initCode of a known factory: its address, the selector that creates an account, and the arguments.
pub(super) fn init_code(rng: &mut TestRng) -> String {
    let (factory, selector) = rng.pick(FACTORIES);
    let arguments = 32 * rng.count(2, 6);
    let arguments = rng.hex(arguments);
    format!("0x{factory}{selector}{}", &arguments[2..])
}

/// A nonce with a key in its upper 192 bits, in hex digits: accounts with parallel nonces use such keys.
pub(super) fn keyed_nonce(rng: &mut TestRng) -> String {
    let key = rng.hex(24);
    let sequence = rng.below(50);
    format!("{}{sequence:016x}", &key[2..])
}

/// Gas limits (call, verification, pre-verification) of real operations.
pub(super) const GAS_OF_CHAINS: [[u64; 3]; 4] = [
    [9_100, 75_000, 48_000],
    [55_000, 150_000, 46_500],
    [220_000, 420_000, 130_000],
    [1_200_000, 650_000, 3_500_000],
];

/// Fees (maximum, priority) of real chains, in wei: a rollup, a test network, a side chain and a main network.
pub(super) const FEES_OF_CHAINS: [[u64; 2]; 4] = [
    [1_001_000, 1_000_000],
    [3_000_000_000, 0],
    [120_000_000_000, 30_000_000_000],
    [45_000_000_000, 100_000_000],
];
