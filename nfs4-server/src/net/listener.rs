//! Listening, and the bounds on how many may come.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection::serve;
use super::{Conn, ConnId, NetLimits, Service};

/// Why a server does not listen.
#[derive(Debug, thiserror::Error)]
#[error("--listen {address}: {error}")]
pub struct ListenError {
    /// The address.
    pub address: SocketAddr,
    /// Why.
    pub error: std::io::Error,
}

#[derive(Debug, Default)]
struct Count {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// The listening half of a server.
#[derive(Debug)]
pub struct Net {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    limits: Mutex<NetLimits>,
    count: Arc<Mutex<Count>>,
    next: AtomicU64,
}

impl Net {
    /// Takes the addresses; port 0 takes a free one.
    pub async fn bind(addresses: &[SocketAddr], limits: NetLimits) -> Result<Self, ListenError> {
        let mut listeners = Vec::new();
        let mut taken = Vec::new();
        for address in addresses {
            let failed = |error| ListenError { address: *address, error };
            let listener = TcpListener::bind(address).await.map_err(failed)?;
            taken.push(listener.local_addr().map_err(failed)?);
            listeners.push(listener);
        }
        let count = Arc::default();
        let limits = Mutex::new(limits);
        Ok(Self { listeners, addresses: taken, limits, count, next: AtomicU64::new(1) })
    }

    /// The addresses taken.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Serves until `stop` becomes true; then answers what was taken and returns.
    pub async fn run<S: Service>(&self, service: Arc<S>, stop: watch::Receiver<bool>) {
        let mut connections = JoinSet::new();
        let mut stopping = stop.clone();
        loop {
            let accepted = tokio::select! {
                accepted = accept(&self.listeners) => accepted,
                _ = stopping.wait_for(|stop| *stop) => break,
                Some(_) = connections.join_next() => continue,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(e) => {
                    tracing::warn!("accept: {e}");
                    // Out of descriptors, say: trying again at once would only burn the processor.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let Some(place) = self.enter(peer.ip()) else {
                tracing::warn!(%peer, "connection refused: limits.connections or limits.connections-per-address");
                continue;
            };
            if let Err(e) = stream.set_nodelay(true) {
                tracing::debug!(%peer, "TCP_NODELAY: {e}");
            }
            let id = ConnId(self.next.fetch_add(1, Ordering::Relaxed));
            let conn = Arc::new(Conn::new(id, peer, stream));
            let (service, stop, limits) = (Arc::clone(&service), stop.clone(), self.limits());
            connections.spawn(async move {
                serve(service, conn, limits, stop).await;
                drop(place);
            });
        }
        while connections.join_next().await.is_some() {}
    }

    fn limits(&self) -> NetLimits {
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Other limits for the connections that come from now on.
    pub fn set_limits(&self, limits: NetLimits) {
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// Connections now.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.count.lock().unwrap_or_else(PoisonError::into_inner).all
    }

    fn enter(&self, address: IpAddr) -> Option<Place> {
        let limits = self.limits();
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let here = count.by_address.get(&address).copied().unwrap_or(0);
        if count.all >= limits.connections || here >= limits.per_address {
            return None;
        }
        count.all += 1;
        count.by_address.insert(address, here + 1);
        drop(count);
        Some(Place { count: Arc::clone(&self.count), address })
    }
}

/// One connection's place in the count.
struct Place {
    count: Arc<Mutex<Count>>,
    address: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        count.all = count.all.saturating_sub(1);
        if let Some(here) = count.by_address.get_mut(&self.address) {
            *here = here.saturating_sub(1);
            if *here == 0 {
                count.by_address.remove(&self.address);
            }
        }
    }
}

async fn accept(listeners: &[TcpListener]) -> std::io::Result<(TcpStream, SocketAddr)> {
    std::future::poll_fn(|cx| {
        for listener in listeners {
            if let std::task::Poll::Ready(result) = listener.poll_accept(cx) {
                return std::task::Poll::Ready(result);
            }
        }
        std::task::Poll::Pending
    })
    .await
}
