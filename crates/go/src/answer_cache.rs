//! Answers of gopls that are asked for again and again within one generation of the content.

use semdex_engine::unpoisoned;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use gen_lsp_types::{Diagnostic, Location};

/// What gopls says of one file: its diagnostics, or that it belongs to no package that it knows.
#[derive(Debug, Clone)]
pub(crate) enum Checked {
    Known(Arc<Vec<Diagnostic>>),
    Unknown(Arc<str>),
}

#[derive(Debug, Default)]
pub(crate) struct Cache {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    generation: u64,
    checked: HashMap<String, Checked>,
    /// Directories, and whether an error hides what names there mean.
    clean: HashMap<String, bool>,
    references: HashMap<(String, usize), Arc<Vec<Location>>>,
}

impl Cache {
    fn held(&self) -> MutexGuard<'_, Held> {
        unpoisoned::lock(&self.held)
    }

    /// The content has changed: nothing holds any more.
    pub(crate) fn forget(&self, generation: u64) {
        let mut held = self.held();
        if held.generation != generation {
            *held = Held { generation, ..Held::default() };
        }
    }

    pub(crate) fn checked(&self, generation: u64, file: &str) -> Option<Checked> {
        let held = self.held();
        held.checked.get(file).filter(|_| held.generation == generation).cloned()
    }

    pub(crate) fn keep_checked(&self, generation: u64, file: &str, checked: Checked) {
        let mut held = self.held();
        if held.generation == generation {
            held.checked.insert(file.to_owned(), checked);
        }
    }

    pub(crate) fn clean(&self, generation: u64, directory: &str) -> Option<bool> {
        let held = self.held();
        held.clean.get(directory).filter(|_| held.generation == generation).copied()
    }

    pub(crate) fn keep_clean(&self, generation: u64, directory: &str, clean: bool) {
        let mut held = self.held();
        if held.generation == generation {
            held.clean.insert(directory.to_owned(), clean);
        }
    }

    pub(crate) fn references(&self, generation: u64, file: &str, offset: usize) -> Option<Arc<Vec<Location>>> {
        let held = self.held();
        held.references.get(&(file.to_owned(), offset)).filter(|_| held.generation == generation).cloned()
    }

    /// What gopls said before it loaded everything anew.
    pub(crate) fn forget_references(&self) {
        self.held().references.clear();
    }

    pub(crate) fn keep_references(&self, generation: u64, file: &str, offset: usize, locations: Arc<Vec<Location>>) {
        let mut held = self.held();
        if held.generation == generation {
            held.references.insert((file.to_owned(), offset), locations);
        }
    }
}
