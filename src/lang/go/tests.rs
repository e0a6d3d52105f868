//! The Go engine from outside, with the real gopls.

use super::testbed::Fixture;

#[tokio::test]
async fn comes_up() {
    let fixture = Fixture::new("-- go.mod\nmodule example.com/a\n\ngo 1.26\n-- a.go\npackage a\n");
    fixture.ready().await;
    fixture.go.shutdown().await;
}
