//! Call data and factory data as wallets of published accounts write them: whole ABI encodings that decode.
//!
//! Everything is drawn from a small source of randomness, a function that returns a number below its argument. The same numbers give the
//! same bytes.

use alloy_primitives::{Address, Bytes, FixedBytes, U256, address, hex};
use alloy_sol_types::{SolCall, SolValue, sol};

use crate::operation::EntryPointVersion::{self, V06, V07, V08};
use crate::spelling::{checksummed, in_mixed_case};

sol! {
    /// One call of an account to another contract.
    #[derive(Debug, PartialEq, Eq)]
    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    interface Token {
        function transfer(address to, uint256 amount);
        function transferFrom(address from, address to, uint256 amount);
        function approve(address spender, uint256 amount);
    }

    interface Execute {
        function execute(address target, uint256 value, bytes data);
        function executeBatch(Call[] calls);
    }
    interface ListsWithoutValues {
        function executeBatch(address[] targets, bytes[] data);
    }
    interface Lists {
        function executeBatch(address[] targets, uint256[] values, bytes[] data);
    }
    interface Kernel2 {
        function execute(address target, uint256 value, bytes data, uint8 operation);
        function initialize(address validator, bytes data);
        function createAccount(address implementation, bytes data, uint256 index);
    }
    interface Kernel3 {
        function initialize(bytes21 validator, address hook, bytes validatorData, bytes hookData, bytes[] configuration);
        function deployWithFactory(address factory, bytes data, bytes32 salt);
    }
    interface Biconomy {
        function execute_ncC(address target, uint256 value, bytes data);
        function executeBatch_y6U(address[] targets, uint256[] values, bytes[] data);
        function initForSmartAccount(address owner);
        function deployCounterFactualAccount(address module, bytes moduleData, uint256 index);
    }
    interface Safe {
        function executeUserOp(address target, uint256 value, bytes data, uint8 operation);
        function executeUserOpWithErrorString(address target, uint256 value, bytes data, uint8 operation);
        function multiSend(bytes transactions);
        function enableModules(address[] modules);
        function setup(
            address[] owners,
            uint256 threshold,
            address to,
            bytes data,
            address fallbackHandler,
            address paymentToken,
            uint256 payment,
            address paymentReceiver
        );
        function createProxyWithNonce(address singleton, bytes initializer, uint256 salt);
    }
    interface Modular {
        /// ERC-7579.
        function execute(bytes32 mode, bytes calls);
    }
    interface Nexus {
        function createAccount(address owner, uint256 index, address[] attesters, uint8 threshold);
    }
    interface Coinbase {
        function createAccount(bytes[] owners, uint256 nonce);
    }
    interface OwnerAndSalt {
        function createAccount(address owner, uint256 salt);
        function createSemiModularAccount(address owner, uint256 salt);
    }
}

/// `executeUserOp` of ERC-4337. Clients put these bytes before the account's own call; EntryPoint 0.7 and later then pass the whole
/// operation to the account.
const EXECUTE_USER_OP: [u8; 4] = [0x8d, 0xd7, 0x71, 0x2f];

