//! Short work in place.
//!
//! To hand a job to another thread and to hear of its end costs two wake-ups, which is more than most system calls on
//! files. So a request that has its connection to itself may do a short job in place; where others wait behind it, they
//! must not wait for it too. A backend decides which jobs are short, and how many threads may be busy with them.

use std::cell::Cell;

thread_local! {
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f`, in which [`allowed`] says whether the request that it works for has its connection to itself.
pub fn run<T>(alone: bool, f: impl FnOnce() -> T) -> T {
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _back = Back(ALONE.replace(alone));
    f()
}

/// Whether nobody waits for this thread but the request that it works for.
#[must_use]
pub fn allowed() -> bool {
    ALONE.get()
}

#[cfg(test)]
mod tests {
    use super::{allowed, run};

    #[test]
    fn what_is_allowed_ends_with_its_scope_even_by_a_panic() {
        assert!(!allowed());
        run(true, || {
            assert!(allowed());
            run(false, || assert!(!allowed()));
            assert!(allowed());
        });
        assert!(!allowed());
        let _ = std::panic::catch_unwind(|| run(true, || panic!("on purpose")));
        assert!(!allowed());
    }
}
