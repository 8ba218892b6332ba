//! Compounds of arbitrary operations against a live server: every answer is one that the RFCs' tables have, and the
//! server goes on.

use arbitrary::{Arbitrary, Unstructured};
use nfs4_client::compound::OpenFor;
use nfs4_client::{CallError, Compound, Options, Session};
use nfs4_proto::{ArgOp, OpNum, PutfhArgs, StateId, Status};
use nfs4_server::Server;
use nfs4_server::config::{Config, File, Flags};
use nfs4_tests::fuzzing::furnish;

/// A small generator of our own, so that a seed means the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(n).unwrap()).unwrap()
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| u8::try_from(self.next() >> 56).unwrap()).collect()
    }
}

/// Stateids of ours in the place of arbitrary ones, now and then: most operations would end at a bad one.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others have no stateid, or keep theirs")]
fn with_stateid(op: ArgOp, stateid: StateId) -> ArgOp {
    match op {
        ArgOp::Read(args) => ArgOp::Read(nfs4_proto::ReadArgs { stateid, ..args }),
        ArgOp::Write(args) => ArgOp::Write(nfs4_proto::WriteArgs { stateid, ..args }),
        ArgOp::Setattr(args) => ArgOp::Setattr(nfs4_proto::SetattrArgs { stateid, ..args }),
        ArgOp::Allocate(args) => ArgOp::Allocate(nfs4_proto::AllocateArgs { stateid, ..args }),
        ArgOp::Deallocate(args) => ArgOp::Deallocate(nfs4_proto::AllocateArgs { stateid, ..args }),
        ArgOp::Seek(args) => ArgOp::Seek(nfs4_proto::SeekArgs { stateid, ..args }),
        other => other,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_operations_are_answered_as_the_rfcs_allow_and_the_server_goes_on() {
    let seed = std::env::var("NFS4_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0x5eed_u64);
    let rounds: u32 = std::env::var("NFS4_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(20_000);
    println!("NFS4_SEED={seed}");
    let file: File =
        toml::from_str("listen = [\"127.0.0.1:0\"]\nmem-limit = \"64MiB\"\nlog = \"off\"").unwrap();
    let server = Server::start(&Config::merge(&Flags::default(), file).unwrap()).await.unwrap();
    let address = server.addresses()[0].to_string();
    let mut session = Session::connect(&address, &Options::default()).await.unwrap();
    let (handles, mut stateid) = furnish(&session).await.unwrap();
    assert_eq!(handles.len(), 5, "one of each kind");
    let mut random = Random(seed | 1);
    // The first compound for each answer that no table has.
    let mut wrong = std::collections::BTreeMap::<String, String>::new();
    let mut statuses = std::collections::BTreeMap::<&str, u32>::new();
    for round in 0..rounds {
        let mut ops = Vec::new();
        for _ in 0..=random.below(4) {
            match random.below(3) {
                0 => {
                    ops.push(ArgOp::Putfh(PutfhArgs {
                        object: handles[random.below(handles.len())].clone(),
                    }));
                }
                1 => ops.push(if random.below(2) == 0 { ArgOp::Savefh } else { ArgOp::Putrootfh }),
                _ => {}
            }
            let bytes = random.bytes(600);
            let Ok(op) = ArgOp::arbitrary(&mut Unstructured::new(&bytes)) else { continue };
            ops.push(if random.below(2) == 0 {
                with_stateid(op, StateId { seqid: 0, ..stateid })
            } else {
                op
            });
        }
        // What ends sessions and clients would only make the rest dull.
        ops.retain(|op| {
            !matches!(op.num(), OpNum::DestroySession | OpNum::DestroyClientid | OpNum::ExchangeId)
        });
        let shown = ops.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        match session.call_raw(ops).await {
            Ok(reply) => {
                for result in &reply.ops {
                    let (num, status) = (result.num(), result.status());
                    *statuses.entry(num.name()).or_default() += u32::from(status == Status::Ok);
                    if !num.may_answer(status) {
                        wrong.entry(format!("{} {status}", num.name())).or_insert_with(|| shown.clone());
                    }
                }
            }
            Err(CallError::Nonsense(error)) => panic!("round {round}: {error}: {shown}"),
            Err(_) => {
                session = Session::connect(&address, &Options::default()).await.unwrap();
                let mut c = Compound::new();
                c.putrootfh();
                let at = c.open(b"o", "f", OpenFor::Both);
                if let Ok(results) = session.call(c).await
                    && let Ok(open) = results.get(at)
                {
                    stateid = open.stateid;
                }
            }
        }
    }
    println!("{statuses:?}");
    assert!(wrong.is_empty(), "answers that the RFCs do not list: {wrong:#?}");
    let mut c = Compound::new();
    c.putrootfh();
    session.call(c).await.unwrap().all_ok().unwrap();
    server.stop().await;
}
