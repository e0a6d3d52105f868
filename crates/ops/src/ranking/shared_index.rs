//! The index of a workspace. It is kept for a revision; the index of the next one takes the files that are the same from
//! it.

use std::sync::Arc;

use super::index::Index;
use crate::redaction::{Secrets, is_code};
use semdex_engine::files::{File, Files};
use semdex_model::{Answer, Code, Error, Result, Revision};
use semdex_workspace::Workspace;

/// What is kept: the index, and the hashes of the files that say what git ignores.
type Kept = (Arc<Index>, Arc<[blake3::Hash]>);

/// The index of a revision.
pub(crate) async fn index_of(workspace: &Workspace, files: &Arc<Files>, revision: Revision) -> Result<Arc<Index>> {
    const MEMO: &str = "ranking";
    if let Some(known) = workspace.answers().answer::<Kept>(MEMO, revision) {
        return Ok(known.value.0);
    }
    let before = workspace.answers().last::<Kept>(MEMO).map(|it| it.value);
    let (files, root) = (files.clone(), workspace.root().to_owned());
    let made = tokio::task::spawn_blocking(move || {
        let rules: Arc<[blake3::Hash]> =
            files.iter().filter(|it| it.path.ends_with(".gitignore")).map(|it| it.hash).collect();
        let secrets = Secrets::new(&files, &root);
        let hides = |it: &File| secrets.hides(&it.path, is_code(files.languages(), &it.path));
        let index = match before.filter(|it| it.1 == rules) {
            Some((before, _)) => before.after(&files, hides, |_| false),
            None => Index::new(&files, hides, |_| false),
        };
        (Arc::new(index), rules)
    });
    let kept: Kept = made.await.map_err(|_| Error::new(Code::Internal, "the texts could not be ranked"))?;
    workspace.answers().keep(MEMO.to_owned(), revision, &Answer::whole(kept.clone()));
    Ok(kept.0)
}
