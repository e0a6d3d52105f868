//! Renames a symbol: rust-analyzer computes the edits, and the index of usages shows whether they are complete.

use std::collections::BTreeSet;

use ra_ap_hir::{AssocItemContainer, InFile, Trait};
use ra_ap_ide::{AnalysisHost, FilePosition, RenameConfig, TryToNav as _};
use ra_ap_ide_db::defs::Definition;
use ra_ap_ide_db::source_change::{FileSystemEdit, SourceChange};

use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, T, ast};

use crate::names::definitions::{ImplementedTrait, as_assoc_item, plain_name, trait_of};
use crate::names::included::Included;
use crate::names::{Key, instances};
use crate::resolve::ResolvedSymbol;
use crate::resolve::alternatives::{Reach, declared_elsewhere, with_alternatives};
use crate::syntax::positions::{span, text_size, tokens_at};
use crate::view::{Context, View};
use crate::{resolve, usages, view};
use semdex_engine::{Result, Stop};
use semdex_model::{
    Answer, Code, Doubt, Error, Place, PossibleReason, Renaming, Rewrite, Role, Span, Symbol, SymbolKind, SymbolQuery,
    Usage, UsagePage, Window,
};

const CONFIG: RenameConfig =
    RenameConfig { prefer_no_std: false, prefer_prelude: true, prefer_absolute: false, show_conflicts: true };

/// What rust-analyzer says of a name whose definition it does not find, for example of a proc macro.
const NOT_FOUND: &str = "No references found at position";

impl View {
    /// The edits of a rename, or the reason why the new name is not possible.
    pub(crate) fn rename(self, query: &SymbolQuery, new_name: &str) -> Result<Answer<Renaming>> {
        self.ask(|it| rename(it, query, new_name))
    }
}

fn rename(cx: &Context<'_>, query: &SymbolQuery, new_name: &str) -> Result<Answer<Renaming>> {
    let ResolvedSymbol { symbol, definition } = resolve::resolve(cx, query)?;
    if symbol.external {
        return Err(refused(format!("`{}` is not part of this workspace", symbol.path)));
    }
    let at = symbol.declared_at.as_ref().unwrap_or(&symbol.name_at);
    let named = if symbol.declared_at.is_some() { declared_name(cx, &symbol) } else { Some(symbol.name_at.start) };
    let (Some(file_id), Some(offset)) = (cx.file_id(&at.file), named) else {
        return Err(refused(format!("`{}` has no name of its own in the workspace's text", symbol.path)));
    };
    if let Some(other) = taken(cx, &symbol, new_name) {
        let place = format!("{}:{}", other.name_at.file, other.name_at.line);
        return Err(refused(format!("`{new_name}` is taken by `{}` ({place})", other.path)));
    }
    let Some(definition) = definition else {
        if cx.is_being_loaded() {
            let detail = "the Cargo workspace is being loaded: ask again, or give a longer `wait_ms`";
            return Err(Error::new(Code::NotReady, detail).into());
        }
        return Err(refused(format!("`{}` is not compiled, so what names it is not known", symbol.path)));
    };
    let usages = usages::certain_of(cx, definition);
    let ambiguous = usages::written::ambiguous(cx, definition, &usages.value);
    let usages = usages.map(|found| usages::page(cx, &found, Some(definition), Window::ALL));
    let position = FilePosition { file_id, offset: text_size(offset) };
    let analysis = AnalysisHost::with_database(cx.db.clone()).analysis();
    let change = view::uncaught(analysis.rename(position, new_name, &CONFIG));
    // rust-analyzer does not find these in their file, or does not know the scope. The index has all places.
    let is_by_index = Included::find(&cx.sema, file_id, cx.sema.parse_guess_edition(file_id).syntax()).is_some()
        || matches!(definition, Definition::Macro(_));
    let mut renaming = match change {
        Ok(change) if !is_by_index => rename_edits(cx, symbol, new_name, &change)?,
        Err(error) if !is_by_index && !error.to_string().contains(NOT_FOUND) => {
            return Err(refused(format!("rust-analyzer: {error}")));
        }
        _ => {
            refuse_item_of_trait(cx, definition, &symbol)?;
            let named = Span::new(symbol.name_at.start, symbol.name_at.end);
            let text = cx.files.get(&symbol.name_at.file).and_then(|it| it.text.get(named.start..named.end));
            if text.is_none_or(|it| plain_name(it) != symbol.name) {
                return Err(refused(format!("the name of `{}` is not where it is declared", symbol.path)));
            }
            let part = Rewrite { file: symbol.name_at.file.clone(), parts: vec![(named, new_name.to_owned())] };
            Renaming { rewrites: vec![part], ..unchanged(symbol) }
        }
    };
    let elsewhere =
        declared_elsewhere(cx, definition).into_iter().map(|it| (it.file.path.to_string(), it.own.name_span));
    for (file, at) in declarations_of(cx, definition).into_iter().chain(elsewhere) {
        add_part(&mut renaming, &file, at, new_name);
    }
    for it in with_alternatives(cx, definition, Reach::All).into_iter().skip(1) {
        if let Some(file) = named_by_it(cx, it) {
            let detail =
                format!("`{file}` has the name of another declaration of `{}`: rename that one", renaming.symbol.path);
            return Err(refused(detail));
        }
        for (file, at) in declarations_of(cx, it) {
            add_part(&mut renaming, &file, at, new_name);
        }
    }
    complete(cx, &mut renaming, &usages.value, &ambiguous, new_name);
    Ok(Answer { value: renaming, coverage: usages.coverage })
}

