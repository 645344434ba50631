//! Requests of ERC-7677, as a published client sends them.

/// The name and the text of each request.
pub(crate) const PAYMASTER_DATA: [(&str, &str); 3] = [
    (
        "stub 0.7",
        r#"{"jsonrpc":"2.0","id":1,"method":"pm_getPaymasterStubData","params":[{"callData":"0xb61d27f60000000000000000000000001306b01bc3e4ad202612d3843387e94737673f53000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000600000000000000000000000000000000000000000000000000000000000000000","maxFeePerGas":"0x4a817c800","maxPriorityFeePerGas":"0x59682f00","nonce":"0x2a","sender":"0x1306b01bC3e4AD202612D3843387e94737673F53","signature":"0xfffffffffffffffffffffffffffffff0000000000000000000000000000000007aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1c","callGasLimit":"0x186a0","verificationGasLimit":"0x30d40","preVerificationGas":"0xc350"},"0x0000000071727De22E5E9d8BAf0edAc6f37da032","0x7a69",null]}"#,
    ),
    (
        "data 0.6",
        r#"{"jsonrpc":"2.0","id":1,"method":"pm_getPaymasterData","params":[{"callData":"0xb61d27f60000000000000000000000001306b01bc3e4ad202612d3843387e94737673f53000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000600000000000000000000000000000000000000000000000000000000000000000","maxFeePerGas":"0x4a817c800","maxPriorityFeePerGas":"0x59682f00","nonce":"0x2a","sender":"0x1306b01bC3e4AD202612D3843387e94737673F53","signature":"0xfffffffffffffffffffffffffffffff0000000000000000000000000000000007aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1c","callGasLimit":"0x186a0","verificationGasLimit":"0x30d40","preVerificationGas":"0xc350","initCode":"0x"},"0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789","0x7a69",null]}"#,
    ),
    (
        "data 0.7",
        r#"{"jsonrpc":"2.0","id":1,"method":"pm_getPaymasterData","params":[{"callData":"0xb61d27f60000000000000000000000001306b01bc3e4ad202612d3843387e94737673f53000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000600000000000000000000000000000000000000000000000000000000000000000","maxFeePerGas":"0x4a817c800","maxPriorityFeePerGas":"0x59682f00","nonce":"0x2a","sender":"0x1306b01bC3e4AD202612D3843387e94737673F53","signature":"0xfffffffffffffffffffffffffffffff0000000000000000000000000000000007aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1c","callGasLimit":"0x186a0","verificationGasLimit":"0x30d40","preVerificationGas":"0xc350","paymasterVerificationGasLimit":"0x186a0","paymasterPostOpGasLimit":"0xc350"},"0x0000000071727De22E5E9d8BAf0edAc6f37da032","0x7a69",null]}"#,
    ),
];
