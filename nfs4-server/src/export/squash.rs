//! Whose identity a request gets.

use smallvec::SmallVec;

use crate::backend::Who;
use crate::config::Squash;

/// User and group of nobody.
pub const ANONYMOUS: u32 = 65_534;

/// The identity for the backend. `None` (AUTH_NONE) is the anonymous user everywhere.
#[must_use]
pub fn squash(mode: Squash, who: Option<&Who>) -> Who {
    let anonymous = || Who { uid: ANONYMOUS, gid: ANONYMOUS, groups: SmallVec::new() };
    let Some(who) = who else { return anonymous() };
    match mode {
        Squash::None => who.clone(),
        Squash::All => anonymous(),
        Squash::Root if who.uid == 0 => anonymous(),
        // The group of root gives rights of its own, so it goes too.
        Squash::Root => {
            let group = |gid: u32| if gid == 0 { ANONYMOUS } else { gid };
            Who {
                uid: who.uid,
                gid: group(who.gid),
                groups: who.groups.iter().map(|gid| group(*gid)).collect(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    #[test]
    fn root_squash_takes_user_and_group_of_root_and_nothing_else() {
        let user = Who { uid: 5, gid: 0, groups: smallvec![0, 7] };
        assert_eq!(
            squash(Squash::Root, Some(&user)),
            Who { uid: 5, gid: ANONYMOUS, groups: smallvec![ANONYMOUS, 7] }
        );
        let root = Who { uid: 0, gid: 0, groups: smallvec![0, 7] };
        assert_eq!(squash(Squash::Root, Some(&root)).uid, ANONYMOUS);
        assert!(squash(Squash::Root, Some(&root)).groups.is_empty());
        assert_eq!(squash(Squash::None, Some(&root)), root);
    }

    #[test]
    fn no_credentials_are_the_anonymous_user_in_every_mode() {
        for mode in [Squash::None, Squash::Root, Squash::All] {
            assert_eq!(squash(mode, None).uid, ANONYMOUS);
        }
    }
}
