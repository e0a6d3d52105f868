//! Requests to gopls about one state of the files, with one deadline.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::{self, StreamExt as _};
use gen_lsp_types::{
    CallHierarchyOutgoingCall, CallHierarchyOutgoingCallsParams, CallHierarchyOutgoingCallsRequest,
    CallHierarchyPrepareParams, CallHierarchyPrepareRequest, Contents, Definition, DefinitionParams, DefinitionRequest,
    DefinitionResponse, DiagnosticSeverity, DocumentDiagnosticParams, Hover, HoverParams, HoverRequest,
    ImplementationParams, ImplementationRequest, ImplementationResponse, Location, LocationLink, PartialResultParams,
    ReferenceContext, ReferenceParams, ReferencesRequest, Request, TextDocumentIdentifier, TextDocumentPositionParams,
    WorkDoneProgressParams,
};

use super::answer_cache::Checked;
use super::layout::Layout;
use super::lsp_conversion::{self, PullDiagnostics};
use super::modules::parent;
use super::session::{Failure, Session};
use crate::LANGUAGE;
use semdex_engine::Deadlines;
use semdex_engine::files::{File, Files};
use semdex_model::Place;

/// The maximum number of concurrent requests: gopls uses all cores by itself.
pub(crate) const MAX_CONCURRENT: usize = 8;

/// The maximum number of new files that are requested one by one. If there are more, gopls loads everything again.
const FEW_FRESH: usize = 8;

/// gopls's message for a file that is in no loaded package.
const UNKNOWN_FILE: &str = "no package metadata";

pub(crate) struct GoplsQueries<'a> {
    pub session: &'a Session,
    pub layout: &'a Layout,
    pub files: &'a Files,
    pub deadlines: Deadlines,
    /// The generation of cached answers; `None` in a dry run, whose answers are not cached.
    pub generation: Option<u64>,
}

