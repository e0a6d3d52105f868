//! The pages as they are served; `tests/faces/pages.mjs` shows them in a browser.

use crate::support::{RUST, Server};

#[test]
fn the_pages_are_whole_without_a_network_and_hold_nothing_of_a_workspace() {
    let server = Server::shared(RUST);
    let mut seen = Vec::new();
    let mut next = vec!["/".to_owned(), "/docs".to_owned()];
    while let Some(path) = next.pop() {
        let reply = server.send(server.stranger("GET", &path));
        assert_eq!(reply.status, 200, "{path}");
        let policy = reply.header("content-security-policy").to_owned();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("connect-src 'self'"), "{path}: {policy}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        for private in [server.home.root().to_str().unwrap(), &server.home.token(), "greeter"] {
            assert!(!reply.text.contains(private), "{path} has {private}");
        }
        if reply.header("content-type").starts_with("text/html") {
            for inline in ["<style", " style=", "<script>", "onclick=", "http://", "https://"] {
                assert!(!reply.text.contains(inline), "{path} has {inline}");
            }
            let of = |mark: &str| -> Vec<String> {
                let parts = reply.text.split(mark).skip(1);
                parts.filter_map(|it| Some(it.split_once('"')?.0.to_owned())).filter(|it| it.starts_with('/')).collect()
            };
            let named = [" src=\"", " href=\"", "spec-url=\""].iter().flat_map(|it| of(it)).collect::<Vec<_>>();
            next.extend(named.into_iter().filter(|it| !seen.contains(it) && *it != path));
        }
        seen.push(path);
    }
    for path in ["/page/semdex.css", "/page/semdex.js", "/docs/rapidoc-min.js", "/docs/openapi.yaml"] {
        assert!(seen.iter().any(|it| it == path), "nothing names {path}");
    }
    let document = server.send(server.stranger("GET", "/docs/openapi.yaml"));
    assert!(document.text == semdex::http::openapi_yaml(semdex::engines().languages()));
    let foreign = server.send(server.stranger("GET", "/").header("host", "evil.example"));
    assert_eq!(foreign.code(), "forbidden_host");
}
