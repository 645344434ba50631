//! A paymaster that a wallet developer runs locally, and the faults that it can show on request.
//!
//! The paymaster is the crate `paymaster_service`, the faults are the crate `paymaster_faults`. The command is in this one.
//!
//! # A paymaster in a test
//!
//! [`run`] serves a [`Service`] over HTTP until a future is ready. Port 0 is any free port.
//!
//! ```
//! use std::sync::Arc;
//! use paymaster_reference_server::{Config, Service, run};
//! use tokio::{net::TcpListener, sync::oneshot};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
//! let url = format!("http://{}/", listener.local_addr().unwrap());
//! let (stop, stopped) = oneshot::channel::<()>();
//! let service = Arc::new(Service::new(&Config::default()).unwrap());
//! let server = tokio::spawn(run(listener, service, async { let _ = stopped.await; }));
//! println!("a wallet can use {url}");
//! stop.send(()).unwrap();
//! server.await.unwrap();
//! # });
//! ```
//!
//! # A paymaster with a fault
//!
//! An [`InjectedService`] breaks one clause of the specification on purpose, so that a wallet or a checker can be tried against it.
//! [`faults()`] and [`variants()`] are the tables; a variant is unusual and lawful.
//!
//! ```
//! use std::sync::Arc;
//! use paymaster_reference_server::{Config, InjectedService, Respond, Service, faults, find_fault};
//!
//! let fault = find_fault("id-null").unwrap();
//! assert_eq!(fault.clause, "answer.id");
//! let service = InjectedService::from(Service::new(&Config::default()).unwrap()).with_faults([fault]);
//! // `run` serves it as it serves a service without faults.
//! fn is_served<S: Respond>(_: Arc<S>) {}
//! is_served(Arc::new(service));
//! assert!(faults().count() > 100);
//! ```
#![warn(missing_docs)]

pub use paymaster_faults::*;
pub use paymaster_service::*;