impl<'a> GoplsQueries<'a> {
    pub(crate) fn new(
        session: &'a Session,
        layout: &'a Layout,
        deadlines: Deadlines,
        generation: Option<u64>,
    ) -> GoplsQueries<'a> {
        GoplsQueries { session, layout, files: &layout.files, deadlines, generation }
    }

    pub(crate) fn load(&self, file: &str) -> Option<Arc<File>> {
        lsp_conversion::load(self.files, file)
    }

    /// The files to open for a request. gopls answers quickly for the packages of open files. Only files of the
    /// workspace are opened: gopls would treat a file outside as another workspace.
    pub(super) fn to_open<'f>(&self, file: &'f str) -> Vec<&'f str> {
        let known = self.files.get(file).is_some() && LANGUAGE.takes(file);
        if known { vec![file] } else { Vec::new() }
    }

    pub(super) fn at(&self, file: &File, offset: usize) -> TextDocumentPositionParams {
        let uri = self.session.root.uri(&file.path);
        let position = lsp_conversion::position(file, offset);
        TextDocumentPositionParams { text_document: TextDocumentIdentifier { uri }, position }
    }

    /// Sends a request about one file. gopls may not know a file that the build includes, because it overlooked that it
    /// can load it now. It is then asked again after a full reload.
    pub(super) async fn ask<R: Request>(
        &self,
        file: &str,
        open: &[&str],
        params: &R::Params,
    ) -> Result<R::Result, Failure> {
        let reloads = self.session.documents().reloads();
        match self.session.ask::<R>(open, params, self.deadlines).await {
            Err(Failure::Refused(message))
                if message.contains(UNKNOWN_FILE)
                    && self.layout.is_built(file)
                    && self.session.documents().retries(file, reloads) =>
            {
                self.session.cache.forget_references();
                self.session.index.clear();
                self.session.ask::<R>(open, params, self.deadlines).await
            }
            answer => answer,
        }
    }

    /// Makes gopls load the new files, so that its answers cover them.
    async fn catch_up(&self) -> Result<(), Failure> {
        let fresh = self.session.documents().fresh();
        let Some(generation) = self.generation.filter(|_| !fresh.is_empty()) else { return Ok(()) };
        let built: Vec<&String> = fresh.iter().filter(|file| self.layout.is_built(file)).collect();
        if built.len() > FEW_FRESH {
            self.session.documents().request_reload();
        } else {
            // A package need not be loaded twice.
            for (at, path) in built.iter().enumerate() {
                let known = built.iter().take(at).any(|it| parent(it) == parent(path));
                let Some(file) = self.files.get(path).filter(|_| !known) else { continue };
                let params = HoverParams {
                    text_document_position_params: self.at(file, 0),
                    work_done_progress_params: WorkDoneProgressParams::default(),
                };
                match self.ask::<HoverRequest>(path, &[], &params).await {
                    Ok(_) | Err(Failure::Inapplicable(_) | Failure::Refused(_)) => {}
                    Err(lacking) => return Err(lacking),
                }
            }
        }
        self.session.documents().settled(&fresh, generation);
        Ok(())
    }

    /// The references to the symbol at this offset without its declaration, in and outside the workspace.
    pub(crate) async fn references(&self, file: &File, offset: usize) -> Result<Arc<Vec<Location>>, Failure> {
        let cache = &self.session.cache;
        if let Some(kept) = self.generation.and_then(|generation| cache.references(generation, &file.path, offset)) {
            return Ok(kept);
        }
        self.catch_up().await?;
        let params = ReferenceParams {
            text_document_position_params: self.at(file, offset),
            context: ReferenceContext { include_declaration: false },
            work_done_progress_params: WorkDoneProgressParams::default(),
            partial_result_params: PartialResultParams::default(),
        };
        let answer = self.ask::<ReferencesRequest>(&file.path, &self.to_open(&file.path), &params).await?;
        let locations = Arc::new(answer.unwrap_or_default());
        if let Some(generation) = self.generation {
            self.session.documents().was_asked(generation);
            cache.keep_references(generation, &file.path, offset, locations.clone());
        }
        Ok(locations)
    }

    pub(crate) async fn definition(&self, file: &File, offset: usize) -> Result<Vec<Location>, Failure> {
        let params = DefinitionParams {
            text_document_position_params: self.at(file, offset),
            work_done_progress_params: WorkDoneProgressParams::default(),
            partial_result_params: PartialResultParams::default(),
        };
        let answer = self.ask::<DefinitionRequest>(&file.path, &self.to_open(&file.path), &params).await?;
        Ok(match answer {
            None => Vec::new(),
            Some(DefinitionResponse::Definition(definition)) => locations(definition),
            Some(DefinitionResponse::DefinitionLinkList(links)) => targets(links),
        })
    }

    pub(crate) async fn implementations(&self, file: &File, offset: usize) -> Result<Vec<Location>, Failure> {
        self.catch_up().await?;
        let params = ImplementationParams {
            text_document_position_params: self.at(file, offset),
            work_done_progress_params: WorkDoneProgressParams::default(),
            partial_result_params: PartialResultParams::default(),
        };
        let answer = self.ask::<ImplementationRequest>(&file.path, &self.to_open(&file.path), &params).await?;
        Ok(match answer {
            None => Vec::new(),
            Some(ImplementationResponse::Definition(definition)) => locations(definition),
            Some(ImplementationResponse::DefinitionLinkList(links)) => targets(links),
        })
    }

    /// The calls in the function that is declared at this offset.
    pub(crate) async fn outgoing_calls(
        &self,
        file: &File,
        offset: usize,
    ) -> Result<Vec<CallHierarchyOutgoingCall>, Failure> {
        self.catch_up().await?;
        let params = CallHierarchyPrepareParams {
            text_document_position_params: self.at(file, offset),
            work_done_progress_params: WorkDoneProgressParams::default(),
        };
        let open = self.to_open(&file.path);
        let items = self.ask::<CallHierarchyPrepareRequest>(&file.path, &open, &params).await?.unwrap_or_default();
        let mut calls = Vec::new();
        for item in items {
            let params = CallHierarchyOutgoingCallsParams {
                item,
                work_done_progress_params: WorkDoneProgressParams::default(),
                partial_result_params: PartialResultParams::default(),
            };
            let answer = self.ask::<CallHierarchyOutgoingCallsRequest>(&file.path, &open, &params).await?;
            calls.extend(answer.unwrap_or_default());
        }
        Ok(calls)
    }

    /// The hover as Markdown.
    pub(crate) async fn hover(&self, file: &File, offset: usize) -> Result<Option<String>, Failure> {
        let params = HoverParams {
            text_document_position_params: self.at(file, offset),
            work_done_progress_params: WorkDoneProgressParams::default(),
        };
        let answer = self.ask::<HoverRequest>(&file.path, &self.to_open(&file.path), &params).await?;
        Ok(answer.and_then(markdown))
    }

    /// The diagnostics of one file. The file is not opened: for a file that this build excludes, gopls would create
    /// another build configuration and load everything again.
    pub(crate) async fn check(&self, file: &str) -> Result<Checked, Failure> {
        let cache = &self.session.cache;
        if let Some(kept) = self.generation.and_then(|generation| cache.checked(generation, file)) {
            return Ok(kept);
        }
        let uri = self.session.root.uri(file);
        let params = DocumentDiagnosticParams {
            text_document: TextDocumentIdentifier { uri },
            identifier: None,
            previous_result_id: None,
            work_done_progress_params: WorkDoneProgressParams::default(),
            partial_result_params: PartialResultParams::default(),
        };
        let checked = match self.ask::<PullDiagnostics>(file, &[], &params).await {
            Ok(pulled) => Checked::Known(Arc::new(pulled.items.unwrap_or_default())),
            Err(Failure::Inapplicable(message) | Failure::Refused(message)) => Checked::Unknown(message.into()),
            Err(lacking) => return Err(lacking),
        };
        if let Some(generation) = self.generation {
            cache.keep_checked(generation, file, checked.clone());
        }
        Ok(checked)
    }

    /// Checks many files concurrently; each result may be a failure.
    pub(crate) async fn check_all(&self, files: Vec<String>) -> HashMap<String, Result<Checked, Failure>> {
        let checks = files.into_iter().map(|file| async move {
            let checked = self.check(&file).await;
            (file, checked)
        });
        stream::iter(checks).buffer_unordered(MAX_CONCURRENT).collect().await
    }

    /// Converts a location to a place; `None` if the file cannot be read.
    pub(crate) fn place(&self, location: &Location) -> Option<Place> {
        let file = self.load(&self.session.root.file(&location.uri)?)?;
        Some(lsp_conversion::place(&file, location.range))
    }
}

impl Checked {
    /// Whether gopls knows the file and it has no errors.
    pub(crate) fn is_clean(&self) -> bool {
        match self {
            Checked::Known(diagnostics) => !diagnostics.iter().any(|it| it.severity == Some(DiagnosticSeverity::Error)),
            Checked::Unknown(_) => false,
        }
    }
}

fn locations(definition: Definition) -> Vec<Location> {
    match definition {
        Definition::Location(location) => vec![location],
        Definition::LocationList(locations) => locations,
    }
}

fn targets(links: Vec<LocationLink>) -> Vec<Location> {
    links.into_iter().map(|link| Location { uri: link.target_uri, range: link.target_selection_range }).collect()
}

/// gopls answers in the format of the client capabilities.
fn markdown(hover: Hover) -> Option<String> {
    match hover.contents {
        Contents::MarkupContent(markup) if !markup.value.trim().is_empty() => Some(markup.value),
        _ => None,
    }
}
