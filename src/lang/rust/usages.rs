//! Where symbols are named. One pass over the workspace's own text finds every occurrence of the names asked for and
//! accounts for each: it resolves to one of the symbols, to another thing, or nobody can say. So a count is not only
//! found but proved.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ra_ap_hir::InFile;
use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::salsa::Database as _;
use ra_ap_ide_db::defs::{Definition, NameClass, NameRefClass};
use ra_ap_syntax::{AstNode as _, AstToken as _, SyntaxKind, SyntaxNode, SyntaxToken, ast};

use super::paths::{as_assoc_item, in_trait};
use super::symbols::is_test_at;
use super::view::{Context, text_size};
use crate::lang::files::File;
use crate::model::{Answer, Language, Missing, MissingCode, Role, Span, Usage, Usages};

/// Attributes that the compiler reads itself: what stands in them names no symbol.
const COMPILER_ATTRIBUTES: &[&str] = &[
    "allow",
    "cfg",
    "cfg_attr",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "export_name",
    "feature",
    "forbid",
    "inline",
    "link",
    "macro_export",
    "macro_use",
    "must_use",
    "no_mangle",
    "non_exhaustive",
    "path",
    "repr",
    "rustfmt",
    "should_panic",
    "target_feature",
    "test",
    "track_caller",
    "warn",
];

/// What one occurrence of a name turned out to be.
enum Verdict<'db> {
    /// It names these: several where it stands in a macro's input, or is shorthand for a field and a local.
    Names(Vec<(Definition<'db>, Role)>),
    /// It declares this, and so may implement a trait's item.
    Declares(Definition<'db>),
    /// It names something that is no symbol.
    Other,
    Unresolved(Why),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Why {
    NoCrate,
    MacroInput,
    Inactive,
    UnknownType,
}

/// A place that names a target, or may do so.
#[derive(Clone)]
pub(super) struct Occurrence {
    pub(super) file: Arc<File>,
    pub(super) id: FileId,
    pub(super) at: Span,
    pub(super) role: Role,
}

/// What a pass found for one target.
#[derive(Default)]
pub(super) struct Found {
    pub(super) items: Vec<Occurrence>,
    possible: Vec<(Occurrence, Why)>,
}

/// The symbols that one pass looks for.
struct Targets<'db> {
    by_definition: HashMap<Definition<'db>, usize>,
    /// Items of traits: also named where their implementations are.
    by_trait_item: HashMap<Definition<'db>, usize>,
    /// Associated types, by the trait's own: a use cannot be told to mean one implementation's.
    by_associated_type: HashMap<Definition<'db>, Vec<usize>>,
    by_name: HashMap<String, Vec<usize>>,
}

impl<'db> Targets<'db> {
    fn new(context: &Context<'db>, definitions: &[Definition<'db>]) -> Targets<'db> {
        let db = context.db;
        let mut targets = Targets {
            by_definition: HashMap::new(),
            by_trait_item: HashMap::new(),
            by_associated_type: HashMap::new(),
            by_name: HashMap::new(),
        };
        for (index, &definition) in definitions.iter().enumerate() {
            targets.by_definition.insert(definition, index);
            let mut words = Vec::new();
            match definition {
                Definition::Module(module) if module.is_crate_root(db) => {
                    let krate = module.krate(db);
                    targets.by_definition.insert(Definition::Crate(krate), index);
                    words.extend(krate.display_name(db).map(|it| it.crate_name().symbol().as_str().to_owned()));
                    words.extend(["crate", "self", "super"].map(str::to_owned));
                }
                Definition::Module(_) => words.extend(["self", "super"].map(str::to_owned)),
                Definition::Adt(_) => words.push("Self".to_owned()),
                _ => {}
            }
            words.extend(definition.name(db).map(|it| it.as_str().to_owned()));
            for word in words {
                targets.by_name.entry(word).or_default().push(index);
            }
            if let Some(item) = as_assoc_item(definition, db) {
                if matches!(definition, Definition::TypeAlias(_)) {
                    targets.by_associated_type.entry(in_trait(definition, db)).or_default().push(index);
                } else if matches!(item.container(db), ra_ap_hir::AssocItemContainer::Trait(_)) {
                    targets.by_trait_item.insert(definition, index);
                }
            }
        }
        targets
    }

    /// Which targets a name of this definition is a usage of.
    fn named(&self, context: &Context<'db>, definition: Definition<'db>, declares: bool, add: &mut impl FnMut(usize)) {
        let db = context.db;
        if !declares {
            if let Definition::SelfType(it) = definition {
                if let Some(adt) = it.self_ty(db).as_adt() {
                    self.by_definition.get(&Definition::Adt(adt)).copied().into_iter().for_each(&mut *add);
                }
                return;
            }
            self.by_definition.get(&definition).copied().into_iter().for_each(&mut *add);
        }
        if self.by_trait_item.is_empty() && self.by_associated_type.is_empty() {
            return;
        }
        let original = in_trait(definition, db);
        if original != definition {
            self.by_trait_item.get(&original).copied().into_iter().for_each(&mut *add);
        }
        for &index in self.by_associated_type.get(&original).into_iter().flatten() {
            if self.by_definition.get(&definition) != Some(&index) {
                add(index);
            }
        }
    }
}

