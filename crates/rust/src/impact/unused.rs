//! Type parameters that no field uses any longer (E0392). Any type fits such a parameter, so the compiler cannot infer
//! it if only the type itself mentions it (E0282, E0283). This happens in literals, and in calls of functions that
//! mention the parameter nowhere else.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ra_ap_hir::{Adt, Function, InFile, ModuleDef, PathResolution, Semantics};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::{HasGenericArgs as _, HasGenericParams as _, HasName as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode, SyntaxKind, SyntaxNode, ast};

use super::affected::{AffectedSet, ChangedSymbol};
use super::delta::Delta;
use super::edit_context::EditContext;
use crate::checks::{anchors, expansions, native, report};
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::resolve::at;
use crate::syntax::positions;
use crate::syntax::positions::span;
use crate::usages;
use crate::view::Context;
use semdex_model::{ChangeKind, Role, SymbolKind};

/// Types that are mutable through a shared reference.
const INVARIANT: [&str; 8] = ["Cell", "RefCell", "UnsafeCell", "OnceCell", "OnceLock", "Mutex", "RwLock", "AtomicPtr"];

pub(crate) fn note_unused_candidates<'db>(
    cx: &Context<'db>,
    edit: &EditContext,
    deltas: &[(usize, Delta<'_>)],
    affected: &mut AffectedSet<'_>,
) {
    // The fields that change, or name a removed type.
    let mut fields: Vec<(FileId, usize)> = Vec::new();
    for (index, delta) in deltas {
        let is_other = matches!(delta.kind, ChangeKind::Removed | ChangeKind::Signature | ChangeKind::Type);
        let Some(item) = delta.before.filter(|_| is_other) else { continue };
        if matches!(item.kind, SymbolKind::Field | SymbolKind::Variant) {
            fields.extend(cx.file_id(&edit.olds[*index].path).map(|id| (id, item.name_span.start)));
        }
    }
    for changed_symbol in affected.changed_symbols.iter().filter(|it| it.is_itself) {
        let kind = changed_symbol.delta.as_ref().map(|it| it.1.kind);
        if matches!(kind, None | Some(ChangeKind::Removed | ChangeKind::Renamed)) {
            let types = changed_symbol.occurrences.iter().filter(|it| matches!(it.role, Role::Type | Role::SelfType));
            fields.extend(types.map(|it| (it.id, it.at.start)));
        }
    }
    let mut found: Vec<Adt> = Vec::new();
    while !fields.is_empty() {
        let mut unused_candidates: BTreeMap<(FileId, usize), Vec<usize>> = BTreeMap::new();
        for (file, at) in fields.drain(..) {
            let token = positions::token(&cx.sema, file, at);
            let around = token.and_then(|it| it.parent_ancestors().find_map(ast::Adt::cast));
            if let Some(name) = around.filter(|it| it.generic_param_list().is_some()).and_then(|it| it.name()) {
                unused_candidates.entry((file, span(name.syntax().text_range()).start)).or_default().push(at);
            }
        }
        let loses = |&(file, at): &(FileId, usize), places: &[usize]| {
            let Some(Definition::Adt(adt)) = at::definition_at(&cx.sema, file, at) else { return None };
            let source = cx.sema.source(adt)?.value;
            loses_use(&cx.sema, &source, places).then_some(adt)
        };
        let more = unused_candidates.iter().filter_map(|(at, places)| loses(at, places));
        let more: Vec<Adt> = more.filter(|it| !found.contains(it)).collect();
        found.extend(&more);
        let definitions: Vec<Definition<'db>> = more.into_iter().map(Definition::Adt).collect();
        let named = usages::find(cx, &definitions).into_iter().flat_map(|it| it.items);
        let mut named: Vec<_> = named.map(|it| (it.file, it.id, it.at.start)).collect();
        // An alias is the same type.
        let aliases = named.iter().filter_map(|(_, id, at)| {
            let alias = positions::token(&cx.sema, *id, *at)?.parent_ancestors().find_map(ast::TypeAlias::cast)?;
            cx.sema.to_def(&alias).map(Definition::TypeAlias)
        });
        let aliases: Vec<Definition<'db>> = aliases.collect();
        let by_alias = usages::find(cx, &aliases).into_iter().flat_map(|it| it.items);
        named.extend(by_alias.map(|it| (it.file, it.id, it.at.start)));
        let mut functions: BTreeSet<(FileId, usize)> = BTreeSet::new();
        for (file, id, at) in &named {
            // `use a::B as C`
            let tree =
                positions::token(&cx.sema, *id, *at).and_then(|it| it.parent_ancestors().find_map(ast::UseTree::cast));
            let alias = tree.and_then(|it| it.rename()?.name());
            affected.unused_candidates.names.extend(alias.map(|it| it.text().to_string()));
            affected.unused_candidates.places.insert((file.path.clone(), *at));
            affected
                .unused_candidates
                .bodies
                .extend(anchors::anchor(&cx.sema, file, *id, *at).map(|at| (file.path.clone(), at)));
            for it in file.outline().enclosing(*at) {
                if it.body.is_some_and(|body| body.contains(*at)) {
                    continue;
                }
                let own = std::iter::once(it).filter(|it| is_function(it.kind));
                let members = it.children.iter().filter(|child| it.kind == SymbolKind::Impl && is_function(child.kind));
                functions.extend(own.chain(members).map(|it| (*id, it.name_span.start)));
            }
        }
        let functions: Vec<Definition<'db>> =
            functions.into_iter().filter_map(|(file, at)| at::definition_at(&cx.sema, file, at)).collect();
        let names = functions.iter().filter_map(|it| it.name(cx.db));
        affected.unused_candidates.names.extend(names.map(|it| it.as_str().to_owned()));
        for it in usages::find(cx, &functions).into_iter().flat_map(|it| it.items) {
            affected.unused_candidates.places.insert((it.file.path.clone(), it.at.start));
            affected.unused_candidates.bodies.extend(anchors::anchor_of(&cx.sema, &it));
        }
        fields.extend(named.into_iter().map(|(_, id, at)| (id, at)));
    }
    for adt in found {
        let Some(source) = cx.sema.source(adt) else { continue };
        let Some(name) = source.value.name() else { continue };
        let variants = source.value.syntax().descendants().filter_map(ast::Variant::cast).filter_map(|it| it.name());
        affected.unused_candidates.names.extend(variants.chain([name.clone()]).map(|it| it.text().to_string()));
        let at = cx.sema.original_range(name.syntax());
        if let Some(file) = cx.name_of(at.file_id.file_id(cx.db)) {
            affected.unused_candidates.types.insert((file.into(), span(at.range).start));
        }
    }
}

pub(crate) fn unused_parameters(
    cx: &Context<'_>,
    affected: &AffectedSet<'_>,
    edit: &EditContext,
    new: &[Finding],
) -> Vec<Finding> {
    let now = |(file, at): &(Arc<str>, usize)| Some((file.clone(), edit.moved(file, *at)?));
    let types =
        affected.unused_candidates.types.iter().filter_map(now).filter_map(|(file, at)| {
            match at::definition_at(&cx.sema, cx.file_id(&file)?, at)? {
                Definition::Adt(it) => Some(it),
                _ => None,
            }
        });
    let mut unused = Unused { sema: &cx.sema, types: HashMap::new() };
    for adt in types {
        let Some(source) = cx.sema.source(adt) else { continue };
        let fields = match adt {
            Adt::Struct(it) => it.fields(cx.db),
            Adt::Union(it) => it.fields(cx.db),
            Adt::Enum(it) => it.variants(cx.db).into_iter().flat_map(|it| it.fields(cx.db)).collect(),
        };
        let is_clear = fields.into_iter().all(|it| !it.ty(cx.db).contains_unknown());
        let names = source.value.generic_param_list().into_iter().flat_map(|it| it.generic_params());
        let names = names.filter_map(|it| name_of(&it)).filter(|it| !is_determined(&source.value, it)).collect();
        unused.types.insert(adt, Generic { source, names, is_clear });
    }
    unused.spread_doubt();
    unused.narrow();
    let mut out = Vec::new();
    for it in unused.types.values().filter(|it| it.is_clear) {
        let parameters = it.source.value.generic_param_list().into_iter().flat_map(|it| it.generic_params());
        for parameter in parameters {
            let Some(name) = name_of(&parameter).filter(|name| it.names.contains(name)) else { continue };
            let what = if name.starts_with('\'') { "lifetime" } else { "type" };
            let message = format!("{what} parameter `{name}` is never used");
            out.push(report::raw_diagnostic(cx, parameter.syntax(), Code::E0392, message));
        }
    }
    unused.types.retain(|_, it| !it.names.is_empty());
    if !unused.types.is_empty() {
        let is_field = |it: &ChangedSymbol<'_>| {
            let before = it.delta.as_ref().and_then(|it| it.1.before);
            before.is_some_and(|it| it.kind == SymbolKind::Field)
        };
        let gone = affected.changed_symbols.iter().filter(|it| it.goes() && !is_field(it)).map(|it| it.name.as_str());
        let gone: HashSet<&str> = gone.collect();
        for (file, at) in affected.unused_candidates.bodies.iter().filter_map(now) {
            let bodies =
                anchors::bodies_at(cx, &file, at).into_iter().filter_map(|it| native::body_syntax(&cx.sema, it));
            // In a body with other errors an undecidable type may follow from these.
            for body in bodies.filter(|it| !has_errors(cx, it, new) && !names_gone(&cx.sema, it, &gone)) {
                let root = body.ancestors().last();
                // For code written before the change it is known whether it names them; for expansions it is not.
                let is_meant = |name: &ast::NameRef| {
                    let at = span(name.syntax().text_range()).start;
                    let before = edit.backs.get(&*file).map_or(Some(at), |it| it.offset(at));
                    let is_there =
                        before.is_none_or(|it| affected.unused_candidates.places.contains(&(file.clone(), it)));
                    affected.unused_candidates.names.contains(name.text())
                        && (is_there || name.syntax().ancestors().last() != root)
                };
                expansions::in_expansions(&cx.sema, &body, &mut |node| {
                    let needed = unused.needed(node, &is_meant);
                    out.extend(needed.map(|(node, code)| {
                        report::raw_diagnostic(cx, &node, code, "type annotations needed".to_owned())
                    }));
                });
            }
        }
    }
    out.into_iter().filter_map(|it| report::placed(cx, it)).collect()
}

