//! The meaning of each name in a text. Every occurrence is classified: it names something, it declares something, it is
//! not a symbol's name, or it cannot be resolved.

pub(crate) mod all_instances;
pub(crate) mod builds;
pub(crate) mod database;
pub(crate) mod definitions;
pub(crate) mod doc_links;
pub(crate) mod included;
pub(crate) mod instances;
pub(crate) mod macro_output;
pub(crate) mod outside_crates;
pub(crate) mod root_imports;
pub(crate) mod textual_scope;

use std::cell::{Cell, OnceCell};
use std::iter;

use ra_ap_cfg::CfgOptions;
use ra_ap_hir::{
    Adt, AssocItemContainer, BuiltinType, Const, Crate, EnumVariant, ExternCrateDecl, Field, Function, HirFileId,
    InFile, Macro, Module, Semantics, Static, Trait, TypeAlias,
};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::{Definition, NameClass, NameRefClass};
use ra_ap_syntax::ast::{HasAttrs as _, HasName as _};
use ra_ap_syntax::{AstNode as _, AstToken as _, SyntaxKind, SyntaxNode, SyntaxToken, TextRange, ast};

use self::definitions::{as_assoc_item, in_trait};
use self::doc_links::doc_links;
use self::included::Included;
use self::instances::{canonical, twins};
use crate::bounds;
use crate::syntax::attributes::cfg_condition;
use crate::syntax::is_read_by_tools;
use crate::syntax::positions::{span, text_size, tokens_at};
use semdex_model::{Role, Span};
use semdex_text::words::words;

/// The meaning of one occurrence of a name.
#[derive(Clone)]
pub(crate) enum Resolution<'db> {
    /// It names these: several if it is in a macro's input, or is a shorthand for a field and a local.
    Names(Vec<(Definition<'db>, Role)>),
    /// It declares this, and may therefore implement a trait's item.
    Declares(Definition<'db>),
    /// It names something that is not a symbol.
    Other,
    Unresolved(UnresolvedReason),
}

impl Resolution<'_> {
    /// Whether both name or declare the same definition.
    fn agrees_with(&self, other: &Resolution<'_>) -> bool {
        self.definitions().any(|it| other.definitions().any(|other| it == other))
    }

    fn definitions(&self) -> impl Iterator<Item = &Definition<'_>> {
        let (named, declared) = match self {
            Resolution::Names(named) => (named.as_slice(), None),
            Resolution::Declares(declared) => (&[][..], Some(declared)),
            Resolution::Other | Resolution::Unresolved(_) => (&[][..], None),
        };
        named.iter().map(|it| &it.0).chain(declared)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum UnresolvedReason {
    NoCrate,
    /// The crates are not known yet.
    NotLoaded,
    /// It is in a file that no crate includes, and a program of this file does not resolve it.
    OutsideBuilds,
    MacroInput,
    Inactive,
    UnknownType,
    /// The time limit was reached before it was resolved.
    OutOfTime,
    /// Its file is not analysed.
    TooDeep,
    /// It is in a file of another kind that `include!` takes in.
    Included,
    /// The analysis of the code around it exceeds its bound.
    Abandoned,
}

/// A definition without the lifetime of a query, which an index can store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Adt(Adt),
    BuiltinType(BuiltinType),
    Const(Const),
    Crate(Crate),
    ExternCrate(ExternCrateDecl),
    Field(Field),
    Function(Function),
    Macro(Macro),
    Module(Module),
    Static(Static),
    Trait(Trait),
    TypeAlias(TypeAlias),
    Variant(EnumVariant),
}

impl Key {
    /// `None` for definitions without a path: locals, generic parameters, labels.
    pub(crate) fn of(definition: Definition<'_>) -> Option<Key> {
        Some(match definition {
            Definition::Adt(it) => Key::Adt(it),
            Definition::BuiltinType(it) => Key::BuiltinType(it),
            Definition::Const(it) => Key::Const(it),
            Definition::Crate(it) => Key::Crate(it),
            Definition::ExternCrateDecl(it) => Key::ExternCrate(it),
            Definition::Field(it) => Key::Field(it),
            Definition::Function(it) => Key::Function(it),
            Definition::Macro(it) => Key::Macro(it),
            Definition::Module(it) => Key::Module(it),
            Definition::Static(it) => Key::Static(it),
            Definition::Trait(it) => Key::Trait(it),
            Definition::TypeAlias(it) => Key::TypeAlias(it),
            Definition::EnumVariant(it) => Key::Variant(it),
            _ => return None,
        })
    }

    pub(crate) fn definition<'db>(self) -> Definition<'db> {
        match self {
            Key::Adt(it) => Definition::Adt(it),
            Key::BuiltinType(it) => Definition::BuiltinType(it),
            Key::Const(it) => Definition::Const(it),
            Key::Crate(it) => Definition::Crate(it),
            Key::ExternCrate(it) => Definition::ExternCrateDecl(it),
            Key::Field(it) => Definition::Field(it),
            Key::Function(it) => Definition::Function(it),
            Key::Macro(it) => Definition::Macro(it),
            Key::Module(it) => Definition::Module(it),
            Key::Static(it) => Definition::Static(it),
            Key::Trait(it) => Definition::Trait(it),
            Key::TypeAlias(it) => Definition::TypeAlias(it),
            Key::Variant(it) => Definition::EnumVariant(it),
        }
    }
}

/// The meaning of a name: a definition, or the declaration of one. Twins are represented by one of them (`instances`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Meaning {
    pub(crate) definition: Key,
    /// The trait's item, if the definition is in an implementation of it; otherwise the definition.
    pub(crate) original: Key,
    pub(crate) declares: bool,
}

