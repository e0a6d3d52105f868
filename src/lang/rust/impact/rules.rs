//! What the compiler refuses and rust-analyzer does not report: names that mean nothing any more outside of
//! expressions, names that may not be seen, traits that are implemented no more, things declared twice.

use std::collections::{BTreeSet, HashSet};

use ra_ap_cfg::{CfgExpr, CfgOptions};
use ra_ap_hir::{InFile, Module};
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::algo::skip_trivia_token;
use ra_ap_syntax::{AstNode as _, Direction, SyntaxKind, SyntaxToken, ast};

use super::Scene;
use super::lost::{LostImports, Unheaded, is_of_a_body};
use super::reach::Reach;
use crate::lang::files::File;
use crate::lang::rust::delta::Delta;
use crate::lang::rust::names::{Reader, Verdict, Why};
use crate::lang::rust::view::Context;
use crate::model::{ChangeKind, Diagnostic, OutlineItem, Role, Severity, Span, SymbolKind};
use crate::text::words::{words, words_at};

/// The errors found so far, by line.
pub(super) struct Told<'a> {
    lines: HashSet<(String, usize)>,
    new: &'a mut Vec<Diagnostic>,
    /// What fails only through another place (`follows`).
    pub(super) following: Vec<Diagnostic>,
}

impl<'a> Told<'a> {
    fn new(new: &'a mut Vec<Diagnostic>) -> Told<'a> {
        // That a type is not known gives way to whatever it follows from.
        let is_of_itself = |it: &&Diagnostic| it.severity == Severity::Error && it.code.as_deref() != Some("E0282");
        let lines = new.iter().filter(is_of_itself).flat_map(|it| {
            (it.place.line..=it.place.end_line).map(|line| (it.place.file.clone(), line)).collect::<Vec<_>>()
        });
        Told { lines: lines.collect(), new, following: Vec::new() }
    }

    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        if self.lines.insert((diagnostic.place.file.clone(), diagnostic.place.line)) {
            self.new.push(diagnostic);
        }
    }

    /// Those of one code.
    pub(super) fn named(&self, code: &str) -> Vec<Diagnostic> {
        self.new.iter().filter(|it| it.code.as_deref() == Some(code)).cloned().collect()
    }

    pub(super) fn forget(&mut self, is_none: impl Fn(&Diagnostic) -> bool) {
        self.new.retain(|it| !is_none(it));
        self.lines = Told::new(self.new).lines;
    }

    pub(super) fn defer(&mut self, follows: impl FnMut(&mut Diagnostic) -> bool) {
        self.following.extend(self.new.extract_if(.., follows));
        self.lines = Told::new(self.new).lines;
    }
}

