//! What any [`Backend`] must do, as rules to run on a fresh one.
//!
//! Each rule is an `async fn(Arc<dyn Backend>) -> Verdict` named after what it checks; [`RULES`] lists them all.
//! [`run_all`] runs every rule and names the broken ones; `kit_tests!(name, || (backend, keep))` makes a module
//! with one `#[tokio::test]` per rule (`keep` is held until the rule ends: a temporary directory, or `()`).
//!
//! Where a rule needs what a file system says it cannot do ([`Facts`](super::Facts)), or several users where
//! the process may not act as them, its verdict is [`Broken::Skipped`].

pub mod change;
pub mod data;
pub mod list;
pub mod names;
pub mod perm;
pub mod rename;
pub mod sparse;
pub mod users;
pub mod xattr;

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;

use super::{
    Answer, Applied, Backend, Create, CreateMode, Fault, Made, Meta, Node, OpenAccess, Opened, Room, SetMeta,
    Stable, Who,
};

/// Why a rule doesn't hold, or was not tried.
#[derive(Debug)]
pub enum Broken {
    /// It doesn't hold.
    Rule(String),
    /// The backend says that it cannot do this.
    Skipped(&'static str),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(why) => f.write_str(why),
            Self::Skipped(why) => write!(f, "skipped: {why}"),
        }
    }
}

impl From<Fault> for Broken {
    #[track_caller]
    fn from(fault: Fault) -> Self {
        Self::Rule(format!("{}: unexpected fault: {fault}", Location::caller()))
    }
}

/// What a rule finds.
pub type Verdict = Result<(), Broken>;

/// A rule's run.
pub type Running = Pin<Box<dyn Future<Output = Verdict> + Send>>;

/// One rule.
#[derive(Clone, Copy)]
pub struct Rule {
    /// What it holds.
    pub name: &'static str,
    /// Runs it on a fresh backend.
    pub run: fn(Arc<dyn Backend>) -> Running,
}

/// Requires a condition.
macro_rules! hold {
    ($condition:expr, $($why:tt)+) => {
        if !$condition {
            let why = format!($($why)+);
            return Err($crate::backend::kit::Broken::Rule(format!(
                "{}:{}: {}: {}", file!(), line!(), stringify!($condition), why
            )));
        }
    };
    ($condition:expr) => {
        if !$condition {
            return Err($crate::backend::kit::Broken::Rule(format!(
                "{}:{}: does not hold: {}", file!(), line!(), stringify!($condition)
            )));
        }
    };
}
pub(super) use hold;

/// Requires two equal values.
macro_rules! same {
    ($left:expr, $right:expr) => {
        match (&$left, &$right) {
            (left, right) => {
                if left != right {
                    return Err($crate::backend::kit::Broken::Rule(format!(
                        "{}:{}: {} is {:?}, not {:?}",
                        file!(),
                        line!(),
                        stringify!($left),
                        left,
                        right
                    )));
                }
            }
        }
    };
}
pub(super) use same;

/// Requires that an answer is one of some faults.
macro_rules! fails {
    ($answer:expr, $($fault:ident)|+) => {
        match $answer.await {
            Err($($crate::backend::Fault::$fault)|+) => {}
            Err(other) => {
                return Err($crate::backend::kit::Broken::Rule(format!(
                    "{}:{}: {} is a fault, but: {}", file!(), line!(), stringify!($answer), other
                )));
            }
            Ok(_) => {
                return Err($crate::backend::kit::Broken::Rule(format!(
                    "{}:{}: {} succeeds", file!(), line!(), stringify!($answer)
                )));
            }
        }
    };
}
pub(super) use fails;

