//! The delegation machine, spoken to in the words of its model: what the simulated server plays with.

use std::collections::BTreeMap;

use nfs4_deleg::model::{self, Admit, AttrsFrom, Call, Cause, CbOutcome, Kind, Out, Sid};
use nfs4_deleg::server::{
    self, CbId, Config, Delegations, Effect, Event, FileType, Intent, OwnAttrs, Party, Permit, Refusal,
    Share, WaitId,
};
use nfs4_deleg::{ClientKey, Millis, Now, Oid};
use nfs4_proto::Status;

/// A delegation that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) client: ClientKey,
    pub(super) oid: Oid,
    pub(super) sid: Sid,
    pub(super) kind: Kind,
    pub(super) lives: bool,
}

#[derive(Debug)]
pub(super) struct Machine {
    inner: Delegations,
    now: Now,
    permits: BTreeMap<u64, Permit>,
    next: u64,
    /// Callbacks that are out: of a delegation, or a question to a client about a file.
    recalls: BTreeMap<u64, CbId>,
    questions: BTreeMap<(ClientKey, Oid), CbId>,
}

fn kind(kind: server::Kind) -> Kind {
    match kind {
        server::Kind::Read => Kind::Read,
        server::Kind::Write => Kind::Write,
    }
}

fn deleg(sid: Sid) -> server::DelegRef {
    server::DelegRef { id: server::DelegId(sid.other), seqid: sid.seqid }
}

fn triple(call: Call) -> server::Triple {
    server::Triple { session: [0; 16], slot: call.slot, seq: call.seq }
}

fn write(share: Share) -> bool {
    share.write || share.deny_read
}

fn status(done: Result<(), Status>) -> Status {
    done.err().unwrap_or(Status::Ok)
}

impl Machine {
    pub(super) fn new(lease: u64) -> Self {
        let config = Config {
            lease: Millis(lease),
            patience: Millis(lease / 4),
            retry: Millis(200),
            cb_timeout: Millis(400),
            quiet: Millis(100),
            ..Config::default()
        };
        Self {
            inner: Delegations::new(config),
            now: Now::default(),
            permits: BTreeMap::new(),
            next: 0,
            recalls: BTreeMap::new(),
            questions: BTreeMap::new(),
        }
    }

    fn event(&mut self, event: Event) {
        self.inner.handle_event(self.now, event);
    }

    pub(super) fn client(&mut self, client: ClientKey) {
        self.event(Event::Client(client));
        self.event(Event::BackChannel { client, up: true });
    }

    pub(super) fn all(&self) -> Vec<Known> {
        let known = |d: server::Listed| Known {
            client: d.client,
            oid: d.oid,
            sid: Sid { other: d.deleg.id.0, seqid: d.deleg.seqid },
            kind: kind(d.kind),
            lives: d.revoked.is_none(),
        };
        self.inner.iter().map(known).collect()
    }

    pub(super) fn renewed(&mut self, client: ClientKey) {
        self.event(Event::Renewed(client));
    }

    pub(super) fn reply_seen(&mut self, client: ClientKey, call: Call) {
        self.event(Event::ReplySeen { client, call: triple(call) });
    }

    pub(super) fn flags(&self, client: ClientKey) -> nfs4_proto::SeqStatusFlags {
        self.inner.flags(client)
    }

    fn admitted(&mut self, admit: server::Admit) -> Admit {
        match admit {
            server::Admit::Permit(permit) => {
                self.next += 1;
                self.permits.insert(self.next, permit);
                Admit::Go(self.next)
            }
            server::Admit::Wait(id) => Admit::Wait(id.0),
            server::Admit::Delay => Admit::Delay,
        }
    }

    pub(super) fn admit(&mut self, now: Now, party: Party, intent: &Intent) -> Admit {
        self.now = now;
        let admit = self.inner.admit(now, party, intent);
        self.admitted(admit)
    }

    pub(super) fn admit_again(&mut self, now: Now, id: u64) -> Admit {
        self.now = now;
        let admit = self.inner.admit_again(now, WaitId(id));
        self.admitted(admit)
    }

    /// A delegation under a permit: its stateid and kind.
    pub(super) fn grant(&mut self, now: Now, id: u64, want: &model::Want) -> Option<(Sid, Kind)> {
        self.now = now;
        let asked = server::Want {
            client: want.client,
            oid: want.oid,
            file: FileType::Regular,
            share: want.share,
            wanted: server::Wanted::NoPreference,
            times: want.times,
            signal: false,
            push: false,
            claim: server::Claim::Fresh,
            call: triple(want.call),
            change: want.change,
        };
        match self.inner.grant(now, &self.permits[&id], &asked) {
            Ok(grant) => Some((Sid { other: grant.deleg.id.0, seqid: grant.deleg.seqid }, kind(grant.kind))),
            Err(Refusal::Contention { .. } | Refusal::Resource { .. }) => None,
            Err(other) => panic!("{other:?}"),
        }
    }

    /// The operation was done; with an open, where it was one.
    pub(super) fn finish(&mut self, id: u64, opened: Option<(ClientKey, Oid, Share)>) {
        let permit = self.permits.remove(&id).expect("it stands");
        let effect = opened.map(|(client, oid, share)| Effect::Opened { oid, client, write: write(share) });
        self.inner.commit(self.now, permit, effect.as_slice());
    }