impl Meaning {
    pub(crate) fn new(definition: Definition<'_>, declares: bool, db: &RootDatabase) -> Option<Meaning> {
        let meant = match definition {
            Definition::SelfType(it) => Definition::Adt(it.self_ty(db).as_adt()?),
            it => it,
        };
        let original = canonical(db, Key::of(in_trait(meant, db))?);
        let definition = canonical(db, Key::of(meant)?);
        // A declaration is a usage only of the trait's item that it implements, and of the associated types that
        // implement it.
        let is_type = matches!(definition, Key::TypeAlias(_)) && as_assoc_item(meant, db).is_some();
        (!declares || definition != original || is_type).then_some(Meaning { definition, original, declares })
    }
}

/// The target of a search, with what counts as a usage of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) key: Key,
    /// A crate whose root module is the target: its name is a usage too.
    krate: Option<Crate>,
    /// For a trait's item: usages of its implementations count too.
    is_trait_item: bool,
    /// For an associated type, the trait's own: no usage can be attributed to a single implementation.
    associated_type: Option<Key>,
}

impl Target {
    pub(crate) fn new(definition: Definition<'_>, db: &RootDatabase) -> Option<Target> {
        let key = canonical(db, Key::of(definition)?);
        let definition = key.definition();
        let mut target = Target { key, krate: None, is_trait_item: false, associated_type: None };
        if let Definition::Module(module) = definition
            && module.is_crate_root(db)
        {
            target.krate = Some(module.krate(db));
        }
        if let Some(item) = as_assoc_item(definition, db) {
            if matches!(definition, Definition::TypeAlias(_)) {
                target.associated_type = Key::of(in_trait(definition, db)).map(|it| canonical(db, it));
            } else {
                target.is_trait_item = matches!(item.container(db), AssocItemContainer::Trait(_));
            }
        }
        Some(target)
    }

