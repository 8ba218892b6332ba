//! Connections that do nothing.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use nfs4_xdr::rpc::{Call, NFS_PROGRAM, NFS_V4, OpaqueAuth};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Told;
use crate::wire::bytes_of;

/// Opens `count` connections; each sends one NULL and is then left alone.
pub async fn idle(address: SocketAddr, count: u64, told: Told<'_>) -> Result<Vec<TcpStream>> {
    let call = bytes_of(&Call::new(1, NFS_PROGRAM, NFS_V4, 0, OpaqueAuth::none()));
    let mark = 0x8000_0000 | u32::try_from(call.len()).context("a call of NULL is small")?;
    let mut message = mark.to_be_bytes().to_vec();
    message.extend_from_slice(&call);
    let mut all = Vec::new();
    for n in 0..count {
        let mut stream =
            TcpStream::connect(address).await.with_context(|| format!("connection {}", n + 1))?;
        stream.write_all(&message).await?;
        let mut reply = [0; 28];
        stream.read_exact(&mut reply).await.with_context(|| format!("connection {} was closed", n + 1))?;
        ensure!(reply[4..8] == 1_u32.to_be_bytes(), "connection {}: not the reply to NULL", n + 1);
        all.push(stream);
        told(n + 1, count);
    }
    Ok(all)
}