fn has_errors(cx: &Context<'_>, body: &SyntaxNode, new: &[Finding]) -> bool {
    let range = cx.sema.original_range(body);
    let Some(file) = cx.name_of(range.file_id.file_id(cx.db)) else { return false };
    let at = span(range.range);
    new.iter().any(|it| it.place.file == file && (at.start..at.end).contains(&it.place.start))
}

/// Whether a body names a removed item: that is an error too, which may be reported elsewhere.
fn names_gone(sema: &Semantics<'_, RootDatabase>, body: &SyntaxNode, gone: &HashSet<&str>) -> bool {
    let mut found = false;
    expansions::in_expansions(sema, body, &mut |node| {
        found |= ast::NameRef::cast(node.clone()).is_some_and(|it| gone.contains(it.text()));
    });
    found
}

fn is_function(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Function | SymbolKind::Method)
}

/// Whether the fields at these positions are the only ones that use a parameter of a type.
fn loses_use(sema: &Semantics<'_, RootDatabase>, source: &ast::Adt, places: &[usize]) -> bool {
    let parameters = source.generic_param_list().into_iter().flat_map(|it| it.generic_params());
    let fields = fields(sema, source);
    // A variant is removed with its fields.
    let is_shaken = |field: &SyntaxNode| {
        let variant = field.ancestors().find_map(ast::Variant::cast).and_then(|it| it.name());
        let nodes = std::iter::once(field.clone()).chain(variant.map(|it| it.syntax().clone()));
        let mut spans = nodes.map(|it| span(it.text_range()));
        spans.any(|at| places.iter().any(|it| (at.start..at.end).contains(it)))
    };
    parameters.filter_map(|it| name_of(&it)).any(|name| {
        let mut naming = fields.iter().filter(|it| mentions(it, &name).next().is_some()).peekable();
        naming.peek().is_some() && naming.all(is_shaken)
    })
}

