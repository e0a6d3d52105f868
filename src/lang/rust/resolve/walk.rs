//! A full path, followed from its crate, its type or its implementation, segment by segment.

use ra_ap_hir::{Crate, Impl};
use ra_ap_ide_db::defs::Definition;

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

    /// Follows a path from a crate, from a built-in type, or from what stands in angle brackets.
    pub(in crate::lang::rust) fn walk(&self, path: &str) -> Vec<Definition<'db>> {
        let segments = segments(path);
        let Some((first, rest)) = segments.split_first() else { return Vec::new() };
        let mut found: Vec<Definition<'db>> = Vec::new();
        for head in self.heads(first, rest.is_empty()) {
            for definition in self.walk_members(head, rest) {
                if !found.contains(&definition) {
                    found.push(definition);
                }
            }
        }
        // Arguments are told where two blocks would clash, and are no matter elsewhere.
        let is_exact = |it: &Definition<'db>| self.path_of(*it).is_some_and(|it| it == path);
        if found.len() > 1 && found.iter().any(is_exact) {
            found.retain(is_exact);
        }
        found
    }

    fn heads(&self, first: &Segment<'_>, is_all: bool) -> Vec<Definition<'db>> {
        if first.is_qualified() {
            return self.blocks(first);
        }
        // Dashes are those of a package's name.
        let names = [self.name_with_ordinal(first), first.name.to_owned(), first.name.replace('-', "_")];
        let crates = names.iter().map(|it| self.crates_called(it)).find(|it| !it.is_empty()).unwrap_or_default();
        let roots =
            |crates: Vec<Crate>| crates.into_iter().map(|it| Definition::Module(it.root_module(self.db))).collect();
        if !crates.is_empty() {
            let all = self.crates_sharing(first.name);
            return roots(if is_all || all.is_empty() { crates } else { all });
        }
        if !first.name.starts_with(char::is_lowercase) {
            return Vec::new();
        }
        // A primitive type is in scope everywhere; this is where it has a place.
        let primitive =
            self.crates_called("core").into_iter().next().map(|it| Definition::Module(it.root_module(self.db)));
        let primitive = primitive.into_iter().flat_map(|core| self.reachable(core, "primitive"));
        let found: Vec<_> = primitive.flat_map(|it| self.reachable(it, first.name)).collect();
        match first.name {
            "slice" if !is_all => self.blocks_of_type("<[T]>"),
            "array" if !is_all => self.blocks_of_type("<[T; N]>"),
            _ => found,
        }
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
            let walked = if inner.starts_with(char::is_alphabetic) && !inner.starts_with("dyn ") {
                self.walk(inner)
            } else {
                Vec::new()
            };
            return if walked.is_empty() { self.blocks_of_type(&format!("<{inner}>")) } else { walked };
        };
        let traits = self.outside_too(of).into_iter().filter_map(|it| match it {
            Definition::Trait(it) => Some(it),
            _ => None,
        });
        let named = |path: &str| match self.outside_too(path).first() {
            Some(Definition::Adt(it)) => Some(it.ty(self.db)),
            Some(Definition::BuiltinType(it)) => Some(it.ty(self.db)),
            _ => None,
        };
        let full = self.name_with_ordinal(head);
        let mut found: Vec<Impl> = Vec::new();
        for of in traits {
            let self_type = if ty.starts_with(char::is_alphabetic) { named(ty) } else { None };
            let fits = |it: &Impl| fits_end(&self.impl_path(*it), &full);
            found.extend(self.implementations(of, self_type).into_iter().filter(fits));
        }
        let exact = |it: &Impl| self.impl_path(*it) == full;
        if found.iter().any(exact) {
            found.retain(exact);
        }
        found.into_iter().map(Definition::SelfType).collect()
    }

    /// A path, or a short one into what the workspace depends on.
    fn outside_too(&self, path: &str) -> Vec<Definition<'db>> {
        let found = self.walk(path);
        let found = if found.is_empty() { self.in_the_prelude(path) } else { found };
        if found.is_empty() { self.in_dependencies(path) } else { found }
    }

    /// The inherent blocks of a type that is no path; one stands for all of them.
    fn blocks_of_type(&self, ty: &str) -> Vec<Definition<'db>> {
        let all = match ty.strip_prefix("<dyn ").and_then(|it| it.strip_suffix('>')) {
            Some(of) => {
                let traits = self.walk(of).into_iter().filter_map(|it| it.krate(self.db));
                traits
                    .flat_map(|krate| Impl::all_in_crate(self.db, krate))
                    .filter(|it| it.trait_(self.db).is_none())
                    .collect()
            }
            None => self.impls_of_the_language(),
        };
        let block = all.into_iter().find(|it| it.self_ty(self.db).as_adt().is_none() && self.impl_path(*it) == ty);
        block.map(Definition::SelfType).into_iter().collect()
    }
}