impl<'db> Context<'db> {
    /// The usages of one symbol, with the proof that there are no others.
    pub(super) fn usages_of(&self, definition: Definition<'db>) -> Answer<Usages> {
        let found = self.find(&[definition]).pop().unwrap_or_default();
        let mut coverage = self.coverage(false);
        let whys: HashSet<Why> = found.possible.iter().map(|it| it.1).collect();
        for why in [Why::NoCrate, Why::MacroInput, Why::Inactive, Why::UnknownType] {
            if whys.contains(&why) {
                let count = found.possible.iter().filter(|it| it.1 == why).count();
                coverage.lacks(why.missing(count));
            }
        }
        let mut enclosing = HashMap::new();
        let mut usage = |it: &Occurrence| self.usage(it, &mut enclosing);
        let items = found.items.iter().map(&mut usage).collect();
        let possible = found.possible.iter().map(|it| usage(&it.0)).collect();
        Answer { value: Usages { items, possible }, coverage }
    }

    fn usage(&self, it: &Occurrence, enclosing: &mut HashMap<(FileId, usize), Option<String>>) -> Usage {
        let place = it.file.lines().place(&it.file.path, it.at);
        let innermost = it.file.outline().enclosing(it.at.start).last().map_or(0, |item| item.span.start);
        let symbol = enclosing
            .entry((it.id, innermost))
            .or_insert_with(|| self.enclosing_path(&it.file, it.id, it.at.start))
            .clone();
        Usage {
            text: self.line(&it.file, &place),
            place,
            symbol,
            role: it.role,
            test: is_test_at(&it.file, it.at.start),
        }
    }

    /// One pass for any number of symbols; the results stand in their order.
    pub(super) fn find(&self, definitions: &[Definition<'db>]) -> Vec<Found> {
        let targets = Targets::new(self, definitions);
        let mut found: Vec<Found> = definitions.iter().map(|_| Found::default()).collect();
        let single = (targets.by_name.len() == 1).then(|| targets.by_name.keys().next()).flatten();
        for file in self.files.of(Language::Rust) {
            self.db.unwind_if_revision_cancelled();
            if single.is_some_and(|name| memchr::memmem::find(file.text.as_bytes(), name.as_bytes()).is_none()) {
                continue;
            }
            let Some(id) = self.file_id(&file.path) else { continue };
            self.find_in(file, id, &targets, &mut found);
        }
        found
    }

    fn find_in(&self, file: &Arc<File>, id: FileId, targets: &Targets<'db>, found: &mut [Found]) {
        let mut tree = None;
        let in_a_crate = self.sema.file_to_module_def(id).is_some();
        for (at, word) in words(&file.text) {
            let Some(wanted) = targets.by_name.get(word) else { continue };
            let tree = tree.get_or_insert_with(|| self.sema.parse_guess_edition(id));
            let Some(token) = token_at(tree.syntax(), at, word) else { continue };
            let occurrence = |role| Occurrence { file: file.clone(), id, at: Span::new(at, at + word.len()), role };
            let mut hits: Vec<(usize, Role)> = Vec::new();
            match self.judge_token(&token, at, in_a_crate) {
                Verdict::Other => {}
                Verdict::Declares(definition) => {
                    targets.named(self, definition, true, &mut |index| hits.push((index, Role::Impl)));
                }
                Verdict::Names(definitions) => {
                    for (definition, role) in definitions {
                        targets.named(self, definition, false, &mut |index| hits.push((index, role)));
                    }
                }
                Verdict::Unresolved(why) => {
                    // A keyword in code that cannot be resolved says nothing of this symbol.
                    let is_keyword = matches!(word, "Self" | "self" | "super" | "crate");
                    for &index in wanted.iter().filter(|_| !is_keyword) {
                        found[index].possible.push((occurrence(Role::Other), why));
                    }
                }
            }
            hits.sort_unstable();
            hits.dedup_by_key(|it| it.0);
            for (index, role) in hits {
                found[index].items.push(occurrence(role));
            }
        }
    }

    fn judge_token(&self, token: &SyntaxToken, at: usize, in_a_crate: bool) -> Verdict<'db> {
        if token.kind() == SyntaxKind::STRING {
            return match self.sema.check_for_format_args_template(token.clone(), text_size(at)) {
                Some((.., Some(resolution))) => {
                    Verdict::Names(vec![(resolution.either(Definition::from, Definition::from), Role::Read)])
                }
                _ => Verdict::Other,
            };
        }
        if !in_a_crate {
            return match token.parent().map(|it| it.kind()) {
                Some(SyntaxKind::NAME) => Verdict::Other,
                _ => Verdict::Unresolved(Why::NoCrate),
            };
        }
        let Some(file) = token.parent().and_then(|it| it.ancestors().last()) else { return Verdict::Other };
        let inside = self.sema.is_inside_macro_call(InFile::new(self.sema.hir_file_for(&file), token));
        let tokens = if inside {
            self.sema.descend_into_macros_exact(token.clone())
        } else {
            std::iter::once(token.clone()).collect()
        };
        let mut names = Vec::new();
        let mut declared = None;
        let mut is_other = false;
        for parent in tokens.iter().filter_map(SyntaxToken::parent) {
            match self.judge_node(&parent) {
                Some(Verdict::Names(it)) => names.extend(it),
                Some(Verdict::Declares(it)) => declared = Some(it),
                Some(Verdict::Other) => is_other = true,
                Some(Verdict::Unresolved(_)) | None => {}
            }
        }
        if !names.is_empty() {
            return Verdict::Names(names);
        }
        match declared {
            Some(definition) => Verdict::Declares(definition),
            None if is_other || is_in_compiler_attribute(token) => Verdict::Other,
            None => Verdict::Unresolved(why_unresolved(token, inside)),
        }
    }