/// A published account.
#[derive(Debug)]
pub struct AccountForm {
    pub name: &'static str,
    /// The version of EntryPoint for which its factory deploys.
    pub version: EntryPointVersion,
    /// The contract that deploys accounts, at this address on every public chain.
    pub factory: Address,
    /// Writes one call or several. The flag chooses the rarer of two forms, if the account has two.
    call_data: fn(&[Call], bool) -> Vec<u8>,
    /// Writes what the factory is called with.
    factory_data: fn(&mut Draws<'_>) -> Vec<u8>,
    /// Whether clients put [`EXECUTE_USER_OP`] before some calls.
    wraps: bool,
}

/// The accounts. Addresses and functions are those of permissionless 0.4, viem 2.57 and aa-sdk 4.88.
pub static ACCOUNTS: &[AccountForm] = &[
    account("SimpleAccount 0.6", V06, address!("9406Cc6185a346906296840746125a0E44976454")).calling(
        |calls, _| {
            if let [call] = calls {
                return execute(call);
            }
            let (targets, _, data) = lists(calls);
            ListsWithoutValues::executeBatchCall { targets, data }.abi_encode()
        },
    ),
    account("SimpleAccount 0.7", V07, address!("91E60e0613810449d098b0b5Ec8b51A0FE8c8985")),
    account("SimpleAccount 0.8", V08, address!("13E9ed32155810FDbd067D4522C492D6f68E5944"))
        .calling(execute_or_structs),
    account("LightAccount 1.1", V06, address!("00004EC70002a32400f8ae005A26081065620D20")),
    account("LightAccount 2.0", V07, address!("0000000000400CdFef5E2714E63d8040b700BC24")),
    account("Modular Account 2", V07, address!("00000000000017c61b5bEe81050EC8eFc9c6fecd"))
        .calling(execute_or_structs)
        .deployed_by(|draws| {
            let owner = draws.address();
            OwnerAndSalt::createSemiModularAccountCall { owner, salt: draws.salt() }.abi_encode()
        })
        .wrapping(),
    account("Coinbase Smart Wallet 1.0", V06, address!("0BA5ED0c6AA8c49038F819E587E2633c4A9F428a"))
        .calling(execute_or_structs)
        .deployed_by(coinbase_factory),
    account("Coinbase Smart Wallet 1.1", V06, address!("BA5ED110eFDBa3D005bfC882d75358ACBbB85842"))
        .calling(execute_or_structs)
        .deployed_by(coinbase_factory),
    account("Biconomy 2", V06, address!("000000a56Aaca3e9a4C479ea6b6CD0DbcB6634F5"))
        .calling(|calls, _| {
            if let [Call { target, value, data }] = calls {
                let (target, value, data) = (*target, *value, data.clone());
                return Biconomy::execute_ncCCall { target, value, data }.abi_encode();
            }
            let (targets, values, data) = lists(calls);
            Biconomy::executeBatch_y6UCall { targets, values, data }.abi_encode()
        })
        .deployed_by(|draws| {
            let module = draws.known(address!("0000001c5b32F37F5beA87BDD5374eB2aC54eA8e"));
            let owner = Biconomy::initForSmartAccountCall { owner: draws.address() };
            Biconomy::deployCounterFactualAccountCall {
                module,
                moduleData: owner.abi_encode().into(),
                index: draws.salt(),
            }
            .abi_encode()
        }),
    account("Nexus", V07, address!("00000bb19a3579F4D779215dEf97AFbd0e30DB55")).calling(modular).deployed_by(
        |draws| {
            let owner = draws.address();
            let attesters: Vec<Address> = (0..draws.below(3)).map(|_| draws.address()).collect();
            let threshold = u8::from(!attesters.is_empty());
            Nexus::createAccountCall { owner, index: draws.salt(), attesters, threshold }.abi_encode()
        },
    ),
    account("Kernel 2.4", V06, address!("5de4839a76cf55d0c90e2061ef4386d962E15ae3"))
        .calling(|calls, _| match calls {
            [Call { target, value, data }] => {
                Kernel2::executeCall { target: *target, value: *value, data: data.clone(), operation: 0 }
                    .abi_encode()
            }
            calls => Execute::executeBatchCall { calls: calls.to_vec() }.abi_encode(),
        })
        .deployed_by(|draws| {
            let implementation = draws.known(address!("d3082872F8B06073A021b4602e022d5A070d7cfC"));
            let validator = draws.known(address!("d9AB5096a832b9ce79914329DAEE236f8Eea0390"));
            let data = Bytes::from(draws.address().to_vec());
            let data = Kernel2::initializeCall { validator, data }.abi_encode().into();
            Kernel2::createAccountCall { implementation, data, index: draws.salt() }.abi_encode()
        }),
    account("Kernel 3.1", V07, address!("d703aaE79538628d27099B8c4f621bE4CCd142d5"))
        .calling(modular)
        .deployed_by(|draws| {
            let factory = draws.known(address!("aac5D4240AF87249B3f71BC8E4A2cae074A3E419"));
            let validator = draws.known(address!("845ADb2C711129d4f3966735eD98a9F09fC4cE57"));
            let initialize = Kernel3::initializeCall {
                // The first byte is the kind of the module: a validator.
                validator: FixedBytes::<1>::new([1]).concat_const(validator.0),
                hook: Address::ZERO,
                validatorData: draws.address().to_vec().into(),
                hookData: Bytes::new(),
                configuration: Vec::new(),
            };
            Kernel3::deployWithFactoryCall {
                factory,
                data: initialize.abi_encode().into(),
                salt: draws.salt().into(),
            }
            .abi_encode()
        })
        .wrapping(),
    account("Safe 1.4.1 for 0.6", V06, SAFE_FACTORY).calling(safe).deployed_by(|draws| {
        let module = address!("a581c4A4DB7175302464fF3C06380BC3270b4037");
        safe_factory(draws, module, address!("8EcD4ec46D4D2a6B64fE960B3D64e8B94B2234eb"))
    }),
    account("Safe 1.4.1 for 0.7", V07, SAFE_FACTORY).calling(safe).deployed_by(|draws| {
        let module = address!("75cf11467937ce3F2f357CE24ffc3DBF8fD5c226");
        safe_factory(draws, module, address!("2dd68b007B46fBe91B9A7c3EDa5A7a1063cB5b47"))
    }),
];

/// An account that resembles SimpleAccount 0.7, for this version of EntryPoint.
const fn account(name: &'static str, version: EntryPointVersion, factory: Address) -> AccountForm {
    let (call_data, factory_data) = (execute_or_lists, owner_and_salt);
    AccountForm { name, version, factory, call_data, factory_data, wraps: false }
}

const SAFE_FACTORY: Address = address!("4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67");
const SAFE_SINGLETON: Address = address!("41675C099F32341bf84BFc5382aF534df5C7461a");
const SAFE_MULTI_SEND: Address = address!("9641d764fc13c8B624c04430C7356C1C7C8102e2");

/// What the calls of an operation may name.
#[derive(Clone, Copy, Debug)]
pub struct CallContext<'a> {
    /// Tokens that are transferred and approved; with none, fresh addresses are.
    pub tokens: &'a [Address],
    /// The paymaster that a token is approved to: the quoted one. None: a fresh address.
    pub paymaster: Option<Address>,
    /// The most calls in a batch. Wallets send up to about ten.
    pub most_calls: u64,
}