/// The fields that no `cfg` removes.
pub(crate) fn fields(sema: &Semantics<'_, RootDatabase>, source: &ast::Adt) -> Vec<SyntaxNode> {
    let is_there = |it: &SyntaxNode| {
        let variant = it.ancestors().find_map(ast::Variant::cast);
        let is_field = match ast::RecordField::cast(it.clone()) {
            Some(it) => sema.to_def(&it).is_some(),
            None => ast::TupleField::cast(it.clone()).is_some_and(|it| sema.to_def(&it).is_some()),
        };
        is_field && variant.is_none_or(|it| sema.to_def(&it).is_some())
    };
    source.syntax().descendants().filter(is_there).collect()
}

/// The name of a parameter, with the apostrophe of a lifetime; `None` for a constant, which may be unused.
pub(crate) fn name_of(parameter: &ast::GenericParam) -> Option<String> {
    match parameter {
        ast::GenericParam::TypeParam(it) => Some(it.name()?.text().to_string()),
        ast::GenericParam::LifetimeParam(it) => Some(it.lifetime()?.text().to_string()),
        ast::GenericParam::ConstParam(_) => None,
    }
}

/// Whether a parameter is bound to the associated type of another one, which determines it: `I: Iterator<Item = T>`,
/// `F: Fn() -> T`.
pub(crate) fn is_determined(of: &ast::Adt, name: &str) -> bool {
    let parameters = of.generic_param_list().map(|it| it.syntax().clone());
    let heads = parameters.into_iter().chain(of.where_clause().map(|it| it.syntax().clone()));
    let is_binding = |it: &SyntaxNode| ast::AssocTypeArg::can_cast(it.kind()) || ast::RetType::can_cast(it.kind());
    let mut bindings = heads.flat_map(|it| it.descendants().filter(is_binding).collect::<Vec<_>>());
    bindings.any(|it| mentions(&it, name).next().is_some())
}