    /// The meanings that count as a usage of it.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> {
        let other = self.associated_type.filter(|it| *it != self.key);
        [Some(self.key), self.krate.map(Key::Crate), other].into_iter().flatten()
    }

    pub(crate) fn is_meant_by(&self, meaning: &Meaning) -> bool {
        let is_it = meaning.definition == self.key || self.krate.is_some_and(|it| meaning.definition == Key::Crate(it));
        if is_it {
            return !meaning.declares;
        }
        let is_other = meaning.original != meaning.definition;
        (self.is_trait_item && is_other && meaning.original == self.key)
            || self.associated_type.is_some_and(|it| it == meaning.original)
    }

    /// The words by which a text may name it.
    pub(crate) fn words(&self, db: &RootDatabase) -> Vec<String> {
        let definition = self.key.definition();
        let mut words = Vec::new();
        match definition {
            Definition::Module(module) if module.is_crate_root(db) => {
                for key in twins(db, Key::Crate(module.krate(db))) {
                    let Key::Crate(krate) = key else { continue };
                    let name = krate.display_name(db);
                    words.extend(name.map(|it| it.crate_name().symbol().as_str().to_owned()));
                    words.extend(names_in_dependents(db, krate));
                }
                words.extend(["crate", "self", "super"].map(str::to_owned));
            }
            Definition::Module(_) => words.extend(["self", "super"].map(str::to_owned)),
            Definition::Adt(_) => words.push("Self".to_owned()),
            _ => {}
        }
        words.extend(definition.name(db).map(|it| it.as_str().to_owned()));
        words.sort_unstable();
        words.dedup();
        words
    }
}

/// The names that the manifests of other crates give a crate (`package = "…"`).
fn names_in_dependents(db: &RootDatabase, krate: Crate) -> Vec<String> {
    let dependents = krate.reverse_dependencies(db).into_iter();
    let given = dependents.flat_map(|it| it.dependencies(db)).filter(|it| it.krate == krate);
    given.map(|it| it.name.as_str().to_owned()).collect()
}

/// Resolves the names of one file.
pub(crate) struct Reader<'a, 'db> {
    sema: &'a Semantics<'db, RootDatabase>,
    file: FileId,
    tree: SyntaxNode,
    krate: Option<Crate>,
    /// Computed on first use.
    included: OnceCell<Option<Included>>,
    /// Computed on first use.
    left_out: OnceCell<Vec<TextRange>>,
    /// Computed on first use.
    doc_links: OnceCell<Vec<(usize, Definition<'db>)>>,
    /// The last item whose analysis exceeded its bound: its other names are not resolved either.
    abandoned: Cell<Option<TextRange>>,
}

impl<'a, 'db> Reader<'a, 'db> {
    pub(crate) fn new(sema: &'a Semantics<'db, RootDatabase>, file: FileId) -> Reader<'a, 'db> {
        let tree = sema.parse_guess_edition(file);
        let krate = sema.file_to_module_def(file).map(|it| it.krate(sema.db));
        Reader {
            sema,
            file,
            tree: tree.syntax().clone(),
            krate,
            included: OnceCell::new(),
            left_out: OnceCell::new(),
            doc_links: OnceCell::new(),
            abandoned: Cell::new(None),
        }
    }

    fn doc_links(&self) -> &[(usize, Definition<'db>)] {
        self.doc_links.get_or_init(|| doc_links(self.sema, self.file, &self.tree, self.included()))
    }

    fn included(&self) -> Option<&Included> {
        self.included.get_or_init(|| Included::find(self.sema, self.file, &self.tree)).as_ref()
    }

    /// The target of a doc link at the word at an offset.
    fn linked(&self, comment: &SyntaxToken, at: usize) -> Option<Resolution<'db>> {
        if self.krate.is_none() || !comment.text().contains('[') {
            return None;
        }
        let links = self.doc_links();
        let first = links.partition_point(|it| it.0 < at);
        let named: Vec<_> = links[first..].iter().take_while(|it| it.0 == at).map(|it| (it.1, Role::Doc)).collect();
        (!named.is_empty()).then_some(Resolution::Names(named))
    }

    /// The meaning of the word at an offset. `None` if it is not a name: in a comment, in a string, or a part of
    /// another word.
    pub(crate) fn read(&self, at: usize, word: &str) -> Option<Resolution<'db>> {
        let token = tokens_at(&self.tree, at).right_biased()?;
        if token.kind() == SyntaxKind::COMMENT {
            return self.linked(&token, at);
        }
        let token = nameable(token, word)?;
        Some(self.resolve_token(&token, at))
    }

