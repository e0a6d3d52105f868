//! A full path, followed from its crate, its type or its implementation, segment by segment.

use ra_ap_hir::{Crate, Impl, Trait, Type};
use ra_ap_ide_db::defs::Definition;

use super::types::{self, Piece};
use super::written::{Segment, Written, fits_end, is_of_kind, segments, split_ordinal, split_qualified};
use crate::lang::rust::paths::ORDINAL;
use crate::lang::rust::symbols::kind_of;
use crate::lang::rust::view::Context;

impl<'db> Context<'db> {
    pub(super) fn walk_written(&self, written: &Written<'_>) -> Vec<Definition<'db>> {
        if written.kind != Some("impl") || written.path.starts_with('<') && split_qualified(&written.path).is_some() {
            return self.walk(&written.path);
        }
        let (ty, ordinal) = split_ordinal(&written.path);
        let blocks = self.walk(ty).into_iter().flat_map(|it| match it {
            Definition::Adt(_) | Definition::BuiltinType(_) | Definition::SelfType(_) => self.inherent_impls(it),
            _ => Vec::new(),
        });
        let nth = ordinal.unwrap_or(1).saturating_sub(1);
        blocks.skip(nth).take(1).map(Definition::SelfType).collect()
    }

    /// Follows a path from a crate, from a built-in type, or from what stands in angle brackets: of several crates that
    /// share a name from the first that has it.
    pub(in crate::lang::rust) fn walk(&self, path: &str) -> Vec<Definition<'db>> {
        let segments = segments(path);
        let Some((first, rest)) = segments.split_first() else { return Vec::new() };
        let mut found: Vec<Definition<'db>> = Vec::new();
        for heads in self.heads(first, rest.is_empty()) {
            for definition in heads.into_iter().flat_map(|it| self.walk_members(it, rest)) {
                if !found.contains(&definition) {
                    found.push(definition);
                }
            }
            if !found.is_empty() {
                break;
            }
        }
        // Arguments are told where two blocks would clash, and are no matter elsewhere.
        let is_exact = |it: &Definition<'db>| self.path_of(*it).is_some_and(|it| it == path);
        if found.len() > 1 && found.iter().any(is_exact) {
            found.retain(is_exact);
        }
        found
    }

