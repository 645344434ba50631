//! The requests of the benchmarks: one of each method and mode, as a published client sends it.

/// The name and the text of each request.
pub(crate) const PAIRS: [(&str, &str); 4] = [
    (
        "quote sponsored",
        r#"{"method":"pm_getFeeQuoteOrData","params":[{"sender":"0x1306b01bC3e4AD202612D3843387e94737673F53","nonce":"0x2a","initCode":"0x","callData":"0xb61d27f60000000000000000000000001306b01bc3e4ad202612d3843387e94737673f53000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000600000000000000000000000000000000000000000000000000000000000000000","callGasLimit":"100000","verificationGasLimit":"200000","preVerificationGas":"50000","maxFeePerGas":"0x4a817c800","maxPriorityFeePerGas":"0x59682f00","signature":"0x","paymasterAndData":"0x"},{"mode":"SPONSORED","calculateGasLimits":true,"expiryDuration":300,"tokenInfo":{},"sponsorshipInfo":{"webhookData":{},"smartAccountInfo":{"name":"BICONOMY","version":"2.0.0"}}}],"id":1686847490,"jsonrpc":"2.0"}"#,
    ),
    (
        "quote erc20",
        r#"{"method":"pm_getFeeQuoteOrData","params":[{"sender":"0x1306b01bC3e4AD202612D3843387e94737673F53","nonce":"0x2a","initCode":"0x","callData":"0xb61d27f60000000000000000000000001306b01bc3e4ad202612d3843387e94737673f53000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000600000000000000000000000000000000000000000000000000000000000000000","callGasLimit":"100000","verificationGasLimit":"200000","preVerificationGas":"50000","maxFeePerGas":"0x4a817c800","maxPriorityFeePerGas":"0x59682f00","signature":"0x","paymasterAndData":"0x"},{"mode":"ERC20","calculateGasLimits":true,"tokenInfo":{"preferredToken":"0xda5289fcaaf71d52a80a254da614a192b693e977","tokenList":["0x27a44456bedb94dbd59d0f0a14fe977c777fc5c3"]},"sponsorshipInfo":{"webhookData":{},"smartAccountInfo":{"name":"BICONOMY","version":"2.0.0"}}}],"id":1686847490,"jsonrpc":"2.0"}"#,
    ),
    (
        "sponsor sponsored",
        r#"{"method":"pm_sponsorUserOperation","params":[{"sender":"0x1306b01bC3e4AD202612D3843387e94737673F53","nonce":"0x2a","initCode":"0x","callData":"0xb61d27f60000000000000000000000001306b01bc3e4ad202612d3843387e94737673f53000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000600000000000000000000000000000000000000000000000000000000000000000","callGasLimit":"100000","verificationGasLimit":"200000","preVerificationGas":"50000","maxFeePerGas":"0x4a817c800","maxPriorityFeePerGas":"0x59682f00","signature":"0x","paymasterAndData":"0x"},{"mode":"SPONSORED","calculateGasLimits":true,"expiryDuration":300,"tokenInfo":{},"sponsorshipInfo":{"webhookData":{},"smartAccountInfo":{"name":"BICONOMY","version":"2.0.0"}}}],"id":1686847490,"jsonrpc":"2.0"}"#,
    ),
    (
        "sponsor erc20",
        r#"{"method":"pm_sponsorUserOperation","params":[{"sender":"0x1306b01bC3e4AD202612D3843387e94737673F53","nonce":"0x2a","initCode":"0x","callData":"0xb61d27f60000000000000000000000001306b01bc3e4ad202612d3843387e94737673f53000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000600000000000000000000000000000000000000000000000000000000000000000","callGasLimit":"100000","verificationGasLimit":"200000","preVerificationGas":"50000","maxFeePerGas":"0x4a817c800","maxPriorityFeePerGas":"0x59682f00","signature":"0x","paymasterAndData":"0x"},{"mode":"ERC20","calculateGasLimits":true,"tokenInfo":{"feeTokenAddress":"0xda5289fcaaf71d52a80a254da614a192b693e977"}}],"id":1686847490,"jsonrpc":"2.0"}"#,
    ),
];
