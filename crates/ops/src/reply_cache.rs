//! Keeps replies about changes for a while, so that a cursor returns the rest without running the call again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use semdex_contract::{Common, Kept, Name, Reply, kept_under};
use semdex_model::{Code, Error, Result};

/// How many replies are kept. A client reads the next page immediately or never.
const KEPT: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct ReplyCache {
    kept: Mutex<VecDeque<(String, Reply)>>,
}

impl ReplyCache {
    /// Keeps a reply if its call is one of these.
    pub(super) fn keep(&self, mut reply: Reply) -> Reply {
        let id = ulid::Ulid::generate().to_string();
        match &mut reply {
            Reply::Edit(it) | Reply::Write(it) | Reply::Undo(it) | Reply::Rename(it) => it.keep_under(&id),
            Reply::Impact(it) => it.keep_under(&id),
            Reply::Commit(it) => it.keep_under(&id),
            Reply::Verify(it) => it.keep_under(&id),
            _ => return reply,
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(KEPT - 1);
        kept.push_front((id, reply.clone()));
        reply
    }

    /// The next page of a kept reply, for a request with a cursor. The call is not run again.
    pub(super) fn continued(&self, name: Name, common: &Common) -> Result<Option<Reply>> {
        let is_kept = matches!(
            name,
            Name::Edit | Name::Write | Name::Undo | Name::Rename | Name::Impact | Name::Commit | Name::Verify
        );
        let Some(cursor) = common.cursor.as_deref().filter(|_| is_kept) else { return Ok(None) };
        let id = kept_under(cursor)?;
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|it| it.0 == id).map(|it| it.1.clone());
        drop(kept);
        let gone = || {
            let detail = "`cursor`: this reply is no longer kept; nothing was changed by this request. Ask `impact`, \
                          or make the change as a dry run, to see what it reaches";
            Error::new(Code::InvalidRequest, detail)
        };
        Ok(Some(match (name, found.ok_or_else(gone)?) {
            (Name::Impact, Reply::Impact(it)) => Reply::Impact(it.after(cursor)?),
            (Name::Commit, Reply::Commit(it)) => Reply::Commit(it.after(cursor)?),
            (Name::Verify, Reply::Verify(it)) => Reply::Verify(it.after(cursor)?),
            (Name::Impact | Name::Commit | Name::Verify, _)
            | (_, Reply::Impact(_) | Reply::Commit(_) | Reply::Verify(_)) => return Err(gone()),
            (_, Reply::Edit(it)) => Reply::Edit(it.after(cursor)?),
            (_, Reply::Write(it)) => Reply::Write(it.after(cursor)?),
            (_, Reply::Undo(it)) => Reply::Undo(it.after(cursor)?),
            (_, Reply::Rename(it)) => Reply::Rename(it.after(cursor)?),
            (_, other) => other,
        }))
    }
}