/// The list of all rules, given to another macro: `module: [rule …]`. For [`kit_tests`](crate::kit_tests).
#[macro_export]
#[doc(hidden)]
macro_rules! for_each_kit_rule {
    ([$($then:tt)*] [$($args:tt)*]) => {
        $($then)*! {
            [$($args)*]
            names: [
                a_name_is_found_where_it_was_made
                names_up_to_the_longest_are_kept_and_longer_ones_refused
                names_are_kept_byte_by_byte
                an_object_has_one_identity_by_all_its_names
                a_handle_finds_its_object_again
                a_removed_object_is_stale
                a_name_made_anew_is_another_object
                guarded_create_refuses_a_taken_name
                unchecked_create_leaves_a_taken_name_alone
                exclusive_create_knows_its_own_retry
                exclusive_create_gives_nothing_to_others
                every_kind_can_be_made
                attributes_are_set_at_creation
                only_an_empty_directory_can_be_removed
                nothing_can_be_made_in_a_removed_directory
                a_link_is_refused_for_directories_and_taken_names
                the_root_has_no_parent
                a_directory_counts_its_subdirectories
                a_removed_file_lives_while_it_is_open
                open_is_for_regular_files
            ]
            rename: [
                rename_moves_a_name_and_keeps_the_object
                rename_of_a_missing_name_fails
                rename_replaces_a_file
                rename_replaces_only_what_is_compatible
                rename_between_names_of_one_object_does_nothing
                rename_of_a_directory_into_itself_is_invalid
                rename_moves_a_directory_with_its_parent
                a_replaced_file_lives_while_it_is_open
            ]
            change: [
                change_numbers_of_a_directory_form_a_chain
                a_failed_operation_changes_nothing
                every_change_moves_change
                reading_does_not_move_change
                entries_move_the_times_of_their_directory
                names_move_the_change_of_their_object
                given_times_are_kept
            ]
            list: [
                every_name_is_listed_once_for_every_page_size
                a_listing_goes_on_while_the_directory_changes
                a_listing_keeps_within_its_room
                reserved_cookies_are_refused
                an_entry_tells_what_its_object_tells
                an_empty_directory_ends_at_once
                the_cookie_verifier_does_not_follow_changes
                only_directories_are_listed
            ]
            data: [
                what_was_written_is_read
                a_read_ends_at_the_end
                a_gap_reads_as_zero
                what_was_cut_off_does_not_come_back
                a_slice_that_was_read_stays_as_it_was
                a_write_is_at_least_as_stable_as_asked
                a_write_beyond_the_largest_size_is_refused
                only_files_have_a_size_to_set
                space_is_told
            ]
            sparse: [
                seek_finds_data_and_holes
                allocated_space_reads_as_zero_and_extends
                a_hole_reads_as_zero_and_keeps_the_size
                copy_copies
                copy_works_within_one_file
                a_clone_is_equal_and_independent
            ]
            perm: [
                the_owner_class_decides_for_the_owner
                every_group_of_the_caller_counts
                a_directory_asks_for_the_right_of_the_act
                the_privileged_are_asked_for_execution_only
                access_says_what_calls_then_do
                a_file_just_made_is_open_whatever_its_mode
                an_open_file_may_be_cut_without_permission
                a_sticky_directory_protects_names
                moving_a_directory_needs_the_right_to_write_it
            ]
            users: [
                new_objects_belong_to_their_maker
                a_setgid_directory_gives_its_group
                only_the_owner_sets_mode_and_given_times
                only_the_privileged_give_files_away
                the_time_now_needs_the_right_to_write
                writing_takes_setuid_and_setgid
                a_change_of_owner_takes_setuid_and_setgid
                a_refused_setattr_tells_what_it_did
            ]
            xattr: [
                an_attribute_is_kept_until_it_is_removed
                attributes_are_set_as_asked
                attributes_have_limits
                attributes_move_change_on_set_and_remove_only
                attributes_ask_for_permission
                without_attributes_they_are_not_supported
            ]
        }
    };
}

macro_rules! list_rules {
    ([] $($module:ident: [$($rule:ident)*])*) => {
        /// Every rule.
        pub const RULES: &[Rule] = &[
            $($(Rule {
                name: stringify!($rule),
                run: |backend| Box::pin($module::$rule(backend)),
            },)*)*
        ];
    };
}
for_each_kit_rule!([list_rules] []);