impl<'db> Context<'db> {
    /// Adds to the new errors, takes off what follows from others, and answers what follows but has to be edited too.
    pub(super) fn apply_rules(
        &self,
        reach: &Reach<'_>,
        deltas: &[(usize, Delta<'_>)],
        scene: &Scene,
        new: &mut Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        let gone = deltas.iter().filter(|it| matches!(it.1.kind, ChangeKind::Removed | ChangeKind::Renamed));
        let gone: Vec<(usize, &OutlineItem)> = gone.filter_map(|(index, it)| Some((*index, it.before?))).collect();
        let lost = |kind: SymbolKind| -> HashSet<&str> {
            let lost = gone.iter().filter(|it| it.1.kind == kind);
            lost.flat_map(|it| it.1.children.iter().map(|it| it.name.as_str())).collect()
        };
        // What a trait that is gone would have provided is missed where the trait is.
        let (lost_methods, lost_variants) = (lost(SymbolKind::Trait), lost(SymbolKind::Enum));
        new.retain(|it| match it.code.as_deref() {
            Some("E0599") => {
                let words = self.text_of(it).into_iter().flat_map(words);
                !words.into_iter().any(|(_, word)| lost_methods.contains(word))
            }
            _ => true,
        });
        let types = gone.iter().filter(|it| is_type(it.1.kind) || it.1.kind == SymbolKind::Type);
        let types: HashSet<&str> = types.map(|it| it.1.name.as_str()).collect();
        if !gone.is_empty() {
            new.retain(|it| !self.follows_from_unknown(&types, &LostImports::default(), it));
        }
        let objects = self.lost_objects(reach, scene);
        if !objects.is_empty() {
            // What is made of such objects is not known.
            new.retain(|it| it.code.as_deref() != Some("E0282"));
        }
        let mut told = Told::new(new);
        objects.into_iter().for_each(|it| told.add(it));
        let (lost_imports, broken_imports) = self.gone_names(reach, &gone, scene, &mut told);
        self.ambiguous_types(reach, scene).into_iter().for_each(|it| told.add(it));
        self.conflicts(reach, scene).into_iter().for_each(|it| told.add(it));
        for cause in reach.causes.iter().filter(|it| !it.lost.is_empty()) {
            self.lost_traits(cause, scene, &mut told);
        }
        for cause in reach.causes.iter().filter(|it| it.is_itself) {
            self.unfit_generics(cause, scene).into_iter().for_each(|it| told.add(it));
            self.calls_in_constants(cause, scene).into_iter().for_each(|it| told.add(it));
        }
        self.unread_helpers(&reach.helpers, scene).into_iter().for_each(|it| told.add(it));
        for (index, file) in scene.news.iter().enumerate() {
            let of_file: Vec<&Delta<'_>> = deltas.iter().filter(|it| it.0 == index).map(|it| &it.1).collect();
            self.unresolved_names(index, scene, reach, &lost_variants, &mut told);
            self.twice(file, &of_file, &mut told);
            self.unfit_heads(file, &of_file, &scene.loose[index], &mut told);
            self.untold_lifetimes(file, &of_file).into_iter().for_each(|it| told.add(it));
            self.without_files(file, &of_file, &mut told);
            self.without_main(file, &of_file).into_iter().for_each(|it| told.add(it));
        }
        self.unfit_types(reach, scene, &mut told);
        told.defer(|it| self.follows_from(&lost_imports, &broken_imports, it));
        let Told { new, mut following, .. } = told;
        let is_gone =
            |it: &Diagnostic| matches!(it.code.as_deref(), Some("E0432" | "E0433" | "E0412" | "E0220" | "E0603"));
        if new.iter().any(is_gone) {
            new.retain(|it| !self.follows_from_unknown(&types, &lost_imports, it));
        }
        let unheaded: Vec<Unheaded> = new.iter().filter_map(|it| self.block_headed_by(it)).collect();
        new.retain(|it| {
            !is_of_a_body(it) && !self.is_of_self(it) || !unheaded.iter().any(|of| self.is_of_unheaded(of, it))
        });
        // What follows from something unknown all the same.
        let mut late = self.unsized_texts(reach, new);
        late.extend(self.mixed_operands(reach, scene));
        late.extend(self.unmet_needs(reach, deltas, scene));
        late.extend(self.unused_parameters(reach, scene, new));
        let mut told = Told::new(new);
        late.into_iter().for_each(|it| told.add(it));
        new.sort();
        // Bodies that a macro makes tell the same of its definition.
        new.dedup();
        let mut lines = Told::new(new).lines;
        following.sort();
        following.retain(|it| {
            let name = self.text_of(it).and_then(|it| words(it).next()).map_or("", |it| it.1);
            !broken_imports.is_alias(name) && lines.insert((it.place.file.clone(), it.place.line))
        });
        following
    }

    /// Whether no macro puts something else in the place of what stands there.
    fn is_as_written(&self, id: FileId, token: &SyntaxToken) -> bool {
        let root = self.sema.hir_file_for(self.sema.parse_guess_edition(id).syntax());
        token.parent_ancestors().all(|it| {
            let is_input = ast::TokenTree::can_cast(it.kind()) || ast::MacroCall::can_cast(it.kind());
            let item = ast::Item::cast(it);
            !is_input && item.is_none_or(|it| !self.sema.is_attr_macro_call(InFile::new(root, &it)))
        })
    }

    /// Whether the compiler does not read what stands there, for a `cfg` around it.
    pub(super) fn is_left_out(&self, id: FileId, token: &SyntaxToken) -> bool {
        let attributes = token.parent_ancestors().flat_map(|it| it.children()).filter_map(ast::Attr::cast);
        let conditions = attributes.filter_map(|it| match it.meta()? {
            ast::Meta::CfgMeta(it) => Some(CfgExpr::parse_from_ast(it.cfg_predicate()?)),
            _ => None,
        });
        let conditions: Vec<CfgExpr> = conditions.collect();
        let options = |it: Module| it.krate(self.db).cfg(self.db);
        let is_off = |of: &CfgOptions| conditions.iter().any(|it| of.check(it) == Some(false));
        !conditions.is_empty() && self.sema.file_to_module_defs(id).map(options).all(is_off)
    }

    /// Names of an edited file that mean nothing, where the edit wrote them or changed what the file sees.
    fn unresolved_names(
        &self,
        index: usize,
        scene: &Scene,
        reach: &Reach<'_>,
        lost_variants: &HashSet<&str>,
        told: &mut Told<'_>,
    ) {
        let file = &scene.news[index];
        let Some(own) = self.files.get(&file.path) else { return };
        let Some(id) = self.file_id(&file.path) else { return };
        if self.sema.file_to_module_def(id).is_none() {
            return;
        }
        let old = &scene.olds[index];
        let Some(back) = scene.backs.get(&*file.path) else { return };
        let reader = Reader::new(&self.sema, id);
        let loose = &scene.loose[index];
        let mut places: BTreeSet<(usize, &str)> = match loose.all && !loose.only_methods {
            true => words(&file.text).collect(),
            false => loose.paths(&file.text).collect(),
        };
        places.extend(bodies_with_other_imports(old, file).into_iter().flat_map(|it| words_at(&file.text, it)));
        places.extend(loose.in_blocks(&file.text));
        places.retain(|it| !lost_variants.contains(it.1));
        let written = back.gaps().into_iter().flat_map(|it| words_at(&file.text, it));
        places.extend(written.filter(|(at, word)| !back.is_untouched(Span::new(*at, at + word.len()))));
        for (at, word) in places {
            let before = back.offset(at).filter(|_| back.is_untouched(Span::new(at, at + word.len())));
            if before.is_some_and(|it| reach.unresolved.contains(&(file.path.clone(), it))) {
                continue;
            }
            // The links of a comment are no names to the compiler, and all of a file's would be read.
            let Some(token) = self.token(id, at).filter(|it| it.kind() == SyntaxKind::IDENT) else { continue };
            // What a name means takes time to tell, and most are members.
            let Some((code, what)) = unresolved_kind(&token) else { continue };
            let is_macro = |it: &(Definition<'db>, Role)| matches!(it.0, Definition::Macro(_));
            let is_no_trait = match reader.read(at, word) {
                Some(Verdict::Unresolved(Why::UnknownType | Why::Inactive)) => false,
                // Derives read a type, that is one all the same.
                Some(Verdict::Unresolved(Why::MacroInput)) if self.is_as_written(id, &token) => false,
                // A derive macro goes by the name of its trait.
                Some(Verdict::Names(it)) if !it.is_empty() && it.iter().all(is_macro) => true,
                _ => continue,
            };
            let code = match (code, is_no_trait) {
                ("E0425" | "E0412", false) if self.is_there_unseen(&token) => "E0603",
                ("E0405", true) => "E0404",
                (_, true) => continue,
                (code, false) => code,
            };
            let qualifier = token.parent_ancestors().find_map(ast::Path::cast).and_then(|it| it.qualifier());
            if qualifier.is_some_and(|it| self.is_unbound(&token, &it.syntax().text().to_string())) {
                continue;
            }
            if self.is_left_out(id, &token) {
                continue;
            }
            let place = own.lines().place(&own.path, Span::new(at, at + word.len()));
            told.add(self.error(place, code, format!("cannot find {what} `{word}` in this scope")));
        }
    }
}

/// The bodies of a new text that do not import what they did: what they name may mean nothing now.
pub(super) fn bodies_with_other_imports(old: &File, new: &File) -> Vec<Span> {
    let bodies = |file: &File| -> Vec<(String, Span, Vec<String>)> {
        let mut found = Vec::new();
        file.outline().walk(&mut |item| {
            let Some(body) = item.body.filter(|_| matches!(item.kind, SymbolKind::Function | SymbolKind::Method))
            else {
                return;
            };
            let lines = file.text.get(body.start..body.end).unwrap_or_default().lines().map(str::trim);
            let imports = lines.filter(|it| it.starts_with("use ")).map(str::to_owned).collect();
            found.push((format!("{:?} {}", item.container, item.name), body, imports));
        });
        found
    };
    let olds = bodies(old);
    let is_same = |name: &str, imports: &[String]| olds.iter().any(|it| it.0 == name && it.2 == imports);
    bodies(new).into_iter().filter(|it| !is_same(&it.0, &it.2)).map(|it| it.1).collect()
}

pub(super) fn is_type(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union)
}

/// Where a type derives a trait.
pub(super) fn derived(item: &OutlineItem, file: &File, name: &str) -> Option<Span> {
    let head = file.text.get(item.span.start..item.name_span.start)?;
    let list = head.find("derive(")?;
    let (at, word) = words(&head[list..]).find(|(_, word)| *word == name)?;
    let start = item.span.start + list + at;
    Some(Span::new(start, start + word.len()))
}

/// The code and the kind of thing that is looked for where a path stands; `None` for members.
pub(super) fn unresolved_kind(token: &SyntaxToken) -> Option<(&'static str, &'static str)> {
    if token.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind())) {
        let attribute = token.parent_ancestors().find_map(ast::Attr::cast).and_then(|it| it.simple_name());
        return match attribute.is_some_and(|it| it == "derive") {
            true => Some(("", "derive macro")),
            false => unresolved_in_macro(token),
        };
    }
    let segment = token.parent_ancestors().take(3).find_map(ast::PathSegment::cast)?;
    let path = segment.parent_path();
    if path.syntax().ancestors().any(|it| ast::UseTree::can_cast(it.kind())) {
        return Some(("E0432", "import"));
    }
    if path.parent_path().is_some() {
        return Some(("E0433", "type or module"));
    }
    // What belongs to a type, not to a module.
    let is_member = path
        .qualifier()
        .and_then(|it| it.segment()?.name_ref())
        .is_some_and(|it| it.text().starts_with(char::is_uppercase));
    let around = path.syntax().parent()?;
    Some(match around.kind() {
        SyntaxKind::PATH_TYPE => {
            let within = around.parent();
            let block = within.clone().and_then(ast::Impl::cast);
            let is_header = block.and_then(|it| it.trait_()).is_some_and(|it| *it.syntax() == around);
            match is_header || within.is_some_and(|it| it.kind() == SyntaxKind::TYPE_BOUND) {
                true => ("E0405", "trait"),
                false if is_member => ("E0220", "associated type"),
                false => ("E0412", "type"),
            }
        }
        SyntaxKind::RECORD_EXPR | SyntaxKind::RECORD_PAT | SyntaxKind::TUPLE_STRUCT_PAT | SyntaxKind::PATH_PAT
            if is_member =>
        {
            ("E0599", "variant or associated item")
        }
        SyntaxKind::RECORD_EXPR | SyntaxKind::RECORD_PAT => ("E0422", "struct or variant"),
        SyntaxKind::TUPLE_STRUCT_PAT => ("E0531", "tuple struct or variant"),
        SyntaxKind::MACRO_CALL => ("", "macro"),
        SyntaxKind::PATH_EXPR if is_member => ("E0599", "function or associated item"),
        SyntaxKind::PATH_EXPR => ("E0425", "value"),
        SyntaxKind::PATH_PAT => ("E0531", "unit struct, variant or constant"),
        _ => return None,
    })
}

/// The same in the input of a macro, which is no more than tokens.
fn unresolved_in_macro(token: &SyntaxToken) -> Option<(&'static str, &'static str)> {
    let step = |it: &SyntaxToken, forth: bool| match forth {
        true => it.next_token().and_then(|it| skip_trivia_token(it, Direction::Next)),
        false => it.prev_token().and_then(|it| skip_trivia_token(it, Direction::Prev)),
    };
    let is = |it: &Option<SyntaxToken>, text: &str| it.as_ref().is_some_and(|it| it.text() == text);
    let (before, after) = (step(token, false), step(token, true));
    if is(&before, ".") {
        return None;
    }
    if is(&after, ":") && is(&after.as_ref().and_then(|it| step(it, true)), ":") {
        return Some(("E0433", "type or module"));
    }
    let colon = before.filter(|it| it.text() == ":").and_then(|it| step(&it, false)).filter(|it| it.text() == ":");
    let is_member = colon.and_then(|it| step(&it, false)).is_some_and(|it| it.text().starts_with(char::is_uppercase));
    match is_member {
        true => None,
        false => Some(("E0425", "value")),
    }
}