pub(crate) fn mentions(node: &SyntaxNode, name: &str) -> impl Iterator<Item = SyntaxNode> {
    node.descendants().filter(move |it| {
        let is_name = ast::NameRef::can_cast(it.kind()) || ast::Lifetime::can_cast(it.kind());
        is_name && it.text() == name
    })
}

/// Whether the types inside a node have to be equal, not only compatible.
fn is_invariant(node: &SyntaxNode) -> bool {
    match ast::Type::cast(node.clone()) {
        Some(ast::Type::RefType(it)) => it.mut_token().is_some(),
        Some(ast::Type::PtrType(it)) => it.mut_token().is_some(),
        Some(ast::Type::DynTraitType(_) | ast::Type::ImplTraitType(_)) => true,
        Some(ast::Type::PathType(it)) => {
            let name = it.path().and_then(|it| it.segment()).and_then(|it| it.name_ref());
            name.is_some_and(|it| INVARIANT.iter().any(|known| it.text() == *known))
        }
        _ => false,
    }
}

/// A type with its unused parameters.
struct Generic {
    source: InFile<ast::Adt>,
    names: BTreeSet<String>,
    /// Whether the types of all fields are known and use only known parameters.
    is_clear: bool,
}

struct Unused<'c, 'db> {
    sema: &'c Semantics<'db, RootDatabase>,
    types: HashMap<Adt, Generic>,
}

impl Unused<'_, '_> {
    fn spread_doubt(&mut self) {
        loop {
            let is_clear = |it: &ast::Path| match self.sema.resolve_path(it) {
                Some(PathResolution::Def(ModuleDef::Adt(adt))) => self.types.get(&adt).is_none_or(|it| it.is_clear),
                _ => true,
            };
            let is_doubtful = |it: &Generic| {
                let fields = fields(self.sema, &it.source.value).into_iter();
                it.is_clear
                    && !fields.flat_map(|it| it.descendants()).filter_map(ast::Path::cast).all(|it| is_clear(&it))
            };
            let doubtful = self.types.iter().filter(|it| is_doubtful(it.1)).map(|it| *it.0);
            let doubtful: Vec<Adt> = doubtful.collect();
            if doubtful.is_empty() {
                return;
            }
            for adt in doubtful {
                if let Some(it) = self.types.get_mut(&adt) {
                    it.is_clear = false;
                }
            }
        }
    }