    fn judge_node(&self, node: &SyntaxNode) -> Option<Verdict<'db>> {
        match ast::NameLike::cast(node.clone())? {
            ast::NameLike::NameRef(name) => match NameRefClass::classify(&self.sema, &name)? {
                NameRefClass::Definition(definition, _) => {
                    let role = role_of(&name, definition);
                    Some(Verdict::Names(vec![(definition, role)]))
                }
                NameRefClass::FieldShorthand { local_ref, field_ref, .. } => Some(Verdict::Names(vec![
                    (Definition::Field(field_ref), Role::Write),
                    (Definition::Local(local_ref), Role::Read),
                ])),
                NameRefClass::ExternCrateShorthand { decl, krate } => Some(Verdict::Names(vec![
                    (Definition::ExternCrateDecl(decl), Role::Import),
                    (Definition::Crate(krate), Role::Import),
                ])),
            },
            ast::NameLike::Name(name) => match NameClass::classify(&self.sema, &name) {
                Some(NameClass::Definition(definition)) => Some(Verdict::Declares(definition)),
                Some(NameClass::ConstReference(definition)) => Some(Verdict::Names(vec![(definition, Role::Read)])),
                Some(NameClass::PatFieldShorthand { field_ref, .. }) => {
                    Some(Verdict::Names(vec![(Definition::Field(field_ref), Role::Read)]))
                }
                // A pattern that nobody could resolve may be a constant's name; anything else declares.
                None => {
                    let is_pattern = name.syntax().parent().is_some_and(|it| it.kind() == SyntaxKind::IDENT_PAT);
                    let is_constant = name.text().starts_with(char::is_uppercase);
                    (!(is_pattern && is_constant)).then_some(Verdict::Other)
                }
            },
            ast::NameLike::Lifetime(_) => Some(Verdict::Other),
        }
    }
}

impl Why {
    fn missing(self, count: usize) -> Missing {
        let places = if count == 1 { "1 place names".to_owned() } else { format!("{count} places name") };
        let (code, detail) = match self {
            Why::NoCrate => (MissingCode::NotInAPackage, "it in files that no crate includes"),
            Why::MacroInput => (MissingCode::MacroOutput, "it in the input of a macro that could not be followed"),
            Why::Inactive => (MissingCode::CfgOff, "it in code that is switched off by `cfg`"),
            Why::UnknownType => (MissingCode::WorkspaceBroken, "it where the type is unknown"),
        };
        Missing::new(code, "rust", format!("{places} {detail}: see `possible`"))
    }
}