    /// The names among these words, which are given with their offsets.
    pub(crate) fn read_words(&self, words: &[(usize, &str)], mut visit: impl FnMut(usize, Resolution<'db>)) {
        for &(at, word) in words {
            if let Some(resolution) = self.read(at, word) {
                visit(at, resolution);
            }
        }
    }

    /// All names of the file, in the order of its text.
    pub(crate) fn read_all(&self, visit: impl FnMut(usize, Resolution<'db>)) {
        self.read_within(span(self.tree.text_range()), visit);
    }

    /// The names of the tokens in a part of the file.
    pub(crate) fn read_within(&self, part: Span, mut visit: impl FnMut(usize, Resolution<'db>)) {
        let first = self.tree.token_at_offset(text_size(part.start)).right_biased();
        let tokens = iter::successors(first, SyntaxToken::next_token);
        for token in tokens.take_while(|it| usize::from(it.text_range().end()) <= part.end) {
            let start = usize::from(token.text_range().start());
            let text = token.text();
            if token.kind() == SyntaxKind::STRING {
                if text.contains('{') {
                    for (at, _) in words(text) {
                        visit(start + at, self.resolve_token(&token, start + at));
                    }
                }
            } else if token.kind() == SyntaxKind::COMMENT {
                for (at, _) in words(text).filter(|_| text.contains('[')) {
                    if let Some(resolution) = self.linked(&token, start + at) {
                        visit(start + at, resolution);
                    }
                }
            } else if is_name(&token) {
                let at = start + if text.starts_with("r#") { 2 } else { 0 };
                visit(at, self.resolve_token(&token, at));
            }
        }
    }

    /// Whether names could not be resolved because the analysis of the code around them exceeds its bound.
    pub(crate) fn has_abandoned(&self) -> bool {
        self.abandoned.get().is_some()
    }

    fn resolve_token(&self, token: &SyntaxToken, at: usize) -> Resolution<'db> {
        if self.abandoned.get().is_some_and(|it| it.contains_range(token.text_range())) {
            return Resolution::Unresolved(UnresolvedReason::Abandoned);
        }
        bounds::catch(|| self.resolve(token, at)).unwrap_or_else(|_| {
            let item = token.parent_ancestors().find(|it| ast::Item::can_cast(it.kind()));
            self.abandoned.set(Some(item.map_or(token.text_range(), |it| it.text_range())));
            Resolution::Unresolved(UnresolvedReason::Abandoned)
        })
    }

    /// Whether a `cfg` switches off the code around a token in the crate for which the file is read. rust-analyzer gives
    /// such code the meaning that it would have in the module around it.
    fn is_left_out(&self, token: &SyntaxToken) -> bool {
        let Some(krate) = self.krate else { return false };
        let stretches = self.left_out.get_or_init(|| left_out(&self.tree, krate.cfg(self.sema.db)));
        stretches.iter().any(|it| it.contains_range(token.text_range()))
    }

    fn resolve(&self, token: &SyntaxToken, at: usize) -> Resolution<'db> {
        if token.kind() == SyntaxKind::STRING && self.is_left_out(token) {
            return Resolution::Other;
        }
        if token.kind() == SyntaxKind::STRING && self.krate.is_none() {
            // It may be a format string.
            let is_input = token.parent().is_some_and(|it| it.kind() == SyntaxKind::TOKEN_TREE);
            let before = token.text().get(..at.saturating_sub(usize::from(token.text_range().start())));
            return match is_input && before.is_some_and(|it| it.ends_with('{')) {
                true => Resolution::Unresolved(UnresolvedReason::NoCrate),
                false => Resolution::Other,
            };
        }
        if token.kind() == SyntaxKind::STRING {
            return match self.sema.check_for_format_args_template(token.clone(), text_size(at)) {
                Some((.., Some(resolution))) => {
                    Resolution::Names(vec![(resolution.either(Definition::from, Definition::from), Role::Read)])
                }
                _ => Resolution::Other,
            };
        }
        if self.krate.is_none() {
            return match token.parent().is_some_and(|it| declares_only(&it)) {
                true => Resolution::Other,
                false => Resolution::Unresolved(UnresolvedReason::NoCrate),
            };
        }
        let included = self.included();
        let copies = included.map(|it| it.copies(token)).unwrap_or_default();
        if let Some(included) = included.filter(|_| !copies.is_empty()) {
            return self.meaning_of(copies, included.expansion, token);
        }
        self.meaning_of(std::slice::from_ref(token), self.sema.hir_file_for(&self.tree), token)
    }

    /// The meaning of a token: of itself or of its copies in the file that is compiled in its place.
    fn meaning_of(&self, compiled: &[SyntaxToken], file: HirFileId, token: &SyntaxToken) -> Resolution<'db> {
        let is_inside = |it: &SyntaxToken| self.sema.is_inside_macro_call(InFile::new(file, it));
        let inside = compiled.iter().any(is_inside);
        if self.is_left_out(token) {
            let is_declaration = token.parent().is_some_and(|it| {
                let around = it.parent().map(|it| it.kind());
                it.kind() == SyntaxKind::NAME && around != Some(SyntaxKind::IDENT_PAT)
            });
            return match is_declaration {
                true => Resolution::Other,
                false => Resolution::Unresolved(UnresolvedReason::Inactive),
            };
        }
        self.meaning_in(compiled, inside, token)
    }

