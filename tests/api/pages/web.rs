//! Another front end's files, served beside the API.

use std::path::Path;

use tempfile::TempDir;

use super::world::World;

fn furnish(dir: &Path) {
    for (path, text) in [
        ("web/index.html", "their index"),
        ("web/shop-detail.html", "their shop"),
        ("web/imgs/types/ms.png", "their picture"),
        ("web/.git/config", "their secret"),
        ("web/drafts/next.html", "their draft"),
        ("secret.txt", "our secret"),
    ] {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn their_pages_and_pictures_are_found_and_nothing_else_is() {
    let dir = TempDir::new().unwrap();
    furnish(dir.path());
    for prefix in ["/api", ""] {
        let w = World::with(prefix, |mall| mall.web(dir.path().join("web")));
        for (path, want) in [
            ("/", "their index"),
            ("/shop-detail.html?id=1", "their shop"),
            ("/imgs/types/ms.png", "their picture"),
            ("/imgs//types/ms.png", "their picture"),
            ("//imgs//types//ms.png", "their picture"),
        ] {
            let response = w.request("GET", path, "", b"");
            assert_eq!((response.status, response.text.as_str()), (200, want), "{path}");
        }
        assert!(w.request("GET", "/mall/", "", b"").text.contains("mallbox"));
        let long_name = format!("/{}", "a".repeat(300));
        let long_picture = format!("/imgs/{}.png", "a".repeat(3_000));
        let deep = "/a".repeat(5_000);
        for path in [
            "/../secret.txt",
            "/%2e%2e/secret.txt",
            "/..%2fsecret.txt",
            "/imgs/..%2f..%2fsecret.txt",
            "/..%5csecret.txt",
            "/%252e%252e/secret.txt",
            "/.git/config",
            "/imgs/../../secret.txt",
            "/imgs/%00",
            "/index.html%00",
            "/%ff",
            "/nothing.html",
            // Folders without a page of their own: nobody lists their files.
            "/drafts/",
            "/imgs/",
            "/imgs/types/",
            "/index.html/",
            &long_name,
            &long_picture,
            &deep,
        ] {
            let response = w.request("GET", path, "", b"");
            assert_eq!(
                (response.status, &response.body["code"]),
                (404, &"NOT_FOUND".into()),
                "{path}: {}",
                response.text
            );
        }
        let traced = w.request("TRACE", "/", "x-secret: 7\r\n", b"");
        assert!(traced.status == 405 && !traced.text.contains("x-secret"), "{traced:?}");
        assert_eq!(w.call("GET", "/shop-type/list", "", "").status, 200);
        assert_eq!(w.call("GET", "/user/me", &w.customer, "").status, 200);
    }
}
