//! What a file states for a whole crate: the inner attributes of its root or of a module, such as `#![no_std]`, the
//! names of `extern crate`, and the modules whose macros others see. Nothing names such a statement, so an edit of one
//! concerns all files of the crate, or those with a name.

use std::collections::{BTreeMap, BTreeSet};

use ra_ap_ide::FileId;
use ra_ap_syntax::ast::{HasAttrs as _, HasModuleItem as _, HasName as _};
use ra_ap_syntax::{AstNode as _, Edition, SourceFile, ast};

use super::other_crates::{CrateChange, Reach};
use crate::impact::edit_context::EditContext;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{Missing, MissingCode};

/// Inner attributes that neither cause nor prevent an error. Lints are not judged at all.
const INERT: [&str; 8] = ["allow", "deny", "deprecated", "doc", "expect", "forbid", "must_use", "warn"];
/// Inner attributes that decide what a crate has for others, not only what is in scope in it.
const OF_CONTENT: [&str; 3] = ["cfg", "feature", "path"];
/// Lints of other tools than the compiler.
const TOOLS: [&str; 3] = ["clippy::", "miri::", "rustdoc::"];

/// What a file states for its crate.
#[derive(Debug, Default, PartialEq, Eq)]
struct Statements {
    /// The inner attributes, with their names.
    attributes: BTreeSet<(String, String)>,
    /// What `extern crate` items say, by the names that they give.
    crates: BTreeMap<String, String>,
    /// The modules in their order, and whether each has `#[macro_use]`.
    modules: Vec<(String, bool)>,
}

impl Statements {
    fn of(file: &File) -> Statements {
        let tree = SourceFile::parse(&file.text, Edition::CURRENT).tree();
        let mut found = Statements::default();
        for attribute in tree.attrs().filter(|it| it.excl_token().is_some()) {
            let text = compact(&attribute);
            let names = attribute.skip_cfg_attrs().into_iter().map(|it| match it {
                ast::Meta::CfgMeta(_) => "cfg".to_owned(),
                it => it.path().map(|it| it.syntax().text().to_string()).unwrap_or_default(),
            });
            found.attributes.extend(names.filter(|it| !INERT.contains(&&**it)).map(|it| (it, text.clone())));
        }
        for item in tree.items() {
            match item {
                ast::Item::ExternCrate(it) => {
                    let renamed = it.rename().and_then(|it| it.name()).map(|it| it.text().to_string());
                    let name = renamed.or_else(|| Some(it.name_ref()?.text().to_string()));
                    found.crates.extend(name.map(|name| (name, compact(&it))));
                }
                ast::Item::Module(it) => {
                    let mut attributes = it.attrs().flat_map(|it| it.skip_cfg_attrs());
                    let has_macros = attributes.any(|it| it.as_simple_atom().is_some_and(|it| it == "macro_use"));
                    found.modules.extend(it.name().map(|it| (it.text().to_string(), has_macros)));
                }
                _ => {}
            }
        }
        found
    }

    /// How far it reaches that another file states this.
    fn reach(&self, other: &Statements, is_root: bool) -> Option<Reach> {
        let attributes: Vec<_> = self.attributes.symmetric_difference(&other.attributes).collect();
        if attributes.iter().any(|it| OF_CONTENT.contains(&&*it.0)) {
            return Some(Reach::Dependents);
        }
        if !attributes.is_empty() || self.users_of_macros(other) != other.users_of_macros(self) {
            return Some(Reach::Crate);
        }
        let names = self.crates.keys().chain(other.crates.keys());
        let names: BTreeSet<&String> = names.filter(|it| self.crates.get(*it) != other.crates.get(*it)).collect();
        if names.is_empty() || !is_root {
            return None;
        }
        let has_macros =
            |it: &&String| [self, other].iter().any(|of| of.crates.get(*it).is_some_and(|it| it.contains("macro_use")));
        let is_whole = names.iter().any(has_macros);
        Some(if is_whole { Reach::Crate } else { Reach::Names(names.into_iter().cloned().collect()) })
    }