    /// The same for code that no `cfg` switches off.
    fn meaning_in(&self, compiled: &[SyntaxToken], inside: bool, token: &SyntaxToken) -> Resolution<'db> {
        let descend = |it: &SyntaxToken| match inside {
            true => self.sema.descend_into_macros_exact(it.clone()).into_iter().collect(),
            false => vec![it.clone()],
        };
        let tokens: Vec<SyntaxToken> = compiled.iter().flat_map(descend).collect();
        let mut names = Vec::new();
        let mut declared = None;
        let mut is_other = false;
        for parent in tokens.iter().filter_map(SyntaxToken::parent) {
            match self.resolve_node(&parent) {
                Some(Resolution::Names(it)) => names.extend(it),
                Some(Resolution::Declares(it)) => declared = Some(it),
                Some(Resolution::Other) => is_other = true,
                Some(Resolution::Unresolved(_)) | None => {}
            }
        }
        if !names.is_empty() {
            let named = Resolution::Names(names);
            let is_in_attribute = token.parent_ancestors().any(|it| ast::Attr::can_cast(it.kind()));
            return if is_in_attribute { self.with_bound_fields(named) } else { named };
        }
        match declared {
            Some(definition) => Resolution::Declares(definition),
            None if is_other || is_in_compiler_attribute(token) => Resolution::Other,
            None if inside && tokens.iter().all(|it| self.is_consumed(it)) => Resolution::Other,
            None => Resolution::Unresolved(why_unresolved(token, inside)),
        }
    }

    /// Whether a token is input of a macro that does not write it: `stringify!` makes text of it, a derive or attribute
    /// macro compares it with the keys of its arguments. Names that a macro puts together of its input, or writes without
    /// saying where they come from, are found in its output. An item that an attribute macro drops may be compiled by
    /// another compiler or for another system.
    fn is_consumed(&self, token: &SyntaxToken) -> bool {
        let db = self.sema.db;
        let is_input = token.parent().is_some_and(|it| it.kind() == SyntaxKind::TOKEN_TREE);
        let mut is_in_attribute = false;
        for node in token.parent_ancestors() {
            if let Some(call) = ast::MacroCall::cast(node.clone()).filter(|_| is_input)
                && let Some(expanded) = self.sema.to_def(&call)
            {
                return expanded.parse_macro_expansion_error(db).is_none();
            }
            if let Some(attribute) = ast::Attr::cast(node.clone()) {
                if let Some(is_whole) = self.is_expanded_helper(&attribute, token) {
                    return is_whole;
                }
                is_in_attribute = true;
            }
            let item = ast::Item::cast(node).filter(|_| is_in_attribute);
            if let Some(changed) = item.and_then(|it| self.sema.expand_attr_macro(&it)) {
                return changed.err.is_none();
            }
        }
        false
    }

    /// Whether all derive macros of a type with this attribute of theirs were expanded. `None` for another attribute.
    fn is_expanded_helper(&self, attribute: &ast::Attr, token: &SyntaxToken) -> Option<bool> {
        let at = token.text_range();
        let meta = attribute.skip_cfg_attrs().into_iter().find(|it| it.syntax().text_range().contains_range(at))?;
        let name = meta.path()?.as_single_name_ref()?;
        let adt = attribute.syntax().ancestors().find_map(ast::Adt::cast)?;
        let helpers = self.sema.derive_helpers_in_scope(&adt)?;
        helpers.iter().find(|it| it.0.as_str() == name.text())?;
        let metas = adt.attrs().flat_map(|it| it.skip_cfg_attrs());
        let mut expanded = metas.filter_map(|it| self.sema.expand_derive_macro(&it)).flatten().flatten();
        Some(expanded.all(|it| it.err.is_none()))
    }

    /// Takes locals for the fields whose names they have from patterns like `Point { x, .. }`. Code in attributes and
    /// strings names the fields of its type in this way.
    fn with_bound_fields(&self, named: Resolution<'db>) -> Resolution<'db> {
        let Resolution::Names(mut named) = named else { return named };
        for (definition, _) in &mut named {
            let Definition::Local(local) = definition else { continue };
            let source = local.primary_source(self.sema.db).source;
            self.sema.parse_or_expand(source.file_id);
            let name = source.value.left().and_then(|it| it.name());
            if let Some(NameClass::PatFieldShorthand { field_ref, .. }) =
                name.and_then(|it| NameClass::classify(self.sema, &it))
            {
                *definition = Definition::Field(field_ref);
            }
        }
        Resolution::Names(named)
    }

    /// The macro that a name in a call means by its textual scope.
    fn called_by_text(&self, name: &ast::NameRef) -> Option<Macro> {
        let path = name.syntax().parent().and_then(ast::PathSegment::cast)?.parent_path();
        let call = path.syntax().parent().and_then(ast::MacroCall::cast)?;
        textual_scope::macro_of(self.sema, &call)
    }

    fn resolve_node(&self, node: &SyntaxNode) -> Option<Resolution<'db>> {
        match ast::NameLike::cast(node.clone())? {
            ast::NameLike::NameRef(name) if let Some(it) = self.called_by_text(&name) => {
                Some(Resolution::Names(vec![(Definition::Macro(it), Role::Call)]))
            }
            ast::NameLike::NameRef(name) if let Some(meant) = root_imports::meant_from_root(self.sema, &name) => {
                let definition = Definition::from(meant?);
                Some(Resolution::Names(vec![(definition, role_of(&name, definition))]))
            }
            ast::NameLike::NameRef(name) => match NameRefClass::classify(self.sema, &name)? {
                NameRefClass::Definition(definition, _) => {
                    let role = role_of(&name, definition);
                    Some(Resolution::Names(vec![(definition, role)]))
                }
                NameRefClass::FieldShorthand { local_ref, field_ref, .. } => Some(Resolution::Names(vec![
                    (Definition::Field(field_ref), Role::Write),
                    (Definition::Local(local_ref), Role::Read),
                ])),
                NameRefClass::ExternCrateShorthand { decl, krate } => Some(Resolution::Names(vec![
                    (Definition::ExternCrateDecl(decl), Role::Import),
                    (Definition::Crate(krate), Role::Import),
                ])),
            },
            ast::NameLike::Name(name) => match NameClass::classify(self.sema, &name) {
                Some(NameClass::Definition(definition)) => Some(Resolution::Declares(definition)),
                Some(NameClass::ConstReference(definition)) => Some(Resolution::Names(vec![(definition, Role::Read)])),
                Some(NameClass::PatFieldShorthand { field_ref, .. }) => {
                    Some(Resolution::Names(vec![(Definition::Field(field_ref), Role::Read)]))
                }
                // An unresolved pattern may be a constant's or a field's name; anything else is a declaration.
                None => {
                    let pattern = name.syntax().parent().filter(|it| it.kind() == SyntaxKind::IDENT_PAT);
                    let around = pattern.as_ref().and_then(SyntaxNode::parent);
                    let is_field = around.is_some_and(|it| it.kind() == SyntaxKind::RECORD_PAT_FIELD);
                    let is_constant = pattern.is_some() && name.text().starts_with(char::is_uppercase);
                    (!(is_field || is_constant)).then_some(Resolution::Other)
                }
            },
            ast::NameLike::Lifetime(_) => Some(Resolution::Other),
        }
    }
}

