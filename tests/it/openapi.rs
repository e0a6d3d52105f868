//! The checked-in document equals the generated one.

use std::fs;
use std::path::Path;

use crate::support::{RUST, Server};

#[test]
fn the_checked_in_document_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.yaml");
    let generated = semdex::http::openapi_yaml(semdex::engines().languages());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, &generated).unwrap();
    }
    let checked_in = fs::read_to_string(&file).unwrap_or_default();
    let differing = generated.lines().zip(checked_in.lines()).position(|(a, b)| a != b);
    let line = differing.unwrap_or_else(|| generated.lines().count().min(checked_in.lines().count())) + 1;
    assert!(
        generated == checked_in,
        "openapi.yaml differs from the code in line {line}: run `cargo xtask openapi`, and look \
         at the difference, for clients are generated from it"
    );
}

#[test]
fn the_document_is_served_as_it_is_checked_in() {
    let server = Server::shared(RUST);
    let reply = server.send(server.request("GET", "/openapi.yaml").header("accept", "application/yaml"));
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/yaml"));
    assert!(reply.text == semdex::http::openapi_yaml(semdex::engines().languages()));
}
