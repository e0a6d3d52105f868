//! Where an import leads to, as its text says.

use super::names::joined;
use semdex_engine::files::Files;

/// The file that an import leads to, and the name that it takes from it.
pub(crate) fn imported(files: &Files, from: &str, path: &str) -> (Option<String>, Option<String>) {
    let directory = from.rsplit_once('/').map_or("", |it| it.0);
    let exists = |it: &String| files.get(it).is_some();
    if path.starts_with("./") || path.starts_with("../") || path.contains('/') || path.ends_with(".h") {
        let joined = joined(directory, path);
        let endings =
            ["", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".d.ts", "/index.ts", "/index.tsx", "/index.js", ".rb", ".sh"];
        let stem = joined.strip_suffix(".js").unwrap_or(&joined);
        let all = endings.iter().flat_map(|end| [format!("{joined}{end}"), format!("{stem}{end}")]);
        return (all.into_iter().find(exists), None);
    }
    // Python: `.mod.name`, `pkg.mod.name`.
    let dots = path.len() - path.trim_start_matches('.').len();
    let mut base = directory.to_owned();
    for _ in 1..dots {
        base = base.rsplit_once('/').map_or(String::new(), |it| it.0.to_owned());
    }
    let parts: Vec<&str> = path.trim_start_matches('.').split('.').filter(|it| !it.is_empty()).collect();
    let bases = if dots > 0 { vec![base] } else { vec![String::new(), directory.to_owned(), "src".to_owned()] };
    // What an absolute import begins with is never a name of the package that it stands in.
    let cuts = [parts.len(), parts.len().saturating_sub(1)].into_iter().filter(|cut| *cut > 0 || dots > 0);
    for cut in cuts {
        let below = parts.get(..cut).unwrap_or_default().join("/");
        let name = parts.get(cut..).unwrap_or_default().first().map(|it| (*it).to_owned());
        for base in &bases {
            let stem = joined(base, &below);
            for end in [".py", "/__init__.py", ".pyi", "/__init__.pyi"] {
                let target = format!("{stem}{end}").trim_start_matches('/').to_owned();
                if files.get(&target).is_some() {
                    return (Some(target), name);
                }
            }
        }
    }
    (None, None)
}
