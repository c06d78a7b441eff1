//! Pictures that an import left as files: shown, withheld and removed with what shows them.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::uploads::DAY;
use super::world::{OPERATOR, World, with_database_access};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n a bowl";
const BOWL: &str = "/food/bowl.png";
const ICON: &str = "/icons/cat.png";
const LOGO: &str = "/front/logo.png";

/// Returns a mall with three files, two of which came with an import; `None` on servers, where a fixture has
/// no folder of pictures.
fn moved_in() -> Option<(World, PathBuf)> {
    let w = with_database_access();
    let folder = w.ground().embedded()?.dir.join("uploads");
    for name in [BOWL, ICON, LOGO] {
        let file = folder.join(&name[1..]);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, PNG).unwrap();
    }
    for name in [BOWL, ICON] {
        w.ground()
            .sql(&format!("INSERT INTO picture_files (name, state, changed_ms) VALUES ('{name}', 0, 0)"));
    }
    Some((w, folder))
}

fn status(w: &World, name: &str) -> u16 {
    let response = w.request("GET", &format!("/imgs{name}"), "", b"");
    assert!(response.status != 404 || response.head.contains("cache-control: no-store"), "{}", response.head);
    response.status
}

/// Writes a note that shows pictures. Returns the note.
fn note(w: &World, names: &[&str]) -> u64 {
    let images: Vec<String> = names.iter().map(|name| format!("/imgs{name}")).collect();
    let form = json!({"title": "一碗面", "content": "好吃", "images": images.join(",")});
    w.call("POST", "/blog", &w.customer, &form.to_string()).body["data"].as_u64().unwrap()
}

fn decide(w: &World, note: u64, step: &str) {
    w.ok("POST", &format!("/ops/reports/note/{note}/{step}"), &w.log_in(OPERATOR));
}

#[test]
fn a_file_is_withheld_while_its_note_is_hidden_and_removed_with_the_note() {
    let Some((w, folder)) = moved_in() else { return };
    let note = note(&w, &[BOWL, LOGO]);
    assert_eq!([BOWL, LOGO].map(|name| status(&w, name)), [200, 200]);
    decide(&w, note, "hide");
    assert_eq!([BOWL, LOGO].map(|name| status(&w, name)), [404, 200], "the logo is no note's own");
    for way in
        ["/imgs/food//bowl.png", "/imgs/food/bowl%2epng", "/imgs//food/bowl.png", "/imgs/food/bowl.png/"]
    {
        assert_eq!(w.request("GET", way, "", b"").status, 404, "{way}");
    }
    let known = w.request(
        "GET",
        &format!("/imgs{BOWL}"),
        "if-modified-since: Sat, 21 Nov 2099 20:00:00 GMT\r\n",
        b"",
    );
    assert_eq!(known.status, 404, "a copy that is known is not confirmed");
    decide(&w, note, "show");
    assert_eq!(status(&w, BOWL), 200);

    w.ok("DELETE", &format!("/blog/{note}"), &w.customer);
    assert_eq!([BOWL, LOGO].map(|name| status(&w, name)), [404, 200]);
    w.advance(DAY - Duration::from_secs(60));
    assert!(folder.join("food/bowl.png").exists(), "as long as an upload");
    w.advance(Duration::from_secs(2 * 60 * 60));
    assert!(!folder.join("food/bowl.png").exists());
    assert!(folder.join("icons/cat.png").exists() && folder.join("front/logo.png").exists());
}

#[test]
fn an_icon_goes_with_its_account() {
    let Some((w, folder)) = moved_in() else { return };
    let card = json!({"nickName": "小鱼", "icon": format!("/imgs{ICON}")}).to_string();
    assert_eq!(w.call("PUT", "/user/info", &w.customer, &card).body["success"], true);
    let password = json!({"password": "correct horse"}).to_string();
    assert_eq!(w.call("PUT", "/user/password", &w.customer, &password).body["success"], true);
    assert_eq!(status(&w, ICON), 200);
    assert_eq!(w.call("DELETE", "/user/me", &w.customer, &password).body["success"], true);
    assert_eq!(status(&w, ICON), 404);
    w.advance(DAY + Duration::from_secs(2 * 60 * 60));
    assert!(!folder.join("icons/cat.png").exists());
}

#[test]
fn an_operator_removes_a_file_for_good_and_on_the_record() {
    let Some((w, folder)) = moved_in() else { return };
    note(&w, &[BOWL, LOGO]);
    let remove = |name: &str| {
        let path = format!("/ops/pictures/{}", format!("/imgs{name}").replace('/', "%2F"));
        w.call("DELETE", &path, &w.operator, "").body
    };
    for name in [BOWL, LOGO] {
        assert_eq!(remove(name), json!({"success": true}), "{name}");
        assert_eq!(status(&w, name), 404, "{name}");
        assert_eq!(remove(name)["code"], "NOT_FOUND", "{name}");
    }
    assert_eq!(remove("/front/none.png")["code"], "NOT_FOUND");
    assert!(!folder.join("food/bowl.png").exists() && !folder.join("front/logo.png").exists());
    assert_eq!(status(&w, ICON), 200);
    let log = w.ok("GET", "/ops/audit?max=10", &w.operator)["data"].to_string();
    assert!(log.contains("picture.erase") && log.contains(&format!("picture {BOWL}")), "{log}");
    w.assert_balanced();
}