/// Encoded data, and the addresses in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    pub bytes: Vec<u8>,
    pub addresses: Vec<Address>,
}

impl Encoded {
    /// `0x` and hex digits in lower case.
    pub fn lower_case(&self) -> String {
        hex::encode_prefixed(&self.bytes)
    }

    /// `0x` and hex digits, with the addresses in the letter case of EIP-55.
    pub fn checksummed(&self) -> String {
        checksummed(&self.bytes, &self.addresses)
    }

    /// The data as clients write them: most in lower case, some with the checksums of EIP-55 in the addresses, a few in mixed letter case.
    pub fn spelled(&self, draw: &mut dyn FnMut(u64) -> u64) -> String {
        match draw(10) {
            0 => in_mixed_case(&self.checksummed(), draw),
            1..=3 => self.checksummed(),
            _ => self.lower_case(),
        }
    }
}

/// What apps append to call data behind the arguments (ERC-8021): a code, its length, the number of the schema, and the marker.
const ATTRIBUTION: [u8; 25] =
    *b"baseapp\x07\x00\x80\x21\x80\x21\x80\x21\x80\x21\x80\x21\x80\x21\x80\x21\x80\x21";

impl AccountForm {
    const fn calling(self, call_data: fn(&[Call], bool) -> Vec<u8>) -> Self {
        Self { call_data, ..self }
    }

    const fn deployed_by(self, factory_data: fn(&mut Draws<'_>) -> Vec<u8>) -> Self {
        Self { factory_data, ..self }
    }

    const fn wrapping(self) -> Self {
        Self { wraps: true, ..self }
    }

    /// The accounts of a version of EntryPoint. Those of 0.8 stand in for 0.9, for which no account with a known address is published.
    pub fn of(version: EntryPointVersion) -> impl Iterator<Item = &'static Self> {
        let version = version.min(V08);
        ACCOUNTS.iter().filter(move |account| account.version == version)
    }

