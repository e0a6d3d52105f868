//! Functions that are no longer `const` and are called by a constant (E0015).

use ra_ap_syntax::{AstNode as _, ast};

use super::affected::ChangedSymbol;
use super::findings::Findings;
use super::rule_input::NamedPlace;
use crate::checks::const_contexts::constant_around;
use crate::checks::report;
use crate::finding::code::Code;
use crate::view::Context;
use semdex_model::OutlineItem;
use semdex_text::words::words;

impl ChangedSymbol<'_> {
    pub(crate) fn is_const_no_more(&self) -> bool {
        let items = self.delta.as_ref().and_then(|it| it.1.before.zip(it.1.after));
        items.is_some_and(|(before, after)| is_constant(before) && !is_constant(after))
    }
}

pub(crate) fn call_in_constant(cx: &Context<'_>, at: &NamedPlace<'_, '_>, out: &mut Findings<'_>) {
    let call = at.token.parent_ancestors().take(6).find_map(|it| match ast::Expr::cast(it)? {
        ast::Expr::CallExpr(it) => Some(it.syntax().clone()),
        ast::Expr::MethodCallExpr(it) => Some(it.name_ref()?.syntax().clone()),
        _ => None,
    });
    let Some((call, what)) = call.and_then(|it| Some((it.clone(), constant_around(cx, &it)?))) else { return };
    if let Some(place) = cx.place(report::reported_range(cx, &call)) {
        let message = format!("cannot call non-const `{}` in {what}", at.changed_symbol.path);
        out.add(report::error(cx, place, Code::E0015, message));
    }
}

fn is_constant(item: &OutlineItem) -> bool {
    words(&item.signature).map(|it| it.1).take_while(|it| *it != "fn").any(|it| it == "const")
}