/// An item that implements one of a trait has the name of the trait's item, and so have all other implementations.
fn refuse_item_of_trait<'db>(cx: &Context<'db>, definition: Definition<'db>, symbol: &Symbol) -> Result<()> {
    let container = as_assoc_item(definition, cx.db).map(|it| it.container(cx.db));
    let Some(AssocItemContainer::Impl(block)) = container else { return Ok(()) };
    let is_own = |of: Trait| of.module(cx.db).krate(cx.db).origin(cx.db).is_local();
    match trait_of(&cx.sema, block) {
        None => Ok(()),
        Some(ImplementedTrait::FileSymbols(of)) if !is_own(of) => {
            Err(refused("a file outside of the workspace would change".to_owned()))
        }
        Some(_) => Err(refused(format!("`{}` implements an item of a trait: rename that one", symbol.path))),
    }
}

/// The position of a module's name in its `mod` line.
fn declared_name(cx: &Context<'_>, symbol: &Symbol) -> Option<usize> {
    let at = symbol.declared_at.as_ref()?;
    let text = cx.files.get(&at.file)?.text.clone();
    let line = text.get(at.start..at.end)?;
    let name = line.rfind(symbol.name.as_str())?;
    Some(at.start + name)
}

/// The symbol that has the new name in the same container.
fn taken(cx: &Context<'_>, symbol: &Symbol, new_name: &str) -> Option<Symbol> {
    let (around, _) = symbol.path.rsplit_once("::")?;
    let query = SymbolQuery { symbol: format!("{around}::{new_name}"), ..SymbolQuery::default() };
    let other = match resolve::resolve(cx, &query) {
        Ok(meant) => meant.symbol,
        Err(error) if error.code == Code::AmbiguousSymbol => error.help.symbols.into_iter().next()?,
        Err(_) => return None,
    };
    // A shorter path may have led elsewhere, and a value may have the name of a type.
    let same_place = other.path.rsplit_once("::").is_some_and(|(there, _)| there == around);
    (same_place && namespace(&other) == namespace(symbol)).then_some(other)
}