/// Makes a module `$name` with one `#[tokio::test]` for each rule of the conformance kit. `$make` is a closure
/// that makes a fresh backend: `(Arc<dyn Backend>, keep)`.
#[macro_export]
macro_rules! kit_tests {
    ($name:ident, $make:expr) => {
        $crate::for_each_kit_rule!([$crate::kit_tests_of] [$name, $make]);
    };
    (@of [$name:ident, $make:expr] $($module:ident: [$($rule:ident)*])*) => {
        mod $name {
            #[allow(unused_imports, reason = "what the closure needs")]
            use super::*;
            $($(
                #[tokio::test]
                async fn $rule() {
                    let (backend, _keep) = ($make)();
                    $crate::backend::kit::report(
                        stringify!($rule),
                        $crate::backend::kit::$module::$rule(backend).await,
                    );
                }
            )*)*
        }
    };
}

/// The second half of [`kit_tests`](crate::kit_tests).
#[macro_export]
#[doc(hidden)]
macro_rules! kit_tests_of {
    ($($all:tt)*) => { $crate::kit_tests! { @of $($all)* } };
}

/// Panics where a rule is broken, says so where it was skipped.
///
/// # Panics
/// That is its purpose.
#[allow(clippy::print_stderr, reason = "a test's own output")]
pub fn report(rule: &str, verdict: Verdict) {
    match verdict {
        Ok(()) => {}
        Err(Broken::Skipped(why)) => eprintln!("{rule}: skipped: {why}"),
        Err(Broken::Rule(why)) => panic!("{rule}: {why}"),
    }
}

/// Runs every rule, each on a fresh backend, and returns the broken ones with the reason.
pub async fn run_all<Keep>(make: impl Fn() -> (Arc<dyn Backend>, Keep)) -> Vec<(&'static str, String)> {
    let mut broken = Vec::new();
    for rule in RULES {
        let (backend, keep) = make();
        match (rule.run)(backend).await {
            Ok(()) | Err(Broken::Skipped(_)) => {}
            Err(Broken::Rule(why)) => broken.push((rule.name, why)),
        }
        drop(keep);
    }
    broken
}

/// Both.
pub const BOTH: OpenAccess = OpenAccess { read: true, write: true };
/// Reading only.
pub const READ: OpenAccess = OpenAccess { read: true, write: false };
/// Writing only.
pub const WRITE: OpenAccess = OpenAccess { read: false, write: true };

/// A user of the rules.
#[must_use]
pub fn user(uid: u32, gid: u32, groups: &[u32]) -> Who {
    Who { uid, gid, groups: SmallVec::from_slice(groups) }
}

/// Only a mode.
#[must_use]
pub fn mode(mode: u32) -> SetMeta {
    SetMeta { mode: Some((mode, 0o7777)), ..SetMeta::default() }
}

/// Only a size.
#[must_use]
pub fn size(size: u64) -> SetMeta {
    SetMeta { size: Some(size), ..SetMeta::default() }
}

/// A fresh backend, the server's credentials, and a directory that everybody may use.
#[derive(Clone)]
pub struct Ground {
    /// The backend.
    pub fs: Arc<dyn Backend>,
    /// The directory, mode 0777.
    pub dir: Node,
    /// The server itself.
    pub root: Who,
}

impl Ground {
    /// Makes the directory.
    pub async fn new(fs: Arc<dyn Backend>) -> Result<Self, Broken> {
        let root = Who::server();
        let dir = fs.create(&root, &fs.root(), b"ground", Create::Dir, &mode(0o777)).await?.node;
        Ok(Self { fs, dir, root })
    }

