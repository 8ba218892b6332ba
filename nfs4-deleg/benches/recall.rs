//! What it costs to call one delegation back, with few and with many held: the same.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "a bench")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nfs4_deleg::server::{
    Action, Admit, CbOutcome, Claim, Config, DelegRef, Delegations, Event, FileType, Intent, Party, Share,
    Triple, Want, Wanted,
};
use nfs4_deleg::{ClientKey, Millis, Now, Oid};

const CLIENTS: u64 = 100;
const WRITER: ClientKey = ClientKey(CLIENTS + 1);
const READ: Share = Share { read: true, write: false, deny_read: false, deny_write: false };

fn now() -> Now {
    Now::from_millis(1_000)
}

/// A read delegation for a client, whose open is closed again.
fn grant(machine: &mut Delegations, client: ClientKey, oid: Oid, seq: u32) -> DelegRef {
    let intent = Intent::Open { oid, share: READ, truncate: false };
    let Admit::Permit(permit) = machine.admit(now(), Party::Client(client), &intent) else { unreachable!() };
    let want = Want {
        client,
        oid,
        file: FileType::Regular,
        share: READ,
        wanted: Wanted::Read,
        times: false,
        signal: false,
        push: false,
        claim: Claim::Fresh,
        call: Triple { session: [1; 16], slot: 0, seq },
        change: 1,
    };
    let deleg = machine.grant(now(), &permit, &want).unwrap().deleg;
    machine.commit(now(), permit, &[]);
    machine.handle_event(now(), Event::ReplySeen { client, call: want.call });
    deleg
}

fn holding(delegations: u64) -> Delegations {
    let mut machine = Delegations::new(Config { quiet: Millis(0), ..Config::default() });
    for client in (1..=CLIENTS + 1).map(ClientKey) {
        machine.handle_event(now(), Event::Client(client));
        machine.handle_event(now(), Event::BackChannel { client, up: true });
    }
    for n in 0..delegations {
        grant(&mut machine, ClientKey(n % CLIENTS + 1), Oid(u128::from(n)), 1);
    }
    machine
}

/// From the conflict to the grant that restores what was: the way of one recall.
fn recall_one(machine: &mut Delegations, oid: Oid, holder: ClientKey, deleg: DelegRef) -> DelegRef {
    let write = Intent::Write { oid };
    let Admit::Wait(wait) = machine.admit(now(), Party::Client(WRITER), &write) else { unreachable!() };
    let Some(Action::Recall { cb, .. }) = machine.poll_action() else { unreachable!() };
    machine.handle_event(now(), Event::CbDone { cb, outcome: CbOutcome::Ok });
    machine.give_back(now(), holder, oid, deleg).unwrap();
    assert_eq!(machine.poll_action(), Some(Action::Resume(wait)));
    let Admit::Permit(permit) = machine.admit_again(now(), wait) else { unreachable!() };
    machine.commit(now(), permit, &[]);
    grant(machine, holder, oid, 2)
}

fn recall(c: &mut Criterion) {
    let mut group = c.benchmark_group("recall_of_one");
    for held in [100, 100_000] {
        let mut machine = holding(held);
        let oid = Oid(u128::from(held / 2));
        let holder = ClientKey(held / 2 % CLIENTS + 1);
        let mut deleg = machine.held_by(holder, oid).expect("it holds one").deleg;
        group.bench_function(BenchmarkId::from_parameter(held), |b| {
            b.iter(|| deleg = recall_one(&mut machine, oid, holder, deleg));
        });
    }
    group.finish();
}

criterion_group!(benches, recall);
criterion_main!(benches);