    /// Removes used parameters until nothing changes. A parameter that is only given to types that do not use it is
    /// unused.
    fn narrow(&mut self) {
        loop {
            let used = self.types.iter().flat_map(|(adt, it)| {
                let fields = fields(self.sema, &it.source.value);
                let is_used = |name: &str| fields.iter().any(|field| self.firm_and_idle(field, name).0 > 0);
                it.names.iter().filter(|it| is_used(it)).map(|it| (*adt, it.clone())).collect::<Vec<_>>()
            });
            let used: Vec<(Adt, String)> = used.collect();
            if used.is_empty() {
                return;
            }
            for (adt, name) in used {
                if let Some(it) = self.types.get_mut(&adt) {
                    it.names.remove(&name);
                }
            }
        }
    }

    /// How often a type mentions a parameter where that determines it, and where it does not. In an invariant type each
    /// mention determines it.
    fn firm_and_idle(&self, ty: &SyntaxNode, name: &str) -> (usize, usize) {
        let mut count = (0, 0);
        for mention in mentions(ty, name) {
            let within = || mention.ancestors().take_while(|it| Some(it) != ty.parent().as_ref());
            let lists = within().filter_map(|it| Some((it.clone(), ast::GenericArgList::cast(it.parent()?)?)));
            let is_idle = lists.into_iter().any(|(argument, list)| self.is_idle(&argument, &list));
            match is_idle && !within().any(|it| is_invariant(&it)) {
                true => count.1 += 1,
                false => count.0 += 1,
            }
        }
        count
    }

    fn is_idle(&self, argument: &SyntaxNode, list: &ast::GenericArgList) -> bool {
        let Some(path) = list.syntax().ancestors().find_map(ast::Path::cast) else { return false };
        let is_lifetime = ast::LifetimeArg::can_cast(argument.kind());
        let same = |it: &ast::GenericArg| matches!(it, ast::GenericArg::LifetimeArg(_)) == is_lifetime;
        let Some(nth) = list.generic_args().filter(same).position(|it| it.syntax() == argument) else { return false };
        let nth_of = |parameters: Option<ast::GenericParamList>| {
            let parameters = parameters.into_iter().flat_map(|it| it.generic_params());
            let mut same = parameters.filter(|it| matches!(it, ast::GenericParam::LifetimeParam(_)) == is_lifetime);
            same.nth(nth).and_then(|it| name_of(&it))
        };
        match self.sema.resolve_path(&path) {
            Some(PathResolution::Def(ModuleDef::Adt(adt))) => self.types.get(&adt).is_some_and(|of| {
                nth_of(of.source.value.generic_param_list()).is_some_and(|it| of.names.contains(&it))
            }),
            Some(PathResolution::Def(ModuleDef::TypeAlias(it))) => {
                let alias = self.sema.source(it).map(|it| it.value);
                let name = alias.as_ref().and_then(|it| nth_of(it.generic_param_list()));
                let counts =
                    name.zip(alias.and_then(|it| it.ty())).map(|(it, of)| self.firm_and_idle(of.syntax(), &it));
                counts.is_some_and(|(firm, idle)| firm == 0 && idle > 0)
            }
            Some(_) => false,
            None => true,
        }
    }

    /// Where the compiler can no longer infer a type, with its code.
    fn needed(&self, node: &SyntaxNode, is_meant: &dyn Fn(&ast::NameRef) -> bool) -> Option<(SyntaxNode, Code)> {
        if let Some(call) = ast::MethodCallExpr::cast(node.clone()) {
            call.name_ref().filter(|it| is_meant(it))?;
            let function = self.sema.resolve_method_call(&call).filter(|_| call.generic_arg_list().is_none())?;
            return Some((call.name_ref()?.syntax().clone(), self.undetermined(function)?));
        }
        let path = match node.kind() {
            SyntaxKind::CALL_EXPR => match ast::CallExpr::cast(node.clone())?.expr()? {
                ast::Expr::PathExpr(it) => it.path()?,
                _ => return None,
            },
            SyntaxKind::RECORD_EXPR
            | SyntaxKind::PATH_EXPR
            | SyntaxKind::PATH_PAT
            | SyntaxKind::TUPLE_STRUCT_PAT
            | SyntaxKind::RECORD_PAT => node.children().find_map(ast::Path::cast)?,
            _ => return None,
        };
        let is_explicit = |it: SyntaxNode| ast::GenericArgList::can_cast(it.kind()) || it.text() == "Self";
        if path.syntax().descendants().any(is_explicit)
            || !path.segments().any(|it| it.name_ref().is_some_and(|it| is_meant(&it)))
        {
            return None;
        }
        let adt = match self.sema.resolve_path(&path)? {
            PathResolution::Def(ModuleDef::Function(it)) if node.kind() == SyntaxKind::CALL_EXPR => {
                return Some((path.syntax().clone(), self.undetermined(it)?));
            }
            PathResolution::Def(ModuleDef::Adt(it)) => it,
            PathResolution::Def(ModuleDef::EnumVariant(it)) => Adt::Enum(it.parent_enum(self.sema.db)),
            _ => return None,
        };
        let of = self.types.get(&adt).filter(|it| it.is_clear)?;
        let name = of.names.iter().find(|it| !it.starts_with('\''))?;
        Some((path.syntax().clone(), code_of(name, &[of.source.value.syntax().clone()])))
    }

