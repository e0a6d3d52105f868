//! Names that were computed for one view.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use ra_ap_hir::{Impl, Module, ModuleDef};
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;
use rustc_hash::FxHashSet;

use crate::index::CrateNames;
use semdex_engine::files::File;
use semdex_model::OutlineItem;

/// Names that were computed for one view.
#[derive(Default)]
pub(crate) struct Names<'db> {
    pub(crate) crates: OnceCell<Arc<CrateNames>>,
    pub(crate) paths: RefCell<HashMap<Definition<'db>, Option<String>>>,
    /// The other declarations of a path, as builds compile them.
    pub(crate) alternatives: RefCell<HashMap<Definition<'db>, Rc<[Definition<'db>]>>>,
    /// The names that a file declares more than once.
    pub(crate) repeated: RefCell<HashMap<FileId, Rc<FxHashSet<String>>>>,
    pub(crate) members: RefCell<HashMap<Definition<'db>, Rc<Members<'db>>>>,
    pub(crate) impls: RefCell<HashMap<Impl, String>>,
    /// Implementations that share a path without arguments.
    pub(crate) alike: RefCell<HashMap<String, Rc<Vec<Impl>>>>,
    pub(crate) items: RefCell<HashMap<String, Rc<Vec<Item<'db>>>>>,
    pub(crate) files: RefCell<HashMap<String, String>>,
    /// The names that are ambiguous in the modules of a file.
    pub(crate) ambiguous: RefCell<HashMap<FileId, Rc<HashMap<Module, Ambiguous>>>>,
    /// The names of modules that may have several globs.
    pub(crate) glob_modules: OnceCell<FxHashSet<String>>,
    /// The items whose rank is being computed.
    pub(crate) ranking: RefCell<HashSet<(FileId, usize)>>,
}

/// The names of a module that are ambiguous, with the meanings that clash.
pub(crate) type Ambiguous = HashMap<String, Vec<Clash>>;

/// Two items of one name, as types or as values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clash {
    pub(crate) is_type: bool,
    pub(crate) both: [ModuleDef; 2],
}

/// An item of a workspace file, with the items around it.
#[derive(Clone)]
pub(crate) struct Item<'db> {
    pub(crate) file: &'db Arc<File>,
    pub(crate) id: FileId,
    pub(crate) own: &'db OutlineItem,
    /// The items that contain it, the outermost first.
    pub(crate) around: Vec<&'db OutlineItem>,
}

impl<'db> Item<'db> {
    pub(crate) fn top(file: &'db Arc<File>, id: FileId, own: &'db OutlineItem) -> Item<'db> {
        Item { file, id, own, around: Vec::new() }
    }

    /// Finds an item of a file's outline with the items around it.
    pub(crate) fn of(file: &'db Arc<File>, id: FileId, own: &'db OutlineItem) -> Item<'db> {
        let mut around = file.outline().enclosing(own.name_span.start);
        let at = around.iter().position(|it| std::ptr::eq(*it, own));
        around.truncate(at.unwrap_or_default());
        Item { file, id, own, around }
    }

    pub(crate) fn child(&self, own: &'db OutlineItem) -> Item<'db> {
        let mut around = self.around.clone();
        around.push(self.own);
        Item { own, around, ..*self }
    }

    /// The innermost item that contains it in the outline.
    pub(crate) fn parent_item(&self) -> Option<&'db OutlineItem> {
        self.around.last().copied()
    }

    pub(crate) fn parent(&self) -> Option<Item<'db>> {
        let (own, around) = self.around.split_last()?;
        Some(Item { own, around: around.to_vec(), ..*self })
    }

    /// What identifies an item: its file, and the offset of its name.
    pub(crate) fn at(&self) -> (FileId, usize) {
        (self.id, self.own.name_span.start)
    }
}

#[derive(Default)]
pub(crate) struct Members<'db> {
    pub(crate) by_name: HashMap<String, Vec<Definition<'db>>>,
}

impl<'db> Members<'db> {
    pub(crate) fn named(&self, name: &str) -> &[Definition<'db>] {
        self.by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, Definition<'db>)> {
        self.by_name.iter().flat_map(|(name, members)| members.iter().map(move |it| (name.as_str(), *it)))
    }
}