    /// Call data of the account: half of the time one call, otherwise up to `most_calls`. Some end with an attribution.
    pub fn call_data(&self, draw: &mut dyn FnMut(u64) -> u64, context: &CallContext<'_>) -> Encoded {
        let mut draws = Draws::new(draw);
        let batch = draws.below(2) == 1;
        let count = if batch { 1 + draws.below(context.most_calls.max(1)) } else { 1 };
        let calls: Vec<Call> = (0..count).map(|_| draws.call(context)).collect();
        let is_rarer = draws.below(3) == 0;
        let mut bytes = (self.call_data)(&calls, is_rarer);
        if self.wraps && draws.below(4) == 0 {
            bytes.splice(..0, EXECUTE_USER_OP);
        }
        // The data decide, and not a draw, which would change all that is drawn after it.
        if bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)).is_multiple_of(16) {
            bytes.extend(ATTRIBUTION);
        }
        Encoded { bytes, addresses: draws.addresses }
    }

    /// What the factory is called with: `factoryData` of EntryPoint 0.7 and later.
    pub fn factory_data(&self, draw: &mut dyn FnMut(u64) -> u64) -> Encoded {
        let mut draws = Draws::new(draw);
        let bytes = (self.factory_data)(&mut draws);
        Encoded { bytes, addresses: draws.addresses }
    }

    /// The factory and what it is called with: `initCode` of EntryPoint 0.6.
    pub fn init_code(&self, draw: &mut dyn FnMut(u64) -> u64) -> Encoded {
        let mut encoded = self.factory_data(draw);
        encoded.bytes.splice(..0, self.factory);
        encoded.addresses.push(self.factory);
        encoded
    }
}

fn lists(calls: &[Call]) -> (Vec<Address>, Vec<U256>, Vec<Bytes>) {
    let parts = calls.iter().cloned().map(|Call { target, value, data }| ((target, value), data));
    let (heads, data): (Vec<_>, _) = parts.unzip();
    let (targets, values) = heads.into_iter().unzip();
    (targets, values, data)
}

fn execute(Call { target, value, data }: &Call) -> Vec<u8> {
    Execute::executeCall { target: *target, value: *value, data: data.clone() }.abi_encode()
}

fn execute_or_lists(calls: &[Call], _: bool) -> Vec<u8> {
    if let [call] = calls {
        return execute(call);
    }
    let (targets, values, data) = lists(calls);
    Lists::executeBatchCall { targets, values, data }.abi_encode()
}

fn execute_or_structs(calls: &[Call], _: bool) -> Vec<u8> {
    match calls {
        [call] => execute(call),
        calls => Execute::executeBatchCall { calls: calls.to_vec() }.abi_encode(),
    }
}

/// ERC-7579. The first byte of the mode is 1 for a batch; the second is 1 if a call may fail without the others.
fn modular(calls: &[Call], is_try: bool) -> Vec<u8> {
    let (is_batch, encoded) = match calls {
        [Call { target, value, data }] => {
            (false, [target.as_slice(), &value.to_be_bytes::<32>(), data].concat())
        }
        calls => (true, calls.to_vec().abi_encode()),
    };
    let mode = FixedBytes::right_padding_from(&[u8::from(is_batch), u8::from(is_try)]);
    Modular::executeCall { mode, calls: encoded.into() }.abi_encode()
}

/// The module of a Safe. A batch is a delegate call (operation 1) to the contract MultiSend.
fn safe(calls: &[Call], without_error_string: bool) -> Vec<u8> {
    let (Call { target, value, data }, operation) = match calls {
        [call] => (call.clone(), 0),
        calls => {
            let transaction = |Call { target, value, data }: &Call| {
                let length = U256::from(data.len()).to_be_bytes::<32>();
                [&[0], target.as_slice(), &value.to_be_bytes::<32>(), &length, data].concat()
            };
            let transactions = calls.iter().flat_map(transaction).collect();
            let data = Safe::multiSendCall { transactions }.abi_encode().into();
            (Call { target: SAFE_MULTI_SEND, value: U256::ZERO, data }, 1)
        }
    };
    if without_error_string {
        Safe::executeUserOpCall { target, value, data, operation }.abi_encode()
    } else {
        Safe::executeUserOpWithErrorStringCall { target, value, data, operation }.abi_encode()
    }
}