    /// By each module with `#[macro_use]` those after it, which see its macros, as far as the other file has them too.
    fn users_of_macros(&self, other: &Statements) -> BTreeMap<&str, BTreeSet<&str>> {
        let is_common = |it: &&(String, bool)| other.modules.iter().any(|of| of.0 == it.0);
        let after = |at: usize| self.modules[at + 1..].iter().filter(is_common).map(|it| it.0.as_str()).collect();
        let with_macros = self.modules.iter().enumerate().filter(|it| it.1.1);
        with_macros.map(|(at, it)| (it.0.as_str(), after(at))).collect()
    }
}

/// Whether an edit of a file that stays may state something else.
fn may_state_else(edit: &EditContext, index: usize) -> bool {
    let (old, new) = (&edit.olds[index], &edit.news[index]);
    let names_macros = |it: &File| memchr::memmem::find(it.text.as_bytes(), b"macro_use").is_some();
    let stays = old.path == new.path && !old.text.is_empty() && !new.text.is_empty();
    // Attributes of a module belong to its item.
    stays && (!edit.scope_changes[index].is_empty() || names_macros(old) || names_macros(new))
}

/// The text of a node without white space and comments.
fn compact(of: &impl ra_ap_syntax::AstNode) -> String {
    let tokens = of.syntax().descendants_with_tokens().filter_map(|it| it.into_token());
    tokens.filter(|it| !it.kind().is_trivia()).map(|it| format!("{} ", it.text())).collect()
}

/// The crates for which an edit states something else.
pub(crate) fn changed_scopes(cx: &Context<'_>, edit: &EditContext) -> Vec<CrateChange> {
    let mut changes = Vec::new();
    for index in (0..edit.olds.len()).filter(|it| may_state_else(edit, *it)) {
        let (was, is) = (Statements::of(&edit.olds[index]), Statements::of(&edit.news[index]));
        let Some(id) = cx.file_id(&edit.olds[index].path).filter(|_| was != is) else { continue };
        let roots: BTreeSet<FileId> = roots_of(cx, id).collect();
        for root_file in roots {
            let reach = was.reach(&is, root_file == id);
            changes.extend(reach.map(|reach| CrateChange { root_file, reach }));
        }
    }
    changes
}

/// The roots of the crates that include a file.
fn roots_of(cx: &Context<'_>, file: FileId) -> impl Iterator<Item = FileId> {
    cx.sema.file_to_module_defs(file).map(|it| it.krate(cx.db).root_file(cx.db))
}

/// What is not known of an edit because lints are not judged, and because rust-analyzer ignores an attribute.
pub(crate) fn unjudged(edit: &EditContext) -> Vec<Missing> {
    let mut found = Vec::new();
    for (index, (old, new)) in edit.olds.iter().zip(&edit.news).enumerate() {
        let known = raised_lints(old);
        for it in raised_lints(new).difference(&known) {
            let detail = format!("lints are not checked: `cargo check` tells what `{it}` refuses in `{}`", new.path);
            found.push(Missing::new(MissingCode::Unsupported, &*new.path, detail));
        }
        if !may_state_else(edit, index) {
            continue;
        }
        let is_ignored = |it: &File| Statements::of(it).attributes.iter().any(|it| it.0 == "no_implicit_prelude");
        if is_ignored(old) != is_ignored(new) {
            let detail = "rust-analyzer ignores `#![no_implicit_prelude]`: `cargo check` tells what it breaks";
            found.push(Missing::new(MissingCode::Unsupported, &*new.path, detail));
        }
    }
    found
}

/// The attributes that make errors of the compiler's lints.
fn raised_lints(file: &File) -> BTreeSet<String> {
    let has = |it: &str| memchr::memmem::find(file.text.as_bytes(), it.as_bytes()).is_some();
    if !has("deny") && !has("forbid") {
        return BTreeSet::new();
    }
    let tree = SourceFile::parse(&file.text, Edition::CURRENT).tree();
    let attributes = tree.syntax().descendants().filter_map(ast::Attr::cast).flat_map(|it| it.skip_cfg_attrs());
    let raised = attributes.filter_map(|it| {
        let (name, lints) = it.as_simple_call()?;
        let lints = lints.syntax().text().to_string();
        let is_ours =
            lints.trim_matches(['(', ')']).split(',').map(str::trim).any(|it| {
                !it.is_empty() && !it.starts_with("reason") && !TOOLS.iter().any(|tool| it.starts_with(tool))
            });
        (matches!(&*name, "deny" | "forbid") && is_ours).then(|| format!("{name}{lints}"))
    });
    raised.collect()
}
