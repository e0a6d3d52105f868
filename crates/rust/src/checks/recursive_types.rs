//! Types that contain themselves without indirection.

use std::collections::{BTreeSet, HashMap, HashSet};

use ra_ap_hir::{Adt, Type, TypeParam};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::AstNode as _;
use ra_ap_syntax::ast::HasName as _;

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// The most types that are followed from one.
const MAX_TYPES: usize = 2000;

/// What the values of types contain, without what is behind a pointer.
#[derive(Default)]
pub(crate) struct Contents {
    known: HashMap<Adt, Content>,
}

#[derive(Clone, Default)]
struct Content {
    types: Vec<Adt>,
    /// The arguments of which a value contains values, by their indices.
    arguments: BTreeSet<usize>,
}

/// The types of the cycle to which a type belongs, as the compiler reports them.
pub(crate) fn recursive_types(cx: &Context<'_>, of: Adt, contents: &mut Contents, out: &mut Vec<RawDiagnostic>) {
    for adt in cycle_of(cx.db, of, contents) {
        let name = cx.sema.source(adt).and_then(|it| it.value.name());
        let message = format!("recursive type `{}` has infinite size", adt.name(cx.db).as_str());
        out.extend(name.map(|it| report::raw_diagnostic(cx, it.syntax(), Code::E0072, message)));
    }
}

/// The types that a type contains and that contain it.
fn cycle_of(db: &RootDatabase, of: Adt, contents: &mut Contents) -> Vec<Adt> {
    let mut containers: HashMap<Adt, Vec<Adt>> = HashMap::new();
    let (mut next, mut seen) = (vec![of], HashSet::from([of]));
    while let Some(adt) = next.pop() {
        for inner in contents.of(db, adt).types {
            containers.entry(inner).or_default().push(adt);
            if seen.len() < MAX_TYPES && seen.insert(inner) {
                next.push(inner);
            }
        }
    }
    // Backwards from the type, among those that it contains.
    let (mut next, mut cycle) = (vec![of], Vec::new());
    while let Some(adt) = next.pop() {
        for outer in containers.remove(&adt).unwrap_or_default() {
            if !cycle.contains(&outer) {
                cycle.push(outer);
                next.push(outer);
            }
        }
    }
    cycle
}

impl Contents {
    fn of(&mut self, db: &RootDatabase, adt: Adt) -> Content {
        if let Some(known) = self.known.get(&adt) {
            return known.clone();
        }
        // What is found within a cycle of arguments is the least that holds.
        self.known.insert(adt, Content::default());
        let fields = match adt {
            Adt::Struct(it) => it.fields(db),
            Adt::Union(it) => it.fields(db),
            Adt::Enum(it) => it.variants(db).into_iter().flat_map(|it| it.fields(db)).collect(),
        };
        let own: Vec<Option<Type<'_>>> = adt.ty(db).as_adt_with_args().map(|it| it.1).unwrap_or_default();
        let parameters: Vec<_> = own.iter().map(|it| it.as_ref()?.as_type_param(db)).collect();
        let mut content = Content::default();
        for field in fields {
            self.add_of_type(db, field.ty(db), &parameters, &mut content);
        }
        self.known.insert(adt, content.clone());
        content
    }

    fn add_of_type(
        &mut self,
        db: &RootDatabase,
        of: Type<'_>,
        parameters: &[Option<TypeParam>],
        content: &mut Content,
    ) {
        let mut next = vec![of];
        while let Some(ty) = next.pop() {
            if let Some(parameter) = ty.as_type_param(db) {
                content.arguments.extend(parameters.iter().position(|it| *it == Some(parameter)));
            } else if let Some((adt, arguments)) = ty.as_adt_with_args() {
                content.types.push(adt);
                let inner = self.of(db, adt).arguments;
                let given = arguments.into_iter().enumerate().filter(|it| inner.contains(&it.0));
                next.extend(given.filter_map(|it| it.1));
            } else if let Some((element, _)) = ty.as_array(db) {
                next.push(element);
            } else {
                next.extend(ty.tuple_fields(db));
            }
        }
    }

    /// All types that a value of a type contains, with their own content.
    pub(crate) fn of_type(&mut self, db: &RootDatabase, of: Type<'_>) -> HashSet<Adt> {
        let mut content = Content::default();
        self.add_of_type(db, of, &[], &mut content);
        let (mut next, mut seen) = (content.types, HashSet::new());
        while let Some(adt) = next.pop().filter(|_| seen.len() < MAX_TYPES) {
            if seen.insert(adt) {
                next.extend(self.of(db, adt).types);
            }
        }
        seen
    }
}