fn rename_edits(cx: &Context<'_>, symbol: Symbol, new_name: &str, change: &SourceChange) -> Result<Renaming> {
    let mut renaming = unchanged(symbol);
    for (&id, (edit, _)) in &change.source_file_edits {
        if let Some(of) = cx.environment.doctests.of_module(id) {
            let parts = edit.iter().map(|it| (span(it.delete), it.insert.as_str()));
            for (at, text) in parts.filter_map(|(at, text)| Some((of.place(at)?, text))) {
                add_part(&mut renaming, &of.name, at, text);
            }
            continue;
        }
        let name = cx.name_of(id).filter(|it| cx.files.get(it).is_some());
        let file = name.ok_or_else(|| refused("a file outside of the workspace would change".to_owned()))?;
        let text = cx.files.get(&file).map(|it| it.text.clone()).unwrap_or_default();
        let names_it = |at: Span| !matches!(text.get(at.start..at.end), Some("super" | "self" | "crate" | "Self"));
        let parts = edit.iter().map(|it| (span(it.delete), it.insert.clone()));
        let parts: Vec<(Span, String)> = parts.filter(|it| names_it(it.0)).collect();
        if parts.iter().any(|it| it.1.contains("r#") && !new_name.contains("r#")) {
            return Err(refused(format!("`{new_name}` is a keyword: say `r#{new_name}` if it is meant all the same")));
        }
        for (at, text) in parts {
            add_part(&mut renaming, &file, at, &text);
        }
    }
    for edit in &change.file_system_edits {
        match edit {
            FileSystemEdit::MoveFile { src, dst } => {
                let from = cx.name_of(*src).unwrap_or_default();
                let to = cx.name_of(dst.anchor).and_then(|anchor| beside(&anchor, &dst.path));
                renaming.moves.push((from, to.ok_or_else(|| refused("a file would leave the workspace".to_owned()))?));
            }
            FileSystemEdit::MoveDir { src, dst, .. } => {
                let from = cx.name_of(src.anchor).and_then(|anchor| beside(&anchor, &src.path));
                let to = cx.name_of(dst.anchor).and_then(|anchor| beside(&anchor, &dst.path));
                let (Some(from), Some(to)) = (from, to) else {
                    return Err(refused("a directory would leave the workspace".to_owned()));
                };
                for file in cx.files.below(&from) {
                    let rest = file.path.strip_prefix(from.as_str()).unwrap_or_default();
                    renaming.moves.push((file.path.to_string(), format!("{to}{rest}")));
                }
            }
            FileSystemEdit::CreateFile { .. } => {}
        }
    }
    Ok(renaming)
}

/// The edit of a name: a shorthand for a field and a variable or constant is written out.
fn without_shorthand(cx: &Context<'_>, place: &Place, is_field: bool, new_name: &str) -> (Span, String) {
    let plain = (place.span(), new_name.to_owned());
    let Some((file, id)) = cx.files.get(&place.file).zip(cx.file_id(&place.file)) else { return plain };
    let tree = cx.sema.parse_guess_edition(id);
    let token = tokens_at(tree.syntax(), place.start).right_biased();
    let is_of_field = |it: SyntaxKind| ast::RecordExprField::can_cast(it) || ast::RecordPatField::can_cast(it);
    // Around a name in a pattern or a path of one name.
    let field = token.and_then(|it| it.parent_ancestors().take(5).find(|it| is_of_field(it.kind())));
    let is_shorthand = |it: &SyntaxNode| it.children_with_tokens().all(|it| it.kind() != T![:]);
    let Some(field) = field.filter(is_shorthand) else { return plain };
    if is_field {
        let start = usize::from(field.text_range().start());
        return (Span::new(start, start), format!("{new_name}: "));
    }
    let old_name = file.text.get(place.start..place.end).unwrap_or_default();
    (place.span(), format!("{old_name}: {new_name}"))
}

fn unchanged(symbol: Symbol) -> Renaming {
    Renaming { symbol, rewrites: Vec::new(), moves: Vec::new(), possible: Vec::new(), outside_builds: Vec::new() }
}

/// The files that may hold the expected output of a UI test: `trybuild` and the like compare what the compiler prints
/// with the file beside the test.
fn expected_outputs(file: &str) -> Vec<String> {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    ["stderr", "stdout", "fixed"].map(|it| format!("{stem}.{it}")).into()
}