    /// Two users of different groups, or the rule is skipped where the backend cannot act as them.
    pub async fn users(&self) -> Result<(Who, Who), Broken> {
        let (one, two) = (user(1_001, 2_001, &[]), user(1_002, 2_002, &[]));
        let probe = self.fs.create(&one, &self.dir, b"probe", Create::Dir, &mode(0o700)).await;
        match probe {
            Ok(made) if made.meta.uid == one.uid => {
                self.fs.remove(&self.root, &self.dir, b"probe").await?;
                Ok((one, two))
            }
            Ok(_) | Err(_) => Err(Broken::Skipped("the process may not act as other users")),
        }
    }

    /// A new file made and opened by `who`.
    pub async fn file_as(&self, who: &Who, name: &str, bits: u32) -> Result<(Node, Opened), Broken> {
        let made = self.create(who, name, CreateMode::Guarded, &mode(bits)).await?;
        let opened = made.opened.ok_or_else(|| Broken::Rule("a new file is not open".into()))?;
        Ok((made.node, opened))
    }

    /// A new file of the server.
    pub async fn file(&self, name: &str) -> Result<(Node, Opened), Broken> {
        self.file_as(&self.root, name, 0o644).await
    }

    /// A regular file in the directory, opened for both.
    pub fn create(&self, who: &Who, name: &str, how: CreateMode, set: &SetMeta) -> Answer<Made> {
        self.fs.create(who, &self.dir, name.as_bytes(), Create::File { mode: how, access: BOTH }, set)
    }

    /// A new directory of the server in `dir`.
    pub async fn mkdir(&self, dir: &Node, name: &str) -> Result<Node, Broken> {
        Ok(self.fs.create(&self.root, dir, name.as_bytes(), Create::Dir, &mode(0o755)).await?.node)
    }

    /// Looks up as the server.
    pub fn lookup(&self, name: &str) -> Answer<Node> {
        self.fs.lookup(&self.root, &self.dir, name.as_bytes())
    }

    /// Removes as the server.
    pub async fn remove(&self, name: &str) -> Verdict {
        self.fs.remove(&self.root, &self.dir, name.as_bytes()).await?;
        Ok(())
    }

    /// Attributes.
    pub fn meta(&self, node: &Node) -> Answer<Meta> {
        self.fs.getattr(node)
    }

    /// Sets attributes; a part that was refused is a fault.
    pub async fn set(&self, who: &Who, node: &Node, set: &SetMeta) -> Result<Applied, Fault> {
        let done = self.fs.setattr(who, node, None, set).await?;
        done.fault.map_or(Ok(done.applied), Err)
    }

    /// Writes all of `data`, in as many steps as it takes.
    pub async fn write(&self, file: &Opened, at: u64, data: &[u8]) -> Verdict {
        let mut done = 0;
        while let Some(rest) = data.get(done..).filter(|rest| !rest.is_empty()) {
            let at = at + done as u64;
            let count =
                self.fs.write(file, at, Bytes::copy_from_slice(rest), Stable::Un).await?.count as usize;
            hold!(count > 0 && count <= rest.len(), "{count} of {}", rest.len());
            done += count;
        }
        Ok(())
    }

    /// Reads up to `len` bytes.
    pub async fn read(&self, file: &Opened, at: u64, len: u32) -> Result<Vec<u8>, Broken> {
        Ok(self.fs.read(file, at, len).await?.data.concat())
    }

    /// All names of a directory, in its order, read in pages of `entries`.
    pub async fn names(&self, dir: &Node, entries: usize) -> Result<Vec<Bytes>, Broken> {
        let mut names = Vec::new();
        let mut cookie = 0;
        loop {
            let page = self.fs.list(&self.root, dir, cookie, room(entries)).await?;
            hold!(page.eof || !page.entries.is_empty(), "no progress");
            for entry in page.entries {
                cookie = entry.cookie;
                names.push(entry.name);
            }
            if page.eof {
                return Ok(names);
            }
            hold!(names.len() < 1_000_000, "the listing does not end");
        }
    }
}

/// Room for so many entries, names only.
#[must_use]
pub fn room(entries: usize) -> Room {
    Room { entries, bytes: 1 << 20, meta: false, nodes: false }
}