fn owner_and_salt(draws: &mut Draws<'_>) -> Vec<u8> {
    let owner = draws.address();
    OwnerAndSalt::createAccountCall { owner, salt: draws.salt() }.abi_encode()
}

/// An owner is an address as a word, or the two coordinates of a passkey.
fn coinbase_factory(draws: &mut Draws<'_>) -> Vec<u8> {
    let mut owners = vec![Bytes::from(draws.address().abi_encode())];
    if draws.below(2) == 1 {
        owners.push(draws.bytes(64).into());
    }
    Coinbase::createAccountCall { owners, nonce: draws.salt() }.abi_encode()
}

fn safe_factory(draws: &mut Draws<'_>, module: Address, setup: Address) -> Vec<u8> {
    let [module, setup] = [module, setup].map(|address| draws.known(address));
    let owners: Vec<Address> = (0..=draws.below(3)).map(|_| draws.address()).collect();
    let initializer = Safe::setupCall {
        threshold: U256::from(1 + draws.below(owners.len() as u64)),
        owners,
        to: setup,
        data: Safe::enableModulesCall { modules: vec![module] }.abi_encode().into(),
        fallbackHandler: module,
        paymentToken: Address::ZERO,
        payment: U256::ZERO,
        paymentReceiver: Address::ZERO,
    };
    Safe::createProxyWithNonceCall {
        singleton: draws.known(SAFE_SINGLETON),
        initializer: initializer.abi_encode().into(),
        salt: draws.salt(),
    }
    .abi_encode()
}

/// A source of randomness, and the addresses that were drawn from it.
struct Draws<'a> {
    draw: &'a mut dyn FnMut(u64) -> u64,
    addresses: Vec<Address>,
}

