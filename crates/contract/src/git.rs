//! `git` and `commit`: the repository of the workspace.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Listing, left_out, text_cost};
use super::enums::{Dirty, FileStatus};
use super::examples;
use super::pages::{Kept, Pages};
use super::request::{Answer, request};
use super::shared_types::{Meta, is_false};
use semdex_model::{Code, Error, Result};

/// The lists of a reply: the files of the commit, and the files of the commit before it.
const PARTS: usize = 2;

request! { query
    /// The workspace whose repository is shown.
    pub struct GitQuery {}
}

/// The state of a repository.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::git))]
pub struct GitReply {
    /// The current branch. Null if HEAD is detached.
    #[schema(required)]
    pub branch: Option<String>,
    /// The last commit. Null before the first commit.
    #[schema(required)]
    pub head: Option<String>,
    /// The operation in progress: `merge`, `rebase`, `cherry-pick`, `revert` or `bisect`. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub in_progress: Option<&'static str>,
    /// The files that differ from the last commit. Untracked files are listed one by one, ignored files not at all.
    #[schema(value_type = Vec<DirtyFile>)]
    pub dirty: Listing<DirtyFile>,
    /// The number of these files, on all pages.
    pub total: usize,
    /// Continues the files. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision at which git ran.
    pub meta: Meta,
}

impl Answer for GitReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        budget.spend(260 + self.branch.as_deref().map_or(0, text_cost));
        let form = budget.form();
        let from = |it: &DirtyFile| it.from.as_deref().map_or(0, text_cost);
        self.dirty.cut(&mut budget, |it| text_cost(&it.file) + from(it) + form.or(30, 70));
        self.next_cursor = self.dirty.next_cursor();
        Some(left_out(&[("dirty files", self.dirty.part)]))
    }
}

/// A file that differs from the last commit.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DirtyFile {
    /// Relative to the workspace root, with `../` for a file outside. A name that is not UTF-8 is in quotes and with
    /// octal escapes, as git shows it.
    pub file: String,
    /// How it differs from the last commit.
    pub status: FileStatus,
    /// Whether the index differs from the last commit.
    pub staged: bool,
    /// Whether the work tree differs from the index.
    pub unstaged: bool,
    /// With `renamed` and `copied`: the name in the last commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub from: Option<String>,
    /// Whether it is a submodule.
    #[serde(skip_serializing_if = "is_false")]
    pub submodule: bool,
}

request! { body
    /// What to commit, and how.
    #[schema(examples(json!({"changes": ["01JD8M2Q6Z5V9K3T7W1X4Y0ABC"], "dirty": "leave"})))]
    pub struct CommitRequest {
        /// Tokens of changes. All files of these changes are committed with their whole present content.
        #[schema(default = json!([]))]
        pub changes: Option<Vec<String>>,
        /// Other files, relative to the workspace root.
        #[schema(default = json!([]))]
        pub files: Option<Vec<String>>,
        /// The commit message, used unchanged. Default: a message generated from the changes.
        pub message: Option<String>,
        /// The author as `Name <mail>`. Default: the user configured in git, who is always the committer.
        #[schema(examples("Ada <ada@example.org>"))]
        pub author: Option<String>,
        /// How to handle other uncommitted work in tracked files.
        #[schema(default = "leave")]
        pub dirty: Option<Dirty>,
    }
}

/// git gets the author in its environment, whose size the system limits.
const LONGEST_AUTHOR: usize = 1000;

impl CommitRequest {
    /// The message of the request, validated.
    pub fn checked_message(&self) -> Result<Option<String>> {
        let refused = |why: &str| Err(Error::new(Code::InvalidRequest, format!("`message`: {why}")));
        match &self.message {
            Some(message) if message.trim().is_empty() => refused("it is empty; leave it out to have one made"),
            Some(message) if message.contains('\0') => refused("it holds a NUL byte, which git does not take"),
            message => Ok(message.clone()),
        }
    }

