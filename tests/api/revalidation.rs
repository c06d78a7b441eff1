//! Conditional requests: clients that have the content get 304, and the new content once it changed.

use serde_json::json;

use super::world::world;

fn etag_in(head: &str) -> String {
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: "));
    tag.unwrap_or_else(|| panic!("no tag in {head}")).trim().to_owned()
}

#[test]
fn content_that_a_client_has_is_not_sent_again_until_it_changes() {
    let w = world();
    let shared = [
        "/shop/1",
        "/shop-type/list",
        "/shop/of/type?typeId=1&current=1",
        "/shop/of/type?typeId=1&current=1&x=120.149&y=30.316",
        "/shop/near?x=120.149&y=30.316",
        "/shop/areas",
    ];
    for path in shared {
        let full = w.call("GET", path, "", "");
        for header in ["cache-control: no-cache\r\n", "vary: x-mallbox-client\r\n"] {
            assert!(full.head.contains(header), "{path}: {header} in {}", full.head);
        }
        let tag = etag_in(&full.head);
        let ask =
            |tag: &str| w.request("GET", &format!("/api{path}"), &format!("if-none-match: {tag}\r\n"), b"");
        let known = ask(&tag);
        assert_eq!((known.status, known.text.as_str()), (304, ""), "{path}");
        assert_eq!(etag_in(&known.head), tag, "{path}");
        let other = ask("\"other\"");
        assert_eq!((other.status, &other.text), (200, &full.text), "{path}");
    }

    let before = w.call("GET", "/shop/1", "", "");
    let change = json!({ "id": 1, "name": "又一家茶餐厅" }).to_string();
    assert_eq!(w.call("PUT", "/shop", &w.operator, &change).status, 200);
    let tag = format!("if-none-match: {}\r\n", etag_in(&before.head));
    let after = w.request("GET", "/api/shop/1", &tag, b"");
    assert_eq!((after.status, &after.body["data"]["name"]), (200, &json!("又一家茶餐厅")));
}
