//! Traits that can be objects no more: the compiler tells so wherever one is named as a type.

use ra_ap_ide_db::defs::Definition;

use super::Scene;
use super::reach::Reach;
use crate::lang::rust::view::Context;
use crate::model::{Diagnostic, Span};

impl Context<'_> {
    pub(super) fn lost_objects(&self, reach: &Reach<'_>, scene: &Scene) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for ((file, at), places) in reach.objects.iter().filter(|it| !it.1.is_empty()) {
            // The state before knew it by another name for itself: it is looked up again.
            let at = scene.moved(file, *at).zip(self.file_id(file));
            let Some(Definition::Trait(of)) = at.and_then(|(at, id)| self.definition_at(id, at)) else { continue };
            if of.dyn_compatibility(self.db).is_none() {
                continue;
            }
            let message = format!("the trait `{}` is not dyn compatible", of.name(self.db).as_str());
            for it in places {
                let name: &str = &it.file.path;
                if let Some((file, start)) = self.files.get(name).zip(scene.moved(name, it.at.start)) {
                    let at = Span::new(start, start + (it.at.end - it.at.start));
                    found.push(self.error(file.lines().place(name, at), "E0038", message.clone()));
                }
            }
        }
        found
    }
}