    pub(super) fn closed(&mut self, client: ClientKey, oid: Oid, share: Share) {
        self.inner.effect(Effect::Closed { oid, client, write: write(share) });
    }

    pub(super) fn forget_waiter(&mut self, id: u64) {
        self.inner.forget(self.now, WaitId(id));
    }

    pub(super) fn attrs_of(&mut self, now: Now, party: Party, oid: Oid) -> AttrsFrom {
        self.now = now;
        let from = self.inner.attrs_of(now, party, oid);
        attrs(from)
    }

    pub(super) fn attrs_again(&mut self, id: u64, change: u64, size: u64) -> AttrsFrom {
        let from = self.inner.attrs_again(self.now, WaitId(id), OwnAttrs { change, size });
        attrs(from)
    }

    pub(super) fn check(&self, client: ClientKey, sid: Sid, oid: Oid, write: bool) -> Status {
        status(self.inner.check(client, deleg(sid), oid, write).map(|_| ()))
    }

    pub(super) fn give_back(&mut self, now: Now, client: ClientKey, oid: Oid, sid: Sid) -> Status {
        self.now = now;
        status(self.inner.give_back(now, client, oid, deleg(sid)))
    }

    pub(super) fn test(&self, client: ClientKey, sid: Sid) -> Status {
        status(self.inner.test(client, deleg(sid)))
    }

    pub(super) fn free(&mut self, client: ClientKey, other: u64) -> Status {
        status(self.inner.free(self.now, client, server::DelegId(other)))
    }

    pub(super) fn recall_answered(&mut self, now: Now, other: u64, outcome: CbOutcome) {
        self.now = now;
        let outcome = match outcome {
            CbOutcome::Ok => server::CbOutcome::Ok,
            CbOutcome::Delay => server::CbOutcome::Delay,
            CbOutcome::Unknown => server::CbOutcome::Unknown,
            CbOutcome::Lost => server::CbOutcome::Lost,
        };
        if let Some(cb) = self.recalls.remove(&other) {
            self.event(Event::CbDone { cb, outcome });
        }
    }

    pub(super) fn attrs_answered(
        &mut self,
        now: Now,
        client: ClientKey,
        oid: Oid,
        answer: Option<(u64, u64)>,
    ) {
        self.now = now;
        let outcome = answer.map_or(server::CbOutcome::Lost, |(change, size)| server::CbOutcome::Attrs {
            change,
            size,
            access: None,
            modify: None,
        });
        if let Some(cb) = self.questions.remove(&(client, oid)) {
            self.event(Event::CbDone { cb, outcome });
        }
    }

    pub(super) fn expired(&mut self, now: Now, client: ClientKey) {
        self.now = now;
        self.event(Event::Expired(client));
    }

    pub(super) fn gone(&mut self, now: Now, client: ClientKey) {
        self.now = now;
        self.event(Event::Gone(client));
    }

    /// Time has passed. All that must hold does.
    pub(super) fn timeout(&mut self, now: Now) {
        self.now = now;
        self.inner.handle_timeout(now);
        if let Err(broken) = self.inner.check_invariants() {
            panic!("invariant {}: {}", broken.invariant, broken.what);
        }
        // Permits are of operations, which end at once here.
        assert_eq!(self.inner.permits(), self.permits.len());
    }

    /// What is to be done since the last call.
    pub(super) fn take_out(&mut self) -> Vec<Out> {
        let mut all = Vec::new();
        while let Some(action) = self.inner.poll_action() {
            let refers = |t: Option<server::Triple>| t.map(|t| Call { slot: t.slot, seq: t.seq });
            all.push(match action {
                server::Action::Recall { cb, client, deleg, oid, truncate, referring } => {
                    self.recalls.insert(deleg.id.0, cb);
                    let sid = Sid { other: deleg.id.0, seqid: deleg.seqid };
                    Out::Recall { client, sid, oid, truncate, referring: refers(referring) }
                }
                server::Action::GetAttr { cb, client, oid, referring, .. } => {
                    self.questions.insert((client, oid), cb);
                    Out::GetAttr { client, oid, referring: refers(referring) }
                }
                server::Action::Resume(id) => Out::Resume(id.0),
                server::Action::GiveUp(id) => Out::GiveUp(id.0),
                server::Action::Revoked { client, id, cause } => {
                    let cause = match cause {
                        server::Cause::Late => Cause::Late,
                        server::Cause::Expired => Cause::Expired,
                        server::Cause::Admin => Cause::Admin,
                    };
                    Out::Revoked { client, other: id.0, cause }
                }
                // What was told is kept with the file as it is told.
                server::Action::Advance { .. } | server::Action::RecallAny { .. } => continue,
                other @ (server::Action::Push { .. }
                | server::Action::Available { .. }
                | server::Action::WantsCancelled { .. }) => panic!("nobody wants anything: {other:?}"),
            });
        }
        all
    }
}

fn attrs(from: server::AttrsFrom) -> AttrsFrom {
    match from {
        server::AttrsFrom::Backend => AttrsFrom::Backend,
        server::AttrsFrom::Ask(id) => AttrsFrom::Ask(id.0),
        server::AttrsFrom::Delay => AttrsFrom::Delay,
        server::AttrsFrom::Overlay(o) => {
            AttrsFrom::Overlay(model::Overlay { change: o.change, size: o.size, touched: o.touched })
        }
    }
}
