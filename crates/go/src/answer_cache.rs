//! Answers of gopls that one generation of the content needs repeatedly.

use semdex_engine::unpoisoned;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use gen_lsp_types::{Diagnostic, Location};

/// gopls's answer about one file: its diagnostics, or that the file belongs to no package that gopls knows.
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
    /// For each directory: whether no error hides what its names mean.
    clean: HashMap<String, bool>,
    references: HashMap<(String, usize), Arc<Vec<Location>>>,
}

impl Cache {
    fn held(&self) -> MutexGuard<'_, Held> {
        unpoisoned::lock(&self.held)
    }

    /// The content has changed: drops all answers.
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

    /// Drops the references that gopls returned before it loaded everything again.
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
