//! The sections of ERC-7677. The text of the ERC has no numbers, so these are our own.

use crate::{Section, sections::sections};

/// Every section, in our order.
pub(super) const SECTIONS: &[Section] = sections! {
    "1" "The service and its messages"
        "A paymaster pays the gas of ERC-4337 user operations. One URL serves two methods: `pm_getPaymasterStubData` before the gas limits are estimated, `pm_getPaymasterData` before the operation is sent. The ERC says that they are JSON-RPC methods; every published client calls them by HTTP POST.";
    "2" "Requests"
        "Both methods have the same four parameters: the user operation, the address of the EntryPoint, the chain id and the context.";
    "2.1" "User operation of EntryPoint 0.6"
        "The nine members that the ERC lists, without the account's signature. In a stub request the gas limits may be zero.";
    "2.2" "User operation of EntryPoint 0.7 and later"
        "The ERC says only that other versions can be used. Clients send the operation of the bundler's methods: `factory` and `factoryData` instead of `initCode`, and the members of the paymaster one by one. A member without a value is absent or null.";
    "2.3" "EntryPoint, chain id and context"
        "The EntryPoint decides the form of the operation and of the result. The members of the context belong to the provider of the service.";
    "2.10" "Answer envelope" "The outer object of every answer, as JSON-RPC 2.0 defines it.";
    "3" "Stub result"
        "The `result` of `pm_getPaymasterStubData`: `paymasterAndData` for EntryPoint 0.6; `paymaster`, `paymasterData` and the gas limits of the paymaster for later versions.";
    "3.1" "Sponsor" "Who pays, for the wallet to show: a name, and a picture as a data URI.";
    "4" "Stub and final data"
        "The stub stands for the final data when gas limits are estimated. So it has the same length and no more zero bytes, and the paymaster's code runs to its end with it.";
    "5" "Final stub"
        "With `isFinal` true the stub result holds values to send, and the wallet may omit `pm_getPaymasterData`.";
    "6" "Result of the data call" "The `result` of `pm_getPaymasterData`: the values to send.";
    "7" "Errors" "The ERC defines no error codes. Every refusal has the form that JSON-RPC defines.";
    "8" "Chains and EntryPoints"
        "A service may belong to one chain and ignore the chain id. An EntryPoint that it does not know is refused.";
};