    /// What a first segment may mean, the likeliest first; those of one list are equally likely.
    fn heads(&self, first: &Segment<'_>, is_all: bool) -> Vec<Vec<Definition<'db>>> {
        if first.is_qualified() {
            return vec![self.blocks(first)];
        }
        // Dashes are those of a package's name.
        let names = [self.name_with_ordinal(first), first.name.to_owned(), first.name.replace('-', "_")];
        let mut crates = names.iter().map(|it| self.crates_meant(it)).find(|it| !it.is_empty()).unwrap_or_default();
        if !crates.is_empty() {
            crates.truncate(if is_all { 1 } else { usize::MAX });
            let roots = |crates: Vec<Crate>| {
                crates.into_iter().map(|it| Definition::Module(it.root_module(self.db))).collect::<Vec<_>>()
            };
            return crates.into_iter().map(roots).collect();
        }
        if !first.name.starts_with(char::is_lowercase) {
            return Vec::new();
        }
        // A primitive type is in scope everywhere; this is where it has a place.
        let primitive = self.crates_meant("core").into_iter().flatten().next();
        let primitive = primitive.map(|it| Definition::Module(it.root_module(self.db)));
        let primitive = primitive.into_iter().flat_map(|core| self.reachable(core, "primitive"));
        let found: Vec<_> = primitive.flat_map(|it| self.reachable(it, first.name)).collect();
        vec![match first.name {
            "slice" if !is_all => self.blocks_of_type("[T]"),
            "array" if !is_all => self.blocks_of_type("[T; N]"),
            _ => found,
        }]
    }

    fn name_with_ordinal(&self, segment: &Segment<'_>) -> String {
        match segment.ordinal {
            Some(ordinal) => format!("{}{ORDINAL}{ordinal}", segment.name),
            None => segment.name.to_owned(),
        }
    }

    pub(super) fn walk_members(&self, from: Definition<'db>, segments: &[Segment<'_>]) -> Vec<Definition<'db>> {
        let Some((first, rest)) = segments.split_first() else { return vec![from] };
        self.step(from, first).into_iter().flat_map(|member| self.walk_members(member, rest)).collect()
    }

    fn step(&self, from: Definition<'db>, segment: &Segment<'_>) -> Vec<Definition<'db>> {
        let of_kind = |it: &Definition<'db>| {
            segment.kind.is_none_or(|word| kind_of(self, *it).is_some_and(|kind| is_of_kind(word, kind)))
        };
        if segment.ordinal.is_some() {
            // A number counts what is declared there.
            let members = self.members_of(from);
            let marked = self.name_with_ordinal(segment);
            let is_it = |it: &Definition<'db>| self.path_of(*it).is_some_and(|it| it.ends_with(&marked));
            return members.named(segment.name).iter().copied().filter(of_kind).filter(is_it).collect();
        }
        let unmarked = |it: &Definition<'db>| {
            self.container_of(*it) != Some(from)
                || self.path_of(*it).is_none_or(|path| segments(&path).last().is_none_or(|it| it.ordinal.is_none()))
        };
        self.reachable(from, segment.name).into_iter().filter(of_kind).filter(unmarked).collect()
    }

    /// `<Type as Trait>`, `<[T]>`
    fn blocks(&self, head: &Segment<'_>) -> Vec<Definition<'db>> {
        let Some((ty, of)) = split_qualified(head.name) else {
            let inner = head.name.strip_prefix('<').and_then(|it| it.strip_suffix('>')).unwrap_or(head.name);
            let walked = if is_plain_path(inner) { self.walk(inner) } else { Vec::new() };
            return if walked.is_empty() { self.blocks_of_type(inner) } else { walked };
        };
        let traits = self.outside_too(of).into_iter().filter_map(|it| match it {
            Definition::Trait(it) => Some(it),
            _ => None,
        });
        let full = self.name_with_ordinal(head);
        let in_full = || {
            let (ty, of) = (types::written(&self.in_full(ty)), types::written(&self.in_full(of)));
            let name = format!("<{ty} as {of}>");
            self.name_with_ordinal(&Segment { name: &name, ..*head })
        };
        let mut found: Vec<Impl> = Vec::new();
        for of in traits {
            let blocks = self.implementations_written(of, ty);
            let fits = |full: &str| -> Vec<Impl> {
                blocks.iter().copied().filter(|it| fits_end(&self.impl_path(*it), full)).collect()
            };
            let mut fitting = fits(&full);
            if fitting.is_empty() && !blocks.is_empty() {
                fitting = fits(&in_full());
            }
            found.extend(fitting);
        }
        let exact = |it: &Impl| self.impl_path(*it) == full;
        if found.iter().any(exact) {
            found.retain(exact);
        }
        found.into_iter().map(Definition::SelfType).collect()
    }

    /// The implementations of a trait for a type, as far as the type can be told without its arguments.
    fn implementations_written(&self, of: Trait, ty: &str) -> Vec<Impl> {
        let all = || self.implementations(of, None);
        if is_plain_path(ty) {
            // A path that leads to the type leads to its implementations without a look at all others.
            let meant = self.walk(ty).into_iter().next().or_else(|| self.in_the_prelude(ty).into_iter().next());
            let found = meant.and_then(|it| self.type_meant(it)).map(|it| self.implementations(of, Some(it)));
            if let Some(found) = found.filter(|it| !it.is_empty()) {
                return found;
            }
            let name = segments(ty).last().map(|it| it.name.to_owned()).unwrap_or_default();
            let may_be = |it: &Impl| match it.self_ty(self.db).as_adt() {
                Some(adt) => adt.name(self.db).as_str() == name,
                None => true,
            };
            return all().into_iter().filter(may_be).filter(|it| types::is_like(&self.type_of(*it), ty)).collect();
        }
        let asked = types::pieces(ty);
        let found = self.implementations_for(all(), &asked);
        if found.is_empty() { self.implementations_for(all(), &self.in_full(ty)) } else { found }
    }

    fn implementations_for(&self, all: Vec<Impl>, ty: &[Piece]) -> Vec<Impl> {
        // Most are for types that have a path; that of one in the body of a member begins with a bracket.
        let is_member = ty.first() == Some(&Piece::Sign("<"));
        let others = all.into_iter().filter(|it| is_member || it.self_ty(self.db).as_adt().is_none());
        others.filter(|it| types::are_alike(&types::pieces(&self.type_of(*it)), ty)).collect()
    }

    fn type_meant(&self, definition: Definition<'db>) -> Option<Type<'db>> {
        match definition {
            Definition::Adt(it) => Some(it.ty(self.db)),
            Definition::BuiltinType(it) => Some(it.ty(self.db)),
            Definition::TypeAlias(it) => it.ty(self.db).as_adt().map(|it| it.ty(self.db)),
            _ => None,
        }
    }

    /// A type with each of its paths as it is printed, where it was asked for by another one.
    fn in_full(&self, ty: &str) -> Vec<Piece> {
        let mut pieces = types::pieces(ty);
        for piece in &mut pieces {
            let Piece::Path(path) = piece else { continue };
            let asked = path.join("::");
            let found = self.walk(&asked).into_iter().next().or_else(|| self.in_the_prelude(&asked).into_iter().next());
            let found = match found {
                Some(Definition::TypeAlias(it)) => it.ty(self.db).as_adt().map(Definition::Adt),
                found => found,
            };
            if let Some(full) = found.and_then(|it| self.path_as_container(it)) {
                *path = full.split("::").map(str::to_owned).collect();
            }
        }
        pieces
    }

    /// A path, or a short one into what the workspace depends on.
    fn outside_too(&self, path: &str) -> Vec<Definition<'db>> {
        let found = self.walk(path);
        let found = if found.is_empty() { self.in_the_prelude(path) } else { found };
        if found.is_empty() { self.in_dependencies(path) } else { found }
    }

    /// The inherent blocks of a type that is no path; one stands for all of them.
    fn blocks_of_type(&self, ty: &str) -> Vec<Definition<'db>> {
        let all = match ty.strip_prefix("dyn ") {
            Some(of) => {
                let of = of.split_once('+').map_or(of, |it| it.0).trim();
                let traits = self.outside_too(of).into_iter().filter_map(|it| it.krate(self.db));
                traits
                    .flat_map(|krate| Impl::all_in_crate(self.db, krate))
                    .filter(|it| it.trait_(self.db).is_none())
                    .collect()
            }
            None => self.impls_of_the_language(),
        };
        let all: Vec<Impl> = all.into_iter().filter(|it| it.self_ty(self.db).as_adt().is_none()).collect();
        let path = format!("<{ty}>");
        let block = all.iter().find(|it| self.impl_path(**it) == path);
        let like = |path: &str| all.iter().find(|it| types::is_like(&self.impl_path(**it), path));
        let block = block.or_else(|| like(&path));
        let block = block.or_else(|| like(&format!("<{}>", types::written(&self.in_full(ty)))));
        block.copied().map(Definition::SelfType).into_iter().collect()
    }
}

/// Whether what stands in angle brackets is a path, not another form of type.
fn is_plain_path(ty: &str) -> bool {
    matches!(types::pieces(ty).as_slice(), [Piece::Path(_)] | [Piece::Path(_), Piece::Sign("<"), ..])
        && !ty.starts_with("for<")
}