/// Adds usages in the index that rust-analyzer leaves out: mainly links in docs.
fn complete(
    cx: &Context<'_>,
    renaming: &mut Renaming,
    usages: &UsagePage,
    ambiguous: &[(String, usize)],
    new_name: &str,
) {
    let old_name = renaming.symbol.name.clone();
    for usage in usages.items.iter().chain(&usages.outside_builds).filter(|it| it.role != Role::SelfType) {
        let Some(file) = cx.files.get(&usage.place.file) else { continue };
        let place = usage.place.span();
        if file.text.get(place.start..place.end).map(plain_name) != Some(old_name.as_str()) {
            let detail = "a procedural macro that is called here writes the name";
            renaming.possible.extend(usage.calls.map(|_| Usage { doubt: Some(in_macro(detail)), ..usage.clone() }));
            continue;
        }
        if ambiguous.iter().any(|it| it.0 == usage.place.file && it.1 == place.start) {
            let detail = "in the output of some calls of the macro it names something else";
            renaming.possible.push(Usage { doubt: Some(in_macro(detail)), ..usage.clone() });
            continue;
        }
        let is_field = renaming.symbol.kind == SymbolKind::Field;
        let (place, text) = without_shorthand(cx, &usage.place, is_field, new_name);
        add_part(renaming, &usage.place.file, place, &text);
    }
    let outside: BTreeSet<&str> = usages.outside_builds.iter().map(|it| it.place.file.as_str()).collect();
    let rewritten = outside.into_iter().filter(|file| renaming.rewrites.iter().any(|it| it.file == **file));
    renaming.outside_builds = rewritten.map(|it| (it.to_owned(), expected_outputs(it))).collect();
    let covered = |file: &str, place: Span| {
        let of_file = renaming.rewrites.iter().filter(|it| it.file == file);
        of_file.flat_map(|it| &it.parts).any(|(known, _)| known.start <= place.end && place.start <= known.end)
    };
    let possible = usages.possible.iter().filter(|it| !covered(&it.place.file, it.place.span()));
    let possible: Vec<Usage> = possible.cloned().collect();
    renaming.possible.extend(possible);
}

fn in_macro(detail: &str) -> Doubt {
    Doubt { reason: PossibleReason::MacroInput, detail: detail.to_owned() }
}

/// The name in a declaration. For a module, those in all `mod` lines that declare it: each crate that includes its file
/// has one.
fn declarations_of<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<(String, Span)> {
    let Some(key @ Key::Module(_)) = Key::of(definition) else {
        let target = definition.try_to_nav(&cx.sema).map(|it| it.call_site);
        let named = target.and_then(|it| Some((cx.name_of(it.file_id)?, span(it.focus_range?))));
        return named.filter(|it| cx.files.get(&it.0).is_some()).into_iter().collect();
    };
    let twins = instances::twins(cx.db, instances::canonical(cx.db, key)).into_iter();
    let declared = twins.filter_map(|it| match it {
        Key::Module(it) => it.declaration_source(cx.db),
        _ => None,
    });
    let name = |it: InFile<ast::Module>| {
        let file = cx.name_of(it.file_id.file_id()?.file_id(cx.db)).filter(|it| cx.files.get(it).is_some())?;
        Some((file, span(it.value.name()?.syntax().text_range())))
    };
    declared.filter_map(name).collect()
}

/// The file that a module's name leads to: it would have to be moved.
fn named_by_it<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<String> {
    let Definition::Module(module) = definition else { return None };
    let declared = module.declaration_source(cx.db)?.value;
    let has_path = ast::HasAttrs::attrs(&declared).any(|it| it.simple_name().is_some_and(|it| it == "path"));
    if declared.item_list().is_some() || has_path {
        return None;
    }
    cx.name_of(module.definition_source_file_id(cx.db).original_file(cx.db).file_id(cx.db))
}

/// Adds an edit, unless the name is edited already.
fn add_part(renaming: &mut Renaming, file: &str, place: Span, new_name: &str) {
    let rewrite = renaming.rewrites.iter().position(|it| it.file == file);
    let at = rewrite.unwrap_or_else(|| {
        renaming.rewrites.push(Rewrite { file: file.to_owned(), parts: Vec::new() });
        renaming.rewrites.len() - 1
    });
    let parts = &mut renaming.rewrites[at].parts;
    if !parts.iter().any(|(known, _)| known.start <= place.end && place.start <= known.end) {
        parts.push((place, new_name.to_owned()));
    }
}

/// Names in the same namespace clash.
fn namespace(symbol: &Symbol) -> u8 {
    use semdex_model::SymbolKind::*;
    match symbol.kind {
        Module | Package | Struct | Enum | Union | Trait | Interface | Type | Impl => 0,
        Function | Method | Const | Static | Variable => 1,
        Variant => 2,
        Field => 3,
        Macro => 4,
    }
}

/// A path relative to a file's directory, as a file of the workspace.
fn beside(anchor: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = anchor.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn refused(detail: String) -> Stop {
    Error::new(Code::RenameRefused, detail).into()
}
