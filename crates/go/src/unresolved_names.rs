//! Suggestions for an unresolved name in a written text: `auth.SignIn`, where the file imports `…/auth`.

use super::View;
use semdex_engine::{Result, Stop, Suggested, Unknown};
use semdex_model::{Code, Import, Symbol};

const MOST_SUGGESTED: usize = 5;
/// The exported names of a package are listed in full up to this number.
const FEW: usize = 4;
const LEAST_LIKENESS: f64 = 0.5;

/// The most similar exported names of the qualifier's package; for an import, the most similar packages.
pub(super) fn suggest(view: &View, unknown: &Unknown) -> Result<Suggested> {
    let qualified = || {
        let (local, name) = unknown.name.split_once('.')?;
        let is_it = |it: &&Import| match &it.alias {
            Some(alias) => alias == local,
            None => it.path.rsplit('/').next() == Some(local),
        };
        Some((unknown.file.outline().imports.iter().find(is_it)?.path.clone(), local, name))
    };
    let of = if unknown.is_import { None } else { qualified() };
    let package = match &of {
        Some((path, ..)) => path,
        None if unknown.is_import => &unknown.name,
        None => return Ok(Suggested::default()),
    };
    let names = match view.package(package) {
        Ok(found) => exported(&found.value.symbols),
        Err(Stop::Failed(error)) if error.code == Code::UnknownPackage => {
            return Ok(Suggested { suggestions: error.help.suggestions, ..Suggested::default() });
        }
        Err(stop) => return Err(stop),
    };
    let Some((_, local, name)) = of.filter(|_| !names.is_empty()) else { return Ok(Suggested::default()) };
    let detail = if names.len() <= FEW {
        let names: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
        format!("you used `{local}.{name}`, but package `{local}` only exports {}", names.join(", "))
    } else {
        format!("you used `{local}.{name}`, but package `{local}` exports no `{name}`")
    };
    Ok(Suggested { detail: Some(detail), suggestions: nearest(&names, name) })
}

fn exported(symbols: &[Symbol]) -> Vec<String> {
    let public = symbols.iter().filter(|it| it.public && !it.test);
    let mut names: Vec<String> = public.map(|it| it.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// The similar names, the most similar first; all names if there are few.
fn nearest(names: &[String], asked: &str) -> Vec<String> {
    let likeness = |it: &str| strsim::jaro_winkler(&it.to_lowercase(), &asked.to_lowercase());
    let mut ranked: Vec<(f64, &String)> = names.iter().map(|it| (likeness(it), it)).collect();
    ranked.retain(|(likeness, _)| *likeness >= LEAST_LIKENESS || names.len() <= FEW);
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    ranked.into_iter().take(MOST_SUGGESTED).map(|(_, it)| it.clone()).collect()
}