/// The identifiers of a text, in strings and comments too, with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |it: char| it == '_' || it.is_alphanumeric();
    let mut rest = text;
    let mut offset = 0;
    std::iter::from_fn(move || {
        let start = rest.find(is_part)?;
        let tail = &rest[start..];
        let length = tail.find(|it| !is_part(it)).unwrap_or(tail.len());
        let at = offset + start;
        offset = at + length;
        rest = &tail[length..];
        Some((at, &tail[..length]))
    })
}

/// The token of a word, if it is one that can name something: an identifier, or a string with format arguments.
fn token_at(tree: &SyntaxNode, at: usize, word: &str) -> Option<SyntaxToken> {
    let token = tree.token_at_offset(text_size(at)).right_biased()?;
    match token.kind() {
        SyntaxKind::STRING => ast::String::cast(token.clone()).map(|_| token),
        kind if kind == SyntaxKind::IDENT
            || kind.is_any_identifier()
            || kind.is_keyword(ra_ap_ide::Edition::LATEST) =>
        {
            (token.text().trim_start_matches("r#") == word).then_some(token)
        }
        _ => None,
    }
}

fn role_of(name: &ast::NameRef, definition: Definition<'_>) -> Role {
    let Some(parent) = name.syntax().parent() else { return Role::Other };
    if name.text() == "Self" {
        return Role::SelfType;
    }
    if ast::MethodCallExpr::can_cast(parent.kind()) {
        return Role::Call;
    }
    if ast::FieldExpr::can_cast(parent.kind()) {
        return access(&parent);
    }
    if ast::RecordExprField::can_cast(parent.kind()) {
        return Role::Write;
    }
    if ast::RecordPatField::can_cast(parent.kind()) {
        return Role::Read;
    }
    let Some(segment) = ast::PathSegment::cast(parent) else { return Role::Other };
    let path = segment.parent_path();
    if path.syntax().ancestors().any(|it| ast::UseTree::can_cast(it.kind())) {
        return Role::Import;
    }
    // A segment before the last leads to something else.
    if path.parent_path().is_some() {
        return if matches!(definition, Definition::Module(_) | Definition::Crate(_)) {
            Role::Other
        } else {
            Role::Type
        };
    }
    let Some(around) = path.syntax().parent() else { return Role::Other };
    match around.kind() {
        SyntaxKind::PATH_TYPE => match around.parent().map(|it| it.kind()) {
            Some(SyntaxKind::IMPL) if matches!(definition, Definition::Trait(_)) => Role::Impl,
            _ => Role::Type,
        },
        SyntaxKind::MACRO_CALL => Role::Call,
        SyntaxKind::PATH_EXPR => match around.parent() {
            Some(it) if ast::CallExpr::can_cast(it.kind()) => {
                let callee = ast::CallExpr::cast(it).and_then(|it| it.expr());
                if callee.is_some_and(|it| it.syntax() == &around) { Role::Call } else { Role::Read }
            }
            _ => access(&around),
        },
        SyntaxKind::RECORD_EXPR | SyntaxKind::RECORD_PAT | SyntaxKind::TUPLE_STRUCT_PAT => Role::Type,
        SyntaxKind::PATH_PAT => Role::Read,
        _ => Role::Other,
    }
}

/// Whether an expression is assigned to.
fn access(expression: &SyntaxNode) -> Role {
    let assigned = expression.ancestors().filter_map(ast::BinExpr::cast).any(|it| {
        matches!(it.op_kind(), Some(ast::BinaryOp::Assignment { .. }))
            && it.lhs().is_some_and(|lhs| lhs.syntax().text_range().end() == expression.text_range().end())
    });
    if assigned { Role::Write } else { Role::Read }
}

fn is_in_compiler_attribute(token: &SyntaxToken) -> bool {
    let attribute = token.parent_ancestors().find_map(ast::Attr::cast);
    attribute.is_some_and(|it| {
        let text = it.syntax().text().to_string();
        let name = text.trim_start_matches(['#', '!', '[', ' ']);
        let end = name.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(name.len());
        COMPILER_ATTRIBUTES.contains(&&name[..end])
    })
}

fn why_unresolved(token: &SyntaxToken, in_macro: bool) -> Why {
    let in_token_tree = token.parent().is_some_and(|it| it.kind() == SyntaxKind::TOKEN_TREE);
    if in_macro || in_token_tree {
        return Why::MacroInput;
    }
    let is_conditional = token.parent_ancestors().any(|node| {
        node.children().filter_map(ast::Attr::cast).any(|it| it.syntax().text().to_string().contains("cfg"))
    });
    if is_conditional { Why::Inactive } else { Why::UnknownType }
}