impl<'a> Draws<'a> {
    fn new(draw: &'a mut dyn FnMut(u64) -> u64) -> Self {
        Self { draw, addresses: Vec::new() }
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.draw)(bound)
    }

    fn bytes(&mut self, length: u64) -> Vec<u8> {
        (0..length).map(|_| self.below(256).to_le_bytes()[0]).collect()
    }

    /// A fresh address.
    fn address(&mut self) -> Address {
        let address = Address::from_slice(&self.bytes(20));
        self.known(address)
    }

    fn known(&mut self, address: Address) -> Address {
        self.addresses.push(address);
        address
    }

    /// A salt or an index: mostly small, sometimes of 32 bytes.
    fn salt(&mut self) -> U256 {
        if self.below(4) == 0 { U256::from_be_slice(&self.bytes(32)) } else { U256::from(self.below(10)) }
    }

    /// An amount of up to three digits and up to 18 zeros.
    fn amount(&mut self) -> U256 {
        U256::from(1 + self.below(999)) * U256::from(10).pow(U256::from(self.below(19)))
    }

    fn call(&mut self, context: &CallContext<'_>) -> Call {
        let kind = self.below(6);
        if kind == 0 {
            return Call { target: self.address(), value: self.amount(), data: Bytes::new() };
        }
        if kind == 1 {
            let value = if self.below(4) == 0 { self.amount() } else { U256::ZERO };
            let arguments = 4 + 32 * self.below(7);
            return Call { target: self.address(), value, data: self.bytes(arguments).into() };
        }
        let target = match context.tokens.len() as u64 {
            0 => self.address(),
            count => {
                let token = usize::try_from(self.below(count)).unwrap_or(0);
                self.known(context.tokens[token])
            }
        };
        let data = match kind {
            2 => {
                let spender = match context.paymaster {
                    Some(paymaster) => self.known(paymaster),
                    None => self.address(),
                };
                // Wallets approve what the operation may cost, or everything.
                let amount = if self.below(3) == 0 { U256::MAX } else { self.amount() };
                Token::approveCall { spender, amount }.abi_encode()
            }
            3 => {
                let [from, to] = [self.address(), self.address()];
                Token::transferFromCall { from, to, amount: self.amount() }.abi_encode()
            }
            _ => {
                let to = self.address();
                Token::transferCall { to, amount: self.amount() }.abi_encode()
            }
        };
        Call { target, value: U256::ZERO, data: data.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const TOKENS: [Address; 2] = [Address::repeat_byte(0x33), Address::repeat_byte(0x44)];
    const CONTEXT: CallContext<'static> =
        CallContext { tokens: &TOKENS, paymaster: Some(Address::repeat_byte(0x22)), most_calls: 10 };

    /// A generator of numbers that look random (xorshift).
    fn numbers(mut state: u64) -> impl FnMut(u64) -> u64 {
        state = state.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move |bound| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) % bound
        }
    }

    fn zip(targets: Vec<Address>, values: Vec<U256>, data: Vec<Bytes>) -> Vec<Call> {
        assert!(targets.len() == values.len() && values.len() == data.len());
        let calls = targets.into_iter().zip(values).zip(data);
        calls.map(|((target, value), data)| Call { target, value, data }).collect()
    }

    /// The transactions of MultiSend.
    fn transactions(mut bytes: &[u8]) -> Vec<Call> {
        let mut calls = Vec::new();
        while let Some((head, rest)) = bytes.split_at_checked(1 + 20 + 32 + 32) {
            let length = U256::from_be_slice(&head[53..]).to::<usize>();
            let target = Address::from_slice(&head[1..21]);
            let data = Bytes::copy_from_slice(&rest[..length]);
            calls.push(Call { target, value: U256::from_be_slice(&head[21..53]), data });
            bytes = &rest[length..];
        }
        assert!(bytes.is_empty());
        calls
    }

    /// The calls of call data, and whether they are wrapped. Every function is decoded strictly: what it encodes again is what was read.
    #[expect(clippy::too_many_lines, reason = "the tests read one form after the other")]
    fn decode(bytes: &[u8]) -> Option<(Vec<Call>, bool)> {
        fn call<C: SolCall>(bytes: &[u8]) -> Option<C> {
            let call = C::abi_decode(bytes).ok()?;
            assert_eq!(call.abi_encode(), bytes);
            Some(call)
        }
        if let Some(inner) = bytes.strip_prefix(&EXECUTE_USER_OP) {
            return decode(inner).map(|(calls, _)| (calls, true));
        }
        let single = |target, value, data| vec![Call { target, value, data }];
        let of_safe = |target, value, data: Bytes, operation| {
            if operation == 0 {
                return single(target, value, data);
            }
            assert_eq!(target, SAFE_MULTI_SEND);
            transactions(&call::<Safe::multiSendCall>(&data).unwrap().transactions)
        };
        let calls = match *bytes.first_chunk::<4>()? {
            Execute::executeCall::SELECTOR => {
                let Execute::executeCall { target, value, data } = call(bytes)?;
                single(target, value, data)
            }
            Execute::executeBatchCall::SELECTOR => call::<Execute::executeBatchCall>(bytes)?.calls,
            ListsWithoutValues::executeBatchCall::SELECTOR => {
                let ListsWithoutValues::executeBatchCall { targets, data } = call(bytes)?;
                let values = vec![U256::ZERO; targets.len()];
                zip(targets, values, data)
            }
            Lists::executeBatchCall::SELECTOR => {
                let Lists::executeBatchCall { targets, values, data } = call(bytes)?;
                zip(targets, values, data)
            }
            Kernel2::executeCall::SELECTOR => {
                let Kernel2::executeCall { target, value, data, operation } = call(bytes)?;
                assert_eq!(operation, 0);
                single(target, value, data)
            }
            Biconomy::execute_ncCCall::SELECTOR => {
                let Biconomy::execute_ncCCall { target, value, data } = call(bytes)?;
                single(target, value, data)
            }
            Biconomy::executeBatch_y6UCall::SELECTOR => {
                let Biconomy::executeBatch_y6UCall { targets, values, data } = call(bytes)?;
                zip(targets, values, data)
            }
            Safe::executeUserOpCall::SELECTOR => {
                let Safe::executeUserOpCall { target, value, data, operation } = call(bytes)?;
                of_safe(target, value, data, operation)
            }
            Safe::executeUserOpWithErrorStringCall::SELECTOR => {
                let Safe::executeUserOpWithErrorStringCall { target, value, data, operation } = call(bytes)?;
                of_safe(target, value, data, operation)
            }
            Modular::executeCall::SELECTOR => {
                let Modular::executeCall { mode, calls } = call(bytes)?;
                assert!(mode[1] <= 1 && mode[2..].iter().all(|byte| *byte == 0));
                if mode[0] == 1 {
                    Vec::<Call>::abi_decode(&calls).ok()?
                } else {
                    let value = U256::from_be_slice(&calls[20..52]);
                    single(Address::from_slice(&calls[..20]), value, Bytes::copy_from_slice(&calls[52..]))
                }
            }
            _ => return None,
        };
        Some((calls, false))
    }

    #[test]
    fn every_account_encodes_calls_that_decode() {
        for account in ACCOUNTS {
            for count in 1..=10 {
                let mut draw = numbers(count);
                let mut draws = Draws::new(&mut draw);
                let mut calls: Vec<Call> = (0..count).map(|_| draws.call(&CONTEXT)).collect();
                for is_rarer in [false, true] {
                    let encoded = (account.call_data)(&calls, is_rarer);
                    if account.name == "SimpleAccount 0.6" && count > 1 {
                        for call in &mut calls {
                            call.value = U256::ZERO;
                        }
                    }
                    assert_eq!(decode(&encoded), Some((calls.clone(), false)), "{}", account.name);
                }
            }
        }
    }

    #[test]
    fn selectors_are_those_of_the_published_contracts() {
        for (selector, expected) in [
            (Execute::executeCall::SELECTOR, "b61d27f6"),
            (Execute::executeBatchCall::SELECTOR, "34fcd5be"),
            (Lists::executeBatchCall::SELECTOR, "47e1da2a"),
            (ListsWithoutValues::executeBatchCall::SELECTOR, "18dfb3c7"),
            (Biconomy::execute_ncCCall::SELECTOR, "0000189a"),
            (Biconomy::executeBatch_y6UCall::SELECTOR, "00004680"),
            (Biconomy::deployCounterFactualAccountCall::SELECTOR, "df20ffbc"),
            (Safe::executeUserOpCall::SELECTOR, "7bb37428"),
            (Safe::executeUserOpWithErrorStringCall::SELECTOR, "541d63c8"),
            (Safe::createProxyWithNonceCall::SELECTOR, "1688f0b9"),
            (Safe::setupCall::SELECTOR, "b63e800d"),
            (Safe::multiSendCall::SELECTOR, "8d80ff0a"),
            (Kernel2::executeCall::SELECTOR, "51945447"),
            (Kernel2::createAccountCall::SELECTOR, "296601cd"),
            (Kernel3::deployWithFactoryCall::SELECTOR, "c5265d5d"),
            (Modular::executeCall::SELECTOR, "e9ae5c53"),
            (OwnerAndSalt::createAccountCall::SELECTOR, "5fbfb9cf"),
            (Coinbase::createAccountCall::SELECTOR, "3ffba36f"),
        ] {
            assert_eq!(hex::encode(selector), expected);
        }
    }

    #[test]
    fn call_data_are_of_every_kind_and_name_the_tokens_and_the_paymaster() {
        let mut seen = BTreeSet::new();
        for account in ACCOUNTS {
            for seed in 0..200 {
                let encoded = account.call_data(&mut numbers(seed), &CONTEXT);
                assert_eq!(encoded, account.call_data(&mut numbers(seed), &CONTEXT), "not the same again");
                let arguments = encoded.bytes.strip_suffix(&ATTRIBUTION);
                seen.extend(arguments.map(|_| "attribution"));
                let (calls, is_wrapped) = decode(arguments.unwrap_or(&encoded.bytes)).unwrap();
                assert!((1..=10).contains(&calls.len()));
                seen.extend((is_wrapped && account.wraps).then_some("wrapped"));
                seen.extend((calls.len() == 10).then_some("ten calls"));
                for Call { target, value, data } in calls {
                    assert!(encoded.addresses.contains(&target), "{target}");
                    let kind = if data.is_empty() {
                        "ether"
                    } else if let Ok(call) = Token::approveCall::abi_decode(&data) {
                        assert_eq!(Some(call.spender), CONTEXT.paymaster);
                        if call.amount == U256::MAX { "approval of all" } else { "approval" }
                    } else if let Ok(call) = Token::transferCall::abi_decode(&data) {
                        assert!(encoded.addresses.contains(&call.to) && value.is_zero());
                        "transfer"
                    } else if Token::transferFromCall::abi_decode(&data).is_ok() {
                        "transferFrom"
                    } else {
                        "unknown"
                    };
                    assert!(matches!(kind, "ether" | "unknown") || TOKENS.contains(&target));
                    seen.insert(kind);
                }
            }
        }
        let kinds = [
            "approval",
            "approval of all",
            "attribution",
            "ether",
            "ten calls",
            "transfer",
            "transferFrom",
            "unknown",
            "wrapped",
        ];
        assert_eq!(seen, BTreeSet::from(kinds));
    }

    #[test]
    fn factory_data_decode() {
        fn decode<C: SolCall>(bytes: &[u8]) -> Option<C> {
            C::abi_decode(bytes).ok().filter(|call| call.abi_encode() == bytes)
        }
        for account in ACCOUNTS {
            for seed in 0..50 {
                let encoded = account.init_code(&mut numbers(seed));
                let data = encoded.bytes.strip_prefix(account.factory.as_slice()).unwrap();
                assert_eq!(data, account.factory_data(&mut numbers(seed)).bytes);
                let of_safe = || {
                    let call: Safe::createProxyWithNonceCall = decode(data)?;
                    let setup: Safe::setupCall = decode(&call.initializer)?;
                    let modules = decode::<Safe::enableModulesCall>(&setup.data)?.modules;
                    (modules == [setup.fallbackHandler]).then_some(())
                };
                let of_kernel_2 = || {
                    let call: Kernel2::createAccountCall = decode(data)?;
                    decode::<Kernel2::initializeCall>(&call.data).map(|_| ())
                };
                let of_kernel_3 = || {
                    let call: Kernel3::deployWithFactoryCall = decode(data)?;
                    decode::<Kernel3::initializeCall>(&call.data).map(|_| ())
                };
                let of_biconomy = || {
                    let call: Biconomy::deployCounterFactualAccountCall = decode(data)?;
                    decode::<Biconomy::initForSmartAccountCall>(&call.moduleData).map(|_| ())
                };
                let others = || {
                    let is_one = decode::<OwnerAndSalt::createAccountCall>(data).is_some()
                        || decode::<OwnerAndSalt::createSemiModularAccountCall>(data).is_some()
                        || decode::<Nexus::createAccountCall>(data).is_some()
                        || decode::<Coinbase::createAccountCall>(data).is_some();
                    is_one.then_some(())
                };
                let decoded =
                    of_safe().or_else(of_kernel_2).or_else(of_kernel_3).or_else(of_biconomy).or_else(others);
                assert!(decoded.is_some(), "{}", account.name);
            }
        }
    }

    #[test]
    fn every_version_has_accounts_with_names_of_their_own() {
        assert!(EntryPointVersion::ALL.into_iter().all(|version| AccountForm::of(version).next().is_some()));
        let names: BTreeSet<&str> = ACCOUNTS.iter().map(|account| account.name).collect();
        assert_eq!(names.len(), ACCOUNTS.len());
    }

    #[test]
    fn addresses_are_written_with_their_checksums() {
        for account in ACCOUNTS {
            let encoded = account.init_code(&mut numbers(1));
            let text = encoded.checksummed();
            assert_eq!(hex::decode(&text).unwrap(), encoded.bytes);
            assert!(text.starts_with(&account.factory.to_checksum(None)));
            let spelled: BTreeSet<String> = (0..40).map(|seed| encoded.spelled(&mut numbers(seed))).collect();
            assert!(
                spelled.len() > 2
                    && spelled.is_superset(&BTreeSet::from([text.clone(), encoded.lower_case()]))
            );
            assert!(spelled.iter().all(|text| hex::decode(text).unwrap() == encoded.bytes));
            for address in encoded.addresses {
                assert!(text.contains(&address.to_checksum(None)[2..]), "{}: {address}", account.name);
            }
        }
    }
}
