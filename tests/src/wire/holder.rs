//! A client that holds delegations and is called back.

use std::net::SocketAddr;
use std::time::Duration;

use nfs4_proto::{
    ArgOp, CbArgOp, CbRecallArgs, CbSequenceArgs, CreateSessionFlags, DelegreturnArgs, Fh, OpenClaim,
    OpenDelegation, OpenHow, OpenOk, ShareAccess, ShareDeny, StateId, Status, Want, WantDelegationArgs,
};

use super::{Done, PATIENCE, Peer, Spec, TestServer, ops};

/// A delegation.
#[derive(Clone, Debug)]
pub struct Delegation {
    /// The file.
    pub fh: Fh,
    /// Its name.
    pub stateid: StateId,
    /// For writing.
    pub write: bool,
    /// With times.
    pub times: bool,
    /// To be returned at once.
    pub recall: bool,
}

/// The delegation that a reply brings.
#[must_use]
pub fn delegation_of(fh: &Fh, told: &OpenDelegation) -> Option<Delegation> {
    let (stateid, recall, write, times) = match told {
        OpenDelegation::Read(d) => (d.stateid, d.recall, false, false),
        OpenDelegation::ReadAttrs(d) => (d.stateid, d.recall, false, true),
        OpenDelegation::Write(d) => (d.stateid, d.recall, true, false),
        OpenDelegation::WriteAttrs(d) => (d.stateid, d.recall, true, true),
        OpenDelegation::None | OpenDelegation::NoneExt(_) => return None,
    };
    Some(Delegation { fh: fh.clone(), stateid, write, times, recall })
}

/// An access with a wanted delegation.
#[must_use]
pub fn wanting(access: ShareAccess, want: Want) -> ShareAccess {
    access.with_want(want)
}

/// DELEGRETURN.
#[must_use]
pub fn give_back(stateid: StateId) -> ArgOp {
    ArgOp::Delegreturn(DelegreturnArgs { deleg_stateid: stateid })
}

/// WANT_DELEGATION of the current file.
#[must_use]
pub fn want(want: ShareAccess) -> ArgOp {
    ArgOp::WantDelegation(WantDelegationArgs { want, claim: nfs4_proto::DelegClaim::Fh })
}

impl TestServer {
    /// A client with a back channel that the server has found to work.
    pub async fn holder(&self, owner: &str) -> Peer {
        Peer::callable(self.address, self.spec(owner)).await
    }

    /// One of user and group 2000, who owns nothing.
    pub async fn stranger(&self, owner: &str) -> Peer {
        Peer::callable(self.address, self.spec(owner).user(2000, 2000, &[])).await
    }
}

impl Peer {
    /// A client with a back channel that the server has found to work.
    pub async fn callable(address: SocketAddr, mut spec: Spec) -> Self {
        spec.session_flags = CreateSessionFlags::CONN_BACK_CHAN;
        let mut peer = Self::connect(address, spec).await;
        peer.until_callable().await;
        peer
    }

    /// Waits until the server has asked whether the back channel works, and has read the answer.
    pub async fn until_callable(&mut self) {
        if self.raw.callbacks.is_empty() {
            assert!(self.raw.wait_for_callback(PATIENCE).await, "the back channel is not probed");
        }
        let _ = self.run(vec![ArgOp::Putrootfh]).await.ok();
        self.raw.callbacks.clear();
    }

    /// OPEN of a file by its handle.
    pub async fn open_fh(&mut self, fh: &Fh, word: &str, access: ShareAccess) -> Done {
        let op = ops::open(word, access, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::Fh);
        self.run(vec![ops::putfh(fh), op]).await
    }

    /// OPEN that must give a delegation.
    pub async fn hold(&mut self, fh: &Fh, access: ShareAccess) -> (OpenOk, Delegation) {
        let done = self.open_fh(fh, "holder", access).await;
        let shown = done.to_string();
        let open = done.ok().open();
        let delegation = delegation_of(fh, &open.delegation);
        (open, delegation.unwrap_or_else(|| panic!("no delegation: {shown}")))
    }

    /// A read delegation.
    pub async fn hold_read(&mut self, fh: &Fh) -> Delegation {
        let (_, held) = self.hold(fh, ShareAccess::READ).await;
        assert!(!held.write);
        held
    }

    /// A write delegation.
    pub async fn hold_write(&mut self, fh: &Fh) -> Delegation {
        let (_, held) = self.hold(fh, ShareAccess::BOTH).await;
        assert!(held.write);
        held
    }

    /// DELEGRETURN.
    pub async fn give_back(&mut self, held: &Delegation) -> Status {
        self.status(vec![ops::putfh(&held.fh), give_back(held.stateid)]).await
    }

    /// Sends operations behind SEQUENCE on a slot, and does not wait.
    pub async fn begin(&mut self, slot: u32, ops: Vec<ArgOp>) -> Begun {
        let mut all = vec![self.sequence(slot, false)];
        all.extend(ops);
        let compound = nfs4_proto::Compound::new(self.spec.minor, all.clone()).unwrap();
        Begun { xid: self.post(all.clone()).await, shown: compound.to_string(), ops: all }
    }

    /// The reply to what was begun.
    pub async fn end(&mut self, begun: Begun) -> Done {
        let reply = self.raw.answer(begun.xid).await.compound();
        Done::new(begun.shown, &begun.ops, reply)
    }

    /// Whether the server says nothing to what was begun for this long.
    pub async fn still_waits(&mut self, begun: &Begun, most: Duration) -> bool {
        tokio::time::timeout(most, self.raw.peek(begun.xid)).await.is_err()
    }

    /// The next callback's operations behind CB_SEQUENCE, with it.
    pub async fn next_callback(&mut self) -> (CbSequenceArgs, Vec<CbArgOp>) {
        if self.raw.callbacks.is_empty() {
            assert!(self.raw.wait_for_callback(PATIENCE).await, "no callback comes");
        }
        let mut ops = self.raw.callbacks.remove(0).args.ops.into_iter();
        match ops.next() {
            Some(CbArgOp::Sequence(sequence)) => (sequence, ops.collect()),
            other => panic!("{other:?}"),
        }
    }

    /// The next callback, which must be a CB_RECALL.
    pub async fn next_recall(&mut self) -> CbRecallArgs {
        let (_, ops) = self.next_callback().await;
        match ops.as_slice() {
            [CbArgOp::Recall(recall)] => recall.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// Whether no callback comes for this long.
    pub async fn left_alone(&mut self, most: Duration) -> bool {
        self.raw.callbacks.is_empty() && !self.raw.wait_for_callback(most).await
    }
}

/// A request that was sent.
#[derive(Clone, Debug)]
pub struct Begun {
    xid: u32,
    shown: String,
    ops: Vec<ArgOp>,
}
