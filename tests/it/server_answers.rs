//! What language servers leave out of their answers: it is found all the same, or said to be lacking.

use serde_json::{Value, json};

use crate::language_servers::serve;
use crate::support::Server;

fn rename(server: &Server, symbol: &str, new_name: &str) -> (u16, Value) {
    server.post("/v1/rename", &json!({"symbol": symbol, "new_name": new_name}))
}

#[test]
fn a_rename_that_leaves_the_declaration_is_refused() {
    let text = "def helper(x: int) -> int:\n    return x\n\n\nhelper(1)\n";
    let server = serve(&[("pyproject.toml", "[project]\nname = \"pkg\"\n"), ("a.py", text)]);
    // basedpyright answers with an edit of no places.
    let (status, reply) = rename(&server, "helper", "class");
    assert_eq!((status, &reply["code"]), (422, &json!("rename_refused")), "{reply}");
    assert!(reply["detail"].as_str().unwrap().contains("does not rename `a.py::helper` to `class`"), "{reply}");
    assert_eq!(server.home.read("a.py"), text);
    let (status, reply) = rename(&server, "helper", "aid");
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    assert_eq!(server.home.read("a.py"), text.replace("helper", "aid"));
}
