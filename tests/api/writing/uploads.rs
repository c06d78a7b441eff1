//! Pictures over HTTP: an upload is served at the returned path, and nothing else ever is.

use std::io::{Cursor, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use mallbox::fixture::{Data, Fault, Mall};
use mallbox::mall::Settings;
use mallbox_storage::{Limit, PictureUsage};
use mallbox_test_servers::MallLocation;
use serde_json::{Value, json};

use super::world::{CUSTOMER, OTHER, Response, World, world};

pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const BOUNDARY: &str = "----a1b2c3";
const FORM: &str = "content-type: multipart/form-data; boundary=----a1b2c3\r\n";

/// Returns a picture file.
pub fn file(format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let image = RgbImage::from_fn(60, 40, |x, _| Rgb([200, u8::try_from(x).unwrap(), 20]));
    DynamicImage::from(image).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Returns one form field; a file if `file_name` is given.
fn field(name: &str, file_name: Option<&str>, content: &[u8]) -> Vec<u8> {
    let file_name = file_name.map(|name| format!("; filename=\"{name}\"")).unwrap_or_default();
    let head = format!(
        "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"{file_name}\r\ncontent-type: image/png\r\n\r\n"
    );
    [head.as_bytes(), content, b"\r\n"].concat()
}

fn form(fields: &[Vec<u8>]) -> Vec<u8> {
    [fields.concat(), format!("--{BOUNDARY}--\r\n").into_bytes()].concat()
}

fn send(w: &World, token: &str, headers: &str, body: &[u8]) -> Response {
    let token = if token.is_empty() { String::new() } else { format!("authorization: {token}\r\n") };
    w.request("POST", "/api/upload/blog", &format!("{token}{headers}"), body)
}

/// Uploads a file as the front end does.
pub fn upload(w: &World, token: &str, content: &[u8]) -> Response {
    send(w, token, FORM, &form(&[field("file", Some("photo.jpg"), content)]))
}

/// Uploads a picture without a retry, to test refusals.
fn upload_once(w: &World, token: &str) -> Response {
    let headers = format!("authorization: {token}\r\n{FORM}");
    let body = form(&[field("file", Some("photo.jpg"), &file(ImageFormat::Png))]);
    w.ask_once("POST", "/api/upload/blog", &headers, &body)
}

/// Uploads a picture that must be accepted. Returns the name.
pub fn taken(w: &World, token: &str) -> String {
    let response = upload(w, token, &file(ImageFormat::Png));
    response.body["data"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned()
}

/// Response to a request for a picture.
pub struct PictureResponse {
    pub status: u16,
    head: String,
    content: Vec<u8>,
}

fn ask_for(mut stream: TcpStream, method: &str, path: &str, headers: &str) -> PictureResponse {
    let request =
        format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let content = answer.split_off(end + 4);
    let head = String::from_utf8(answer).unwrap();
    PictureResponse { status: head.split(' ').nth(1).unwrap().parse().unwrap(), head, content }
}

pub fn show(w: &World, name: &str) -> PictureResponse {
    ask_for(w.connect(), "GET", &format!("/imgs{name}"), "")
}

fn remove(w: &World, token: &str, name: &str) -> Value {
    let response = w.call("GET", &format!("/upload/blog/delete?name={name}"), token, "");
    assert_eq!(response.status, 200, "{response:?}");
    response.body
}

#[test]
fn a_picture_is_shown_where_the_answer_says_and_never_asked_for_again() {
    let w = world();
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP, ImageFormat::Gif] {
        let response = upload(&w, &w.customer, &file(format));
        assert_eq!(
            (response.status, &response.body["success"]),
            (200, &json!(true)),
            "{format:?}: {response:?}"
        );
        let name = response.body["data"].as_str().unwrap();
        let parts: Vec<&str> = name.split('/').collect();
        assert_eq!((parts.len(), parts[0], parts[1]), (5, "", "blogs"), "{name}");
        assert!(parts[2..4].iter().all(|folder| folder.parse::<u8>().unwrap() < 16), "{name}");
        assert!(parts[4].len() == 40 && parts[4].ends_with(".jpg"), "{name}");

        let shown = show(&w, name);
        assert_eq!(shown.status, 200, "{}", shown.head);
        for line in [
            "content-type: image/jpeg",
            "cache-control: public, max-age=31536000, immutable",
            "content-security-policy: default-src 'none'; style-src 'unsafe-inline'; sandbox",
            "x-content-type-options: nosniff",
        ] {
            assert!(shown.head.contains(line), "{line}: {}", shown.head);
        }
        let image = image::load_from_memory(&shown.content).unwrap();
        assert_eq!((image.width(), image.height()), (60, 40));
    }
}

#[test]
fn a_picture_that_is_known_is_not_sent_again_and_its_head_alone_has_its_size() {
    let w = world();
    let name = taken(&w, &w.customer);
    let shown = show(&w, &name);
    let etag = shown.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    let known = ask_for(w.connect(), "GET", &format!("/imgs{name}"), &format!("if-none-match: {etag}\r\n"));
    assert_eq!((known.status, known.content.len()), (304, 0), "{}", known.head);
    let head = ask_for(w.connect(), "HEAD", &format!("/imgs/{name}"), "");
    assert_eq!((head.status, head.content.len()), (200, 0), "{}", head.head);
    assert!(head.head.contains(&format!("content-length: {}", shown.content.len())), "{}", head.head);
    assert_eq!(ask_for(w.connect(), "DELETE", &format!("/imgs{name}"), "").status, 405);
}

#[test]
fn what_is_no_picture_is_refused_with_words_and_leaves_nothing() {
    let w = world();
    let png = file(ImageFormat::Png);
    let mut bomb = png.clone();
    bomb[16..24].copy_from_slice(&[0, 0, 0xc3, 0x50, 0, 0, 0xc3, 0x50]);
    for (what, content) in [
        ("svg", &b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>"[..]),
        ("html", b"<!doctype html><script>alert(1)</script>"),
        ("a bomb whose checksum is wrong", &bomb),
        ("half a picture", &png[..png.len() / 2]),
        ("noise", &[0xff; 3 << 20]),
    ] {
        let response = upload(&w, &w.customer, content);
        assert_eq!(
            (response.status, &response.body["code"]),
            (200, &json!("PICTURE_INVALID")),
            "{what}: {response:?}"
        );
    }
    let usage = w.mall.app().unwrap().context.storage.writing.pictures.clone();
    let customer = mallbox_storage::UserId::new(2);
    let usage = w.mall.wait_for(async move { usage.usage(customer).await.unwrap() }).unwrap();
    assert_eq!(usage, PictureUsage::default());
}

#[test]
fn a_picture_with_too_many_pixels_is_refused_in_words() {
    let w = world();
    // Eight thousand by five thousand pixels of one colour: a small file.
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::new_luma8(8_000, 5_000).write_to(&mut bytes, ImageFormat::Png).unwrap();
    let response = upload(&w, &w.customer, bytes.get_ref());
    assert_eq!((response.status, &response.body["code"]), (200, &json!("PICTURE_TOO_LARGE")), "{response:?}");
}

#[test]
fn nothing_of_a_file_but_its_picture_is_kept_and_its_name_is_nobodys_business() {
    let w = world();
    let polyglot = [file(ImageFormat::Jpeg), b"<script>alert(1)</script>".to_vec()].concat();
    for name in ["../../../etc/passwd", "a.html", "C:\\\\x.svg", "茶.jpg", ""] {
        let body = form(&[field("file", Some(name), &polyglot), field("other", None, b"passed over")]);
        let response = send(&w, &w.customer, FORM, &body);
        let kept = response.body["data"].as_str().unwrap_or_else(|| panic!("{name}: {response:?}"));
        assert!(kept.starts_with("/blogs/") && kept.ends_with(".jpg"), "{kept}");
        let shown = show(&w, kept);
        assert!(!shown.content.windows(6).any(|bytes| bytes == b"script"));
    }
}

#[test]
fn a_form_that_no_page_makes_is_refused_in_words() {
    let w = world();
    let png = file(ImageFormat::Png);
    let whole = form(&[field("file", Some("a.png"), &png)]);
    let twice = form(&[field("file", Some("a.png"), &png), field("file", Some("b.png"), &png)]);
    for (what, headers, body, status, code) in [
        ("no field", FORM, form(&[]), 200, "MISSING"),
        ("another field", FORM, form(&[field("picture", Some("a.png"), &png)]), 200, "MISSING"),
        ("nothing chosen", FORM, form(&[field("file", Some(""), b"")]), 200, "MISSING"),
        ("two files", FORM, twice, 400, "BAD_REQUEST"),
        ("cut off", FORM, whole[..whole.len() - 20].to_vec(), 400, "BAD_REQUEST"),
        ("no body", FORM, Vec::new(), 400, "BAD_REQUEST"),
        ("no type", "", whole.clone(), 400, "BAD_REQUEST"),
        ("no boundary", "content-type: multipart/form-data\r\n", whole.clone(), 400, "BAD_REQUEST"),
        (
            "another boundary",
            "content-type: multipart/form-data; boundary=x\r\n",
            whole.clone(),
            400,
            "BAD_REQUEST",
        ),
        ("json", "content-type: application/json\r\n", b"{}".to_vec(), 400, "BAD_REQUEST"),
        ("the picture alone", "content-type: image/png\r\n", png.clone(), 400, "BAD_REQUEST"),
    ] {
        let response = send(&w, &w.customer, headers, &body);
        assert_eq!((response.status, &response.body["code"]), (status, &json!(code)), "{what}: {response:?}");
    }
}

#[test]
fn five_mebibytes_are_taken_and_more_are_not() {
    let w = world();
    let mut most = file(ImageFormat::Jpeg);
    most.resize(5 << 20, b' ');
    let response = upload(&w, &w.customer, &most);
    assert_eq!(response.body["success"], true, "{response:?}");
    for more in [(5 << 20) + 1, 6 << 20] {
        most.resize(more, b' ');
        let response = upload(&w, &w.customer, &most);
        assert_eq!(
            (response.status, &response.body["code"]),
            (413, &json!("TOO_LARGE")),
            "{more}: {response:?}"
        );
        assert!(response.body["errorMsg"].as_str().unwrap().contains("5MB"), "{response:?}");
    }
}

/// Sends the complete file, like a client that reads no early response. Returns the final response.
fn upload_completely(w: &World, token: &str, bytes: usize) -> String {
    let head = format!(
        "POST /api/upload/blog HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: {token}\r\n{FORM}content-length: {bytes}\r\n\r\n"
    );
    let mut stream = w.connect();
    stream.write_all(&[head.as_bytes(), &vec![b' '; bytes]].concat()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn who_is_refused_before_their_file_has_come_reads_why() {
    let w = World::with("/api", |mall| {
        let upload_limit = Some(Limit { count: 1, per: Duration::from_secs(60) });
        mall.settings(Settings { upload_limit, ..Settings::default().without_limits() })
    });
    for token in ["", "no-token-of-anybody"] {
        let answer = upload_completely(&w, token, 5 << 20);
        assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("NOT_LOGGED_IN"), "{answer}");
    }
    taken(&w, &w.customer);
    let answer = upload_completely(&w, &w.customer, 5 << 20);
    assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("RATE_LIMITED"), "{answer}");
    assert_eq!(w.call("GET", "/upload/blog/delete?name=/blogs/1/2/a.jpg", "", "").status, 401);
}

#[test]
fn only_who_uploaded_a_picture_deletes_it() {
    let w = world();
    let [one, another] = [taken(&w, &w.customer), taken(&w, &w.customer)];
    for path in [one.clone(), format!("/imgs{one}"), "/blogs/1/2/nobodys.jpg".to_owned(), "/x".to_owned()] {
        assert_eq!(remove(&w, &w.other, &path)["code"], "NOT_FOUND", "{path}");
    }
    assert_eq!(show(&w, &one).status, 200);
    assert_eq!(remove(&w, &w.customer, &one), json!({"success": true}));
    assert_eq!(remove(&w, &w.customer, &format!("/imgs{another}")), json!({"success": true}));
    assert_eq!((show(&w, &one).status, show(&w, &another).status), (404, 404));
    assert_eq!(remove(&w, &w.customer, &one)["code"], "NOT_FOUND");
    assert_eq!(w.call("GET", "/upload/blog/delete", &w.customer, "").status, 400);
}

#[test]
fn a_picture_that_nothing_shows_is_gone_after_a_day_and_an_icon_stays() {
    let w = world();
    let [idle, icon, removed] = [&w.customer, &w.customer, &w.other].map(|token| taken(&w, token));
    let wear = |token: &str, icon: &str| {
        let edit = json!({"nickName": "小鱼", "icon": icon}).to_string();
        assert_eq!(w.call("PUT", "/user/info", token, &edit).body["success"], true);
    };
    wear(&w.customer, &format!("/imgs{icon}"));
    wear(&w.other, &removed);
    assert_eq!(remove(&w, &w.other, &removed)["success"], true, "for the page it is gone");
    w.advance(DAY - Duration::from_secs(60));
    let statuses = || [&idle, &icon, &removed].map(|name| show(&w, name).status);
    assert_eq!(statuses(), [200, 200, 200]);
    w.advance(Duration::from_secs(120));
    assert_eq!(statuses(), [404, 200, 200]);
    wear(&w.log_in(CUSTOMER), "");
    wear(&w.log_in(OTHER), "");
    w.advance(DAY + Duration::from_secs(120));
    assert_eq!(statuses(), [404, 404, 404]);
}

#[test]
fn what_is_about_to_be_shown_is_kept_and_what_is_not_ones_own_is_named() {
    let w = world();
    let (mine, theirs) = (taken(&w, &w.customer), taken(&w, &w.other));
    w.advance(DAY - Duration::from_secs(60));
    let app = w.mall.app().unwrap();
    let paths = [format!("/imgs{mine}"), theirs.clone(), "/types/ms.png".to_owned(), mine.clone()];
    let customer = mallbox_storage::UserId::new(2);
    let keep = async move { app.pictures.keep(customer, &paths, app.context.now()).await.unwrap() };
    let not_theirs = w.mall.wait_for(keep).unwrap();
    assert_eq!(not_theirs, [theirs.as_str(), "/types/ms.png"]);
    w.advance(Duration::from_secs(180));
    assert_eq!((show(&w, &mine).status, show(&w, &theirs).status), (200, 404));
}

#[test]
fn a_user_at_a_limit_is_refused_with_the_name_of_the_limit() {
    let with = |room| {
        World::with("/api", |mall| {
            mall.settings(Settings { picture_room: room, ..Settings::default().without_limits() })
        })
    };
    let w = with(PictureUsage { pictures: 2, bytes: 1 << 30 });
    let first = taken(&w, &w.customer);
    taken(&w, &w.customer);
    let response = upload(&w, &w.customer, &file(ImageFormat::Png));
    assert_eq!((response.status, &response.body["code"]), (200, &json!("PICTURES_FULL")), "{response:?}");
    assert!(response.body["errorMsg"].as_str().unwrap().contains("2张"), "{response:?}");
    taken(&w, &w.other);
    assert_eq!(remove(&w, &w.customer, &first)["success"], true);
    taken(&w, &w.customer);

    let w = with(PictureUsage { pictures: 100, bytes: 100 });
    let response = upload(&w, &w.customer, &file(ImageFormat::Png));
    assert_eq!(response.body["code"], "PICTURES_FULL", "{response:?}");
    assert!(response.body["errorMsg"].as_str().unwrap().contains("MB"), "{response:?}");
}

#[test]
fn who_uploads_too_often_waits() {
    let limit = Some(Limit { count: 2, per: Duration::from_secs(60) });
    let w = World::with("/api", |mall| {
        mall.settings(Settings { upload_limit: limit, ..Settings::default().without_limits() })
    });
    taken(&w, &w.customer);
    taken(&w, &w.customer);
    let response = upload(&w, &w.customer, &vec![b' '; 4 << 20]);
    assert_eq!((response.status, &response.body["code"]), (429, &json!("RATE_LIMITED")), "{response:?}");
    assert!(response.head.contains("retry-after: 30"), "{}", response.head);
    taken(&w, &w.other);
    w.advance(Duration::from_secs(30));
    taken(&w, &w.customer);
}

#[test]
fn a_store_in_trouble_is_not_taken_for_a_missing_picture() {
    let w = world();
    let name = taken(&w, &w.customer);
    w.mall.faults().add(Fault::at_port("pictures").error()).unwrap();
    assert_eq!(show(&w, &name).status, 503);
    assert_eq!(show(&w, "/types/food.svg").status, 200, "a drawn one is there all the same");
    assert_eq!(show(&w, "/nothing.png").status, 404);
    assert_eq!(upload_once(&w, &w.customer).status, 503);
    w.mall.faults().cancel_all();
    assert_eq!(show(&w, &name).status, 200);
}

#[test]
fn more_uploads_than_there_is_room_for_are_asked_to_come_again_and_slow_ones_are_waited_for() {
    const PLACES: usize = 32;
    const PER_USER: usize = 16;
    let w = world();
    let body = form(&[field("file", Some("a.png"), &file(ImageFormat::Png))]);
    let (now, later) = body.split_at(body.len() / 2);
    let begin = |token: &str| {
        let head = format!(
            "POST /api/upload/blog HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: {token}\r\n{FORM}content-length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = w.connect();
        stream.write_all(&[head.as_bytes(), now].concat()).unwrap();
        stream
    };
    let busy = |token: &str| {
        let response = upload_once(&w, token);
        assert_eq!((response.status, &response.body["code"]), (503, &json!("BUSY")), "{response:?}");
    };
    let mut slow: Vec<TcpStream> = (0..PER_USER).map(|_| begin(&w.customer)).collect();
    // Longer than the time limit of any other request.
    std::thread::sleep(Duration::from_millis(1_700));
    busy(&w.customer);
    taken(&w, &w.other);
    slow.extend((PER_USER..PLACES).map(|_| begin(&w.operator)));
    std::thread::sleep(Duration::from_millis(1_700));
    busy(&w.other);
    for mut stream in slow {
        stream.write_all(later).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"data\":\"/blogs/"), "{answer}");
    }
    taken(&w, &w.other);
}

/// On servers another instance serves the picture while the first still runs; in a directory the next start
/// does.
#[test]
fn what_one_instance_took_another_shows_and_removes() {
    let ground = MallLocation::of_target(env!("CARGO_CRATE_NAME"));
    let start = |seed| Mall::builder().data(Data::Empty).seed(seed).place(ground.place()).start().unwrap();
    let first = start(7);
    let token = first.log_in(CUSTOMER).unwrap().token;
    let sent = |mall: &Mall, token: &str| {
        let request = axum::http::Request::post("/api/upload/blog")
            .header("authorization", token)
            .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"))
            .body(form(&[field("file", Some("a.png"), &file(ImageFormat::Png))]).into())
            .unwrap();
        let answer = mall.send(request).unwrap();
        answer.data().as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
    };
    let name = sent(&first, &token);
    let first = if ground.database().is_some() {
        Some(first)
    } else {
        drop(first);
        None
    };
    // Draws the same random names, and finds them taken.
    let second = start(7);
    let path = format!("/imgs{name}");
    let status = |mall: &Mall| {
        let address = mall.address().unwrap();
        ask_for(TcpStream::connect(address).unwrap(), "GET", &path, "").status
    };
    assert_eq!(status(&second), 200);
    let token = second.log_in(CUSTOMER).unwrap().token;
    assert_ne!(sent(&second, &token), name);
    let removed =
        second.call("GET", &format!("/api/upload/blog/delete?name={path}"), &token, &Value::Null).unwrap();
    assert!(removed.is_success(), "{removed:?}");
    assert_eq!(status(&second), 404);
    if let Some(first) = first {
        assert_eq!(status(&first), 404);
    }
}
