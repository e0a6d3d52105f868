//! Whether a type certainly lacks `Send` or `Sync`. The trait solver of rust-analyzer says no also where it does not
//! know, so that a part of the type has to be found which lacks it.

use ra_ap_hir::{Adt, HasCrate as _, Impl, Mutability, Trait, Type};
use ra_ap_syntax::SyntaxNode;

use super::bounds;
use crate::view::Context;

/// The most levels of parts that are looked at.
const MAX_LEVELS: usize = 12;

/// The traits that the compiler implements for a type if all its parts have them.
#[derive(Clone, Copy)]
pub(crate) struct AutoTraits {
    pub(crate) send: Trait,
    pub(crate) sync: Trait,
}

impl AutoTraits {
    /// For code of the crate of a node.
    pub(crate) fn new(cx: &Context<'_>, node: &SyntaxNode) -> Option<AutoTraits> {
        let send = bounds::trait_at(cx, node, "core::marker::Send")?;
        Some(AutoTraits { send, sync: bounds::trait_at(cx, node, "core::marker::Sync")? })
    }

    /// Whether a type is not `Send`. What type parameters will be is not known.
    pub(crate) fn lacks_send<'db>(&self, cx: &Context<'db>, ty: &Type<'db>) -> bool {
        let mut is_open = ty.contains_unknown();
        ty.walk(cx.db, |it| is_open |= it.as_type_param(cx.db).is_some());
        !is_open && self.lacks(cx, ty, self.send, MAX_LEVELS)
    }

    /// The same for a type with its own parameters: whether it is not, whatever they are.
    pub(crate) fn never_sends<'db>(&self, cx: &Context<'db>, ty: &Type<'db>) -> bool {
        !ty.contains_unknown() && self.lacks(cx, ty, self.send, MAX_LEVELS)
    }

    fn lacks<'db>(&self, cx: &Context<'db>, ty: &Type<'db>, of: Trait, levels: usize) -> bool {
        if levels == 0 || bounds::implements(cx.db, ty, of, &[]) {
            return false;
        }
        let lacks = |it: &Type<'db>, of: Trait| self.lacks(cx, it, of, levels - 1);
        if let Some((inner, mutability)) = ty.as_reference() {
            return lacks(&inner, if mutability == Mutability::Mut { of } else { self.sync });
        }
        if ty.is_raw_ptr() || ty.as_dyn_trait().is_some() {
            return true;
        }
        if let Some(inner) = ty.as_array(cx.db).map(|it| it.0).or_else(|| ty.as_slice()) {
            return lacks(&inner, of);
        }
        let captured = ty.as_closure().map(|it| it.captured_items(cx.db));
        let captured = captured.or_else(|| Some(ty.as_coroutine()?.captured_items(cx.db)));
        if let Some(captured) = captured {
            return captured.iter().any(|it| lacks(&it.captured_ty(cx.db), of));
        }
        let Some(adt) = ty.as_adt() else { return ty.tuple_fields(cx.db).iter().any(|it| lacks(it, of)) };
        let arguments: Vec<Type<'db>> = ty.type_arguments().collect();
        let is_without = |it: &Type<'db>| lacks(it, self.send) || lacks(it, self.sync);
        let is_with = |it: &Type<'db>| [self.send, self.sync].iter().all(|of| bounds::implements(cx.db, it, *of, &[]));
        let is_decided = || Impl::all_for_type(cx.db, ty.clone()).iter().any(|it| it.trait_(cx.db) == Some(of));
        if adt.krate(cx.db).is_builtin(cx.db) || is_decided() {
            return arguments.iter().any(is_without) || arguments.iter().all(is_with);
        }
        match adt {
            Adt::Struct(_) | Adt::Union(_) => ty.fields(cx.db).iter().any(|it| lacks(&it.1, of)),
            Adt::Enum(it) => {
                let fields = it.variants(cx.db).into_iter().flat_map(|it| it.fields(cx.db));
                fields.map(|it| it.ty(cx.db)).any(|it| lacks(&it, of)) || arguments.iter().any(is_without)
            }
        }
    }
}
