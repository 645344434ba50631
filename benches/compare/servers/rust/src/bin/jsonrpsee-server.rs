//! A jsonrpsee server with the two methods, which parse their params and return a constant result: what a service pays for the
//! framework alone. `jsonrpsee-server ANSWER_FILE`.

use std::{error::Error, sync::Arc};

use jsonrpsee::RpcModule;
use jsonrpsee::server::ServerBuilder;
use jsonrpsee::types::{ErrorObjectOwned, Params};
use serde_json::Value;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("which file has the answer?")?;
    let mut answer: Value = serde_json::from_slice(&std::fs::read(file)?)?;
    let result = Arc::new(answer["result"].take());
    let server = ServerBuilder::default().build("127.0.0.1:0").await?;
    println!("listening on http://{}", server.local_addr()?);
    let mut module = RpcModule::new(result);
    for method in ["pm_getFeeQuoteOrData", "pm_sponsorUserOperation"] {
        module.register_method(method, |params: Params<'_>, result, _| {
            let _: [Value; 2] = params.parse()?;
            Ok::<Value, ErrorObjectOwned>((**result).clone())
        })?;
    }
    server.start(module).stopped().await;
    Ok(())
}