/// Whether a node is the name of something new, whatever is known of the code around it. The name of a pattern may be that
/// of a constant or a field, and the name of an item in an implementation of a trait is that of the trait's item.
fn declares_only(node: &SyntaxNode) -> bool {
    let Some(declared) = node.parent().filter(|_| node.kind() == SyntaxKind::NAME) else { return false };
    let around = declared.parent();
    match declared.kind() {
        SyntaxKind::IDENT_PAT => {
            let is_field = around.is_some_and(|it| it.kind() == SyntaxKind::RECORD_PAT_FIELD);
            !is_field && !node.text().to_string().starts_with(char::is_uppercase)
        }
        _ => {
            let implemented = around.filter(|it| it.kind() == SyntaxKind::ASSOC_ITEM_LIST).and_then(|it| it.parent());
            implemented.and_then(ast::Impl::cast).is_none_or(|it| it.trait_().is_none())
        }
    }
}

/// The token of a word, if it can name something: an identifier, or a string with format arguments.
fn nameable(token: SyntaxToken, word: &str) -> Option<SyntaxToken> {
    match token.kind() {
        SyntaxKind::STRING => ast::String::cast(token.clone()).map(|_| token),
        _ => (is_name(&token) && token.text().trim_start_matches("r#") == word).then_some(token),
    }
}

