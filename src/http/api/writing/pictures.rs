//! Upload and deletion of pictures, under the path `/upload/…`.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::timeout;

use super::picture_form::PictureForm;
use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Login, Now, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::error::ApiError;
use crate::http::server::call_limits::{CALL_TIMEOUT, UPLOAD_PATH};
use crate::language::both;

/// Returns the routes of pictures.
pub fn routes() -> Calls {
    Calls::of(both("图片", "Pictures"))
        .post(UPLOAD_PATH, upload, both("上传一张图片，返回其路径", "Upload a picture; returns the path"))
        .explained(both(
            "含`file`的表单：JPEG、PNG、WebP或GIF，最大5 MiB、3200万像素，会重新编码。\
                页面在`/imgs`之下读取返回的路径。没有被笔记、店铺、\
                头像或店铺类型使用的图片一天后删除。",
            "A form with `file`: JPEG, PNG, WebP or GIF, up to 5 MiB and 32 million pixels, \
                re-encoded. Pages load the returned path below `/imgs`. A picture not used by a \
                note, a shop, a user or a shop type is deleted after a day.",
        ))
        .get(
            "/upload/blog/delete",
            remove,
            both("删除自己上传的图片", "Delete a picture uploaded by the caller"),
        )
}

async fn upload(
    State(app): State<App>,
    login: Result<Login, ApiError>,
    Now(now): Now,
    form: PictureForm,
) -> Reply<String> {
    let admitted = async {
        let Login(user) = login?;
        Ok((user, app.pictures.admit(user, now).await?))
    };
    let (user, place) = match admitted.await {
        Ok(admitted) => admitted,
        Err(error) => {
            form.discard().await;
            return Err(error);
        }
    };
    let file = form.file().await?;
    let put = timeout(CALL_TIMEOUT, app.pictures.put(place, user, file, now)).await;
    Ok(Answer::ok(put.map_err(|_| ApiError::too_slow())??))
}

#[derive(Deserialize, JsonSchema)]
struct NameQuery {
    /// The path returned by the upload, with or without `/imgs`.
    name: String,
}

async fn remove(State(app): State<App>, Login(user): Login, Query(query): Query<NameQuery>) -> Reply {
    app.pictures.remove(user, &query.name).await?;
    Ok(Answer::done())
}