    /// The compiler's code for a call whose arguments do not determine a parameter.
    fn undetermined(&self, function: Function) -> Option<Code> {
        let InFile { value: source, .. }: InFile<ast::Fn> = self.sema.source(function)?;
        let block = source.syntax().ancestors().find_map(ast::Impl::cast);
        if source.syntax().ancestors().any(|it| ast::Trait::can_cast(it.kind()))
            || block.as_ref().is_some_and(|it| it.trait_().is_some())
        {
            return None;
        }
        let own = block.as_ref().and_then(|it| it.self_ty()).map(|it| it.syntax().clone());
        let list = source.param_list();
        let receiver = list.as_ref().and_then(|it| it.self_param());
        let is_mutable = receiver.as_ref().is_some_and(|it| it.amp_token().is_some() && it.mut_token().is_some());
        let parameters = list.into_iter().flat_map(|it| it.params()).filter_map(|it| it.ty());
        let types: Vec<SyntaxNode> =
            parameters.chain(source.ret_type().and_then(|it| it.ty())).map(|it| it.syntax().clone()).collect();
        let names_self = receiver.is_some() || types.iter().any(|it| mentions(it, "Self").next().is_some());
        let types: Vec<SyntaxNode> = types.into_iter().chain(own.clone().filter(|_| names_self)).collect();
        let heads: Vec<SyntaxNode> =
            block.iter().map(|it| it.syntax().clone()).chain([source.syntax().clone()]).collect();
        let lists = block.and_then(|it| it.generic_param_list()).into_iter().chain(source.generic_param_list());
        let names = lists.flat_map(|it| it.type_or_const_params()).filter_map(|it| match it {
            ast::TypeOrConstParam::Type(it) => Some(it.name()?.text().to_string()),
            ast::TypeOrConstParam::Const(_) => None,
        });
        let undetermined = |name: &String| {
            let counts = types.iter().map(|it| self.firm_and_idle(it, name));
            let (firm, idle) = counts.fold((0, 0), |all, it| (all.0 + it.0, all.1 + it.1));
            let in_self = || own.as_ref().is_some_and(|it| mentions(it, name).next().is_some());
            firm == 0 && idle > 0 && !(is_mutable && in_self())
        };
        let name = names.into_iter().find(undetermined)?;
        Some(code_of(&name, &heads))
    }
}

/// The code, by whether these items have bounds on a parameter.
fn code_of(name: &str, items: &[SyntaxNode]) -> Code {
    let is_bound = |item: &SyntaxNode| {
        let parameters =
            item.children().filter_map(ast::GenericParamList::cast).flat_map(|it| it.type_or_const_params());
        let mut parameters = parameters.filter_map(|it| match it {
            ast::TypeOrConstParam::Type(it) => Some(it),
            ast::TypeOrConstParam::Const(_) => None,
        });
        let in_list =
            parameters.any(|it| it.name().is_some_and(|it| it.text() == name) && it.type_bound_list().is_some());
        let mut clauses = item.children().filter_map(ast::WhereClause::cast).flat_map(|it| it.predicates());
        in_list || clauses.any(|it| it.ty().is_some_and(|it| it.syntax().text() == name))
    };
    if items.iter().any(is_bound) { Code::E0283 } else { Code::E0282 }
}
