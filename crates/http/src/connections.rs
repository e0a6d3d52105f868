//! How many connections may be open, so that neither a program that opens too many nor another user of the machine keeps
//! the owner out. On a socket each user has a number of connections. Over TCP those that have presented a token are kept,
//! and of all others the oldest gives way to a new one. If the process may have few file descriptors, each of these
//! groups has a fourth of them: the last fourth is for the files and engines of the workspaces.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Resource, getrlimit};
use tokio_util::sync::CancellationToken;

/// Of one user, on a socket.
const OF_A_USER: usize = 256;
/// Over TCP, without a token so far.
const STRANGERS: usize = 192;
/// Over TCP, reserved for those that have presented a token.
const KNOWN: usize = 256;

/// So many more connections over TCP than are allowed may be open for a moment.
const MANY_CLOSING: usize = 8;

/// The number of connections of a group.
fn at_most(number: usize) -> usize {
    let descriptors = getrlimit(Resource::Nofile).current.and_then(|it| usize::try_from(it).ok());
    descriptors.map_or(number, |it| number.min(it / 4))
}

/// The open connections of a listener.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connections {
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    of_users: HashMap<u32, usize>,
    /// From the oldest to the newest, with what closes each.
    strangers: VecDeque<(u64, CancellationToken)>,
    known: usize,
    /// Strangers that gave way and are not closed yet.
    closing: usize,
    /// The number of the last stranger.
    last: u64,
}

/// The place of one connection, free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    connections: Connections,
    kind: Mutex<Kind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    OfUser(u32),
    Stranger(u64),
    Known,
}

impl Connections {
    /// A place for a connection on a socket. `None` if its user has all that a user may have.
    pub(crate) fn of_user(&self, user: u32) -> Option<Place> {
        let mut open = self.lock();
        let count = open.of_users.entry(user).or_default();
        if *count >= at_most(OF_A_USER) {
            return None;
        }
        *count += 1;
        drop(open);
        Some(self.place(Kind::OfUser(user)))
    }

    /// A place for a connection over TCP. `cut` closes it, if it has to give way.
    pub(crate) fn of_stranger(&self, cut: CancellationToken) -> Place {
        let mut open = self.lock();
        // More than one, if the limit was lowered.
        while open.strangers.len() >= at_most(STRANGERS)
            && let Some((_, oldest)) = open.strangers.pop_front()
        {
            tracing::debug!("a connection without a token gives way to a new one");
            oldest.cancel();
            open.closing += 1;
        }
        open.last += 1;
        let number = open.last;
        open.strangers.push_back((number, cut));
        drop(open);
        self.place(Kind::Stranger(number))
    }

    /// Whether many connections that gave way are still open: they have their file descriptors.
    pub(crate) fn are_many_closing(&self) -> bool {
        self.lock().closing >= MANY_CLOSING
    }

    fn place(&self, kind: Kind) -> Place {
        Place { connections: self.clone(), kind: Mutex::new(kind) }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// The connection has presented a token: it gives way to no other, as long as the reserve lasts.
    pub(crate) fn is_known(&self) {
        let mut kind = self.kind.lock().unwrap_or_else(PoisonError::into_inner);
        let Kind::Stranger(number) = *kind else { return };
        let mut open = self.connections.lock();
        // One that gave way is being closed.
        let is_open = open.strangers.iter().any(|it| it.0 == number);
        if is_open && open.known < at_most(KNOWN) {
            open.known += 1;
            open.strangers.retain(|it| it.0 != number);
            *kind = Kind::Known;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let kind = *self.kind.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = self.connections.lock();
        match kind {
            Kind::OfUser(user) => {
                let count = open.of_users.entry(user).or_default();
                *count = count.saturating_sub(1);
                if *count == 0 {
                    open.of_users.remove(&user);
                }
            }
            Kind::Stranger(number) => match open.strangers.iter().position(|it| it.0 == number) {
                Some(at) => drop(open.strangers.remove(at)),
                None => open.closing = open.closing.saturating_sub(1),
            },
            Kind::Known => open.known = open.known.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_a_number_of_connections_and_leaves_those_of_others() {
        let connections = Connections::default();
        let mut places: Vec<Place> = (0..OF_A_USER).map(|_| connections.of_user(1).unwrap()).collect();
        assert!(connections.of_user(1).is_none());
        assert!(connections.of_user(2).is_some());
        places.pop();
        assert!(connections.of_user(1).is_some());
        drop(places);
        assert!(connections.lock().of_users.is_empty());
    }

    #[test]
    fn the_oldest_stranger_gives_way() {
        let connections = Connections::default();
        let mut opened = Vec::new();
        let mut open = || {
            let cut = CancellationToken::new();
            opened.push((connections.of_stranger(cut.clone()), cut.clone()));
            cut
        };
        let (first, second) = (open(), open());
        for _ in 2..STRANGERS {
            open();
        }
        assert!(!first.is_cancelled());
        open();
        assert!(first.is_cancelled() && !second.is_cancelled());
    }

    #[test]
    fn a_connection_with_a_token_is_kept_until_the_reserve_is_used_up() {
        let connections = Connections::default();
        let open = || {
            let cut = CancellationToken::new();
            (connections.of_stranger(cut.clone()), cut)
        };
        let known: Vec<_> = (0..KNOWN).map(|_| open()).inspect(|it| it.0.is_known()).collect();
        let beyond = open();
        beyond.0.is_known();
        beyond.0.is_known();
        let strangers: Vec<_> = (0..STRANGERS).map(|_| open()).collect();
        assert!(known.iter().all(|it| !it.1.is_cancelled()) && beyond.1.is_cancelled());
        assert!(strangers.iter().all(|it| !it.1.is_cancelled()));
        drop((known, strangers, beyond));
        let open = connections.lock();
        assert_eq!((open.known, open.strangers.len(), open.closing), (0, 0, 0));
    }
}