    /// The name and mail of the author of the request, validated.
    pub fn checked_author(&self) -> Result<Option<(String, String)>> {
        let Some(author) = &self.author else { return Ok(None) };
        if author.len() > LONGEST_AUTHOR {
            let detail = format!("`author`: it has {} bytes; at most {LONGEST_AUTHOR} bytes are taken", author.len());
            return Err(Error::new(Code::InvalidRequest, detail));
        }
        let parts = author.trim().strip_suffix('>').and_then(|it| it.split_once('<'));
        // git strips these from both ends of a name, and the rest must not be empty.
        let is_crud = |it: char| it <= ' ' || ".,:;<>\"\\'".contains(it);
        let is_plain = |it: &str| !it.chars().any(|it| it.is_control() || it == '<' || it == '>');
        match parts {
            Some((name, mail))
                if is_plain(name)
                    && name.ends_with(' ')
                    && is_plain(mail)
                    && !name.trim_matches(is_crud).is_empty()
                    && !mail.trim_matches(is_crud).is_empty()
                    && !mail.contains(char::is_whitespace) =>
            {
                Ok(Some((name.trim().to_owned(), mail.to_owned())))
            }
            _ => {
                let detail = format!("`author`: `{author}` is not of the form `Name <mail>`");
                Err(Error::new(Code::InvalidRequest, detail))
            }
        }
    }
}

/// The new commit.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::commit))]
pub struct CommitReply {
    /// Its hash.
    pub commit: String,
    /// The files that it changes.
    pub files: Vec<String>,
    /// The commit message, given or generated.
    pub message: String,
    /// The branch of the commit. Null if HEAD is detached.
    #[schema(required)]
    pub branch: Option<String>,
    /// Files of the changes that are not in the commit, with reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// With `commit_first`: the commit of all remaining uncommitted work, if there was any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub before: Option<CommitBefore>,
    /// The cursor for the rest of a shortened reply. The same call with it returns the remaining files and commits
    /// nothing.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision after the commit.
    pub meta: Meta,
    /// The ranges of the lists that are in the page.
    #[serde(skip)]
    pub pages: Pages<PARTS>,
}

impl Kept for CommitReply {
    fn keep_under(&mut self, id: &str) {
        self.pages = Pages::kept(id, self.lengths());
    }

    fn after(mut self, cursor: &str) -> Result<CommitReply> {
        let lengths = self.lengths();
        let [files, before] = self.pages.resume(cursor, lengths)?;
        self.files.drain(..files);
        self.before.iter_mut().for_each(|it| drop(it.files.drain(..before)));
        Ok(self)
    }
}

impl CommitReply {
    fn lengths(&self) -> [usize; PARTS] {
        [self.files.len(), self.before.as_ref().map_or(0, |it| it.files.len())]
    }
}

impl Answer for CommitReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        budget.spend(300 + text_cost(&self.message));
        let costs = |files: &[String]| files.iter().map(|it| text_cost(it) + 6).collect::<Vec<_>>();
        let before = self.before.as_ref().map(|it| costs(&it.files)).unwrap_or_default();
        let [files_part, before_part] = &mut self.pages.parts;
        budget.share(&mut [(files_part, costs(&self.files), 70), (before_part, before, 100)]);
        let [files, before] = self.pages.parts.map(|it| it.count);
        self.files.truncate(files);
        self.before.iter_mut().for_each(|it| it.files.truncate(before));
        self.next_cursor = self.pages.next_cursor();
        let [files, before] = self.pages.parts;
        Some(left_out(&[("files", files), ("files of the commit before", before)]))
    }
}

/// The commit of all remaining uncommitted work.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CommitBefore {
    /// Its hash.
    pub commit: String,
    /// The files that it changes.
    pub files: Vec<String>,
    /// Its message.
    pub message: String,
}

/// A file of the changes that was not committed.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LeftOut {
    /// Relative to the workspace root.
    pub file: String,
    /// Why, for example because others changed it.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(author: &str) -> CommitRequest {
        CommitRequest {
            changes: None,
            files: None,
            message: None,
            author: Some(author.to_owned()),
            dirty: None,
            workspace: None,
            min_revision: None,
            wait_ms: None,
            max_tokens: None,
            cursor: None,
            limit: None,
        }
    }

    #[test]
    fn an_author_is_a_name_and_a_mail() {
        let found = request("Ada B. C <a.b@x.org>").checked_author().unwrap();
        assert_eq!(found, Some(("Ada B. C".to_owned(), "a.b@x.org".to_owned())));
        for wrong in [
            "",
            "Ada",
            "<a@x>",
            "Ada <>",
            " <a@x>",
            "Ada a@x",
            "Ada <a@x",
            "A <b> <c@x>",
            "A\nB <a@x>",
            ". <a@x>",
            "Ada <a b>",
            "Ada<a@x>",
        ] {
            let error = request(wrong).checked_author().unwrap_err();
            assert!(error.code == Code::InvalidRequest && error.detail.contains("Name <mail>"), "{wrong}: {error}");
        }
    }
}
