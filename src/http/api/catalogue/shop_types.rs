//! Shop types, under the path `/shop-type/…`.

use std::sync::Arc;

use axum::extract::State;
use mallbox_storage::{ShopType, ShopTypeEdit, ShopTypeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::http::App;
use crate::http::api::people::visits::Visitor;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::request::if_none_match::IfNoneMatch;
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::picture_list::PictureList;
use crate::language::both;
use crate::mall::base::{AuditedAction, By, run_audited};
use crate::mall::catalogue::shops::ShopTypeForm;

/// Returns the routes of shop types.
pub fn routes() -> Calls {
    Calls::of(both("店铺类型", "Kinds of shops"))
        .get("/shop-type/list", list, both("店铺类型", "All shop types"))
        .post("/shop-type", add, both("新增店铺类型，返回编号", "Add a shop type; returns the id"))
        .explained(both(
            "图片可以是上传的，也可以是`/imgs`之下的任何图片。",
            "Pictures are uploads or any file below `/imgs`.",
        ))
        .put("/shop-type/{id}", edit, both("修改店铺类型", "Change a shop type"))
        .explained(both("没有给出的字段保持不变。", "Omitted fields stay unchanged."))
}

#[derive(Serialize, JsonSchema)]
struct TypeAnswer {
    id: u64,
    #[schemars(example = &"美食")]
    name: String,
    #[schemars(example = &"/types/ms.svg")]
    icon: PictureList,
    sort: i64,
}

impl From<ShopType> for TypeAnswer {
    fn from(kind: ShopType) -> Self {
        Self { id: kind.id.get(), name: kind.name, icon: kind.icon.into(), sort: kind.sort }
    }
}

async fn list(
    State(app): State<App>,
    Now(now): Now,
    known: IfNoneMatch,
    visiting: Visitor,
) -> Reply<Vec<TypeAnswer>> {
    let types = app.shops.types(now).await?;
    visiting.saw(&app, None, now);
    Ok(known.answer(Answer::ok(types.into_iter().map(TypeAnswer::from).collect::<Vec<_>>())))
}

/// A shop type from an operator.
#[derive(Deserialize, JsonSchema)]
struct TypeBody {
    #[schemars(example = &"美食")]
    name: Option<String>,
    /// Path of the type's picture below `/imgs`, for example an upload.
    #[schemars(example = &"/types/ms.svg")]
    icon: Option<String>,
    /// Position in the list, lowest first; a new type is last by default.
    sort: Option<i64>,
}

impl From<TypeBody> for ShopTypeForm {
    fn from(TypeBody { name, icon, sort }: TypeBody) -> Self {
        Self { name, icon, sort }
    }
}

async fn add(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Json(body): Json<TypeBody>,
) -> Reply<u64> {
    let edit = ShopTypeForm::from(body).edit()?;
    let action = audited("shop-type.add", "shop types".to_owned(), &edit);
    let mall = Arc::clone(&app);
    let work = async move { mall.shops.add_type(edit, now).await };
    Ok(Answer::ok(run_audited(&app.audit, By::operator(user, now), action, work).await?.get()))
}

async fn edit(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<TypeBody>,
) -> Reply<TypeAnswer> {
    let edit = ShopTypeForm::from(body).edit()?;
    let action = audited("shop-type.edit", format!("shop type {id}"), &edit);
    let mall = Arc::clone(&app);
    let work = async move { mall.shops.update_type(ShopTypeId::new(id), &edit, now).await };
    let kind = run_audited(&app.audit, By::operator(user, now), action, work).await?;
    Ok(Answer::ok(TypeAnswer::from(kind)))
}

fn audited(action: &'static str, subject: String, edit: &ShopTypeEdit) -> AuditedAction {
    let ShopTypeEdit { name, icon, sort } = edit;
    AuditedAction { action, subject, detail: json!({ "name": name, "icon": icon, "sort": sort }) }
}