/// Whether a token can name something: an identifier, a keyword in place of a name, a tuple's index.
fn is_name(token: &SyntaxToken) -> bool {
    match token.kind() {
        SyntaxKind::IDENT | SyntaxKind::SELF_TYPE_KW | SyntaxKind::CRATE_KW | SyntaxKind::SUPER_KW => true,
        // As the receiver it is a local.
        SyntaxKind::SELF_KW => token.parent().is_some_and(|name| {
            let is_alone = || {
                let segment = name.parent();
                let path = segment.as_ref().and_then(SyntaxNode::parent);
                let is_single = path.as_ref().is_some_and(|it| it.first_child() == segment);
                let is_expression =
                    path.and_then(|it| it.parent()).is_some_and(|it| it.kind() == SyntaxKind::PATH_EXPR);
                is_single && is_expression
            };
            name.kind() == SyntaxKind::NAME_REF && !is_alone() || name.kind() == SyntaxKind::TOKEN_TREE
        }),
        SyntaxKind::INT_NUMBER => token.parent().is_some_and(|it| it.kind() == SyntaxKind::NAME_REF),
        // A keyword names nothing unless the edition takes it for an identifier.
        kind => {
            let is_of_name = |it: SyntaxNode| matches!(it.kind(), SyntaxKind::NAME | SyntaxKind::NAME_REF);
            kind.is_any_identifier() && token.parent().is_some_and(is_of_name)
        }
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
    // A segment before the last one leads to another item.
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
        is_read_by_tools(name)
    })
}

/// The stretches of a file that these conditions switch off.
pub(crate) fn left_out(tree: &SyntaxNode, conditions: &CfgOptions) -> Vec<TextRange> {
    let attributes = tree.descendants().filter_map(ast::Attr::cast);
    let off = attributes.filter(|it| cfg_condition(it).is_some_and(|it| conditions.check(&it) == Some(false)));
    off.filter_map(|it| Some(it.syntax().parent()?.text_range())).collect()
}

fn why_unresolved(token: &SyntaxToken, in_macro: bool) -> UnresolvedReason {
    let in_token_tree = token.parent().is_some_and(|it| it.kind() == SyntaxKind::TOKEN_TREE);
    if in_macro || in_token_tree { UnresolvedReason::MacroInput } else { UnresolvedReason::UnknownType }
}
