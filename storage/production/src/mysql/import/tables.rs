//! Imported rows as values of columns.

use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    CommentId, ImportRow, ImportedComment, ImportedNote, ImportedOrder, ImportedSale, ImportedVoucher,
    Profile, Shop, ShopType, Timestamp, User, UserId,
};
use mysql_async::Value;

/// A table with imported rows.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static [&'static str],
    /// Whether the first column identifies a row. A row identified by a pair has no id that another row could
    /// take.
    pub(super) has_id: bool,
}

macro_rules! tables {
    ($($constant:ident: $name:literal, $has_id:literal, [$($column:literal),+ $(,)?];)+) => {
        $(const $constant: Table = Table { name: $name, columns: &[$($column),+], has_id: $has_id };)+
    };
}

tables! {
    SETTINGS: "settings", true, ["name", "value"];
    SHOP_TYPES: "shop_types", true, ["id", "name", "icon", "sort", "updated_ms"];
    SHOPS: "shops", true, [
        "id", "name", "type_id", "images", "area", "address", "x", "y", "avg_price", "open_hours", "sold",
        "comments", "score", "created_ms", "updated_ms",
    ];
    USERS: "users", true, [
        "id", "phone", "nick_name", "icon", "role", "password", "created_ms", "updated_ms",
    ];
    CARDS: "user_info", true, [
        "user_id", "city", "introduce", "gender", "birthday", "credits", "level", "updated_ms",
    ];
    VOUCHERS: "vouchers", true, [
        "id", "shop_id", "title", "sub_title", "rules", "pay_value", "actual_value", "status", "created_ms",
        "updated_ms",
    ];
    SALES: "sales", true, [
        "voucher_id", "initial", "added", "stock", "begin_ms", "end_ms", "paused", "pay_within_ms", "min_level",
        "created_ms",
    ];
    ORDERS: "orders", true, [
        "id", "user_id", "voucher_id", "of_sale", "status", "pay_value", "pay_type", "created_ms", "deadline_ms",
        "paid_ms", "used_ms", "refunded_ms",
    ];
    NOTES: "notes", true, [
        "id", "shop_id", "user_id", "title", "images", "content", "imported_likes", "imported_comments",
        "created_ms", "updated_ms",
    ];
    COMMENTS: "note_comments", true, [
        "id", "note_id", "user_id", "parent_id", "answer_id", "content", "imported_likes", "status", "imported",
        "created_ms",
    ];
    FOLLOWS: "follows", false, ["user_id", "followee_id", "created_ms"];
    SIGN_INS: "sign_ins", false, ["user_id", "day", "made_up"];
}

/// Returns a row's table, and the values of its columns.
pub(super) fn values(row: ImportRow) -> (&'static Table, Vec<Value>) {
    match row {
        ImportRow::Setting(name, value) => (&SETTINGS, vec![name.into(), value.into()]),
        ImportRow::ShopType(ShopType { id, name, icon, sort }) => {
            (&SHOP_TYPES, vec![id.get().into(), name.into(), icon.into(), sort.into(), 0.into()])
        }
        ImportRow::Shop(shop) => (&SHOPS, shop_values(shop)),
        ImportRow::User(user, password) => (&USERS, user_values(user, password)),
        ImportRow::Card(user, card) => (&CARDS, card_values(user, card)),
        ImportRow::Voucher(voucher) => (&VOUCHERS, voucher_values(voucher)),
        ImportRow::Sale(sale) => (&SALES, sale_values(&sale)),
        ImportRow::Order(order) => (&ORDERS, order_values(&order)),
        ImportRow::Note(note) => (&NOTES, note_values(note)),
        ImportRow::Comment(comment) => (&COMMENTS, comment_values(comment)),
        ImportRow::Follow { follower, followee, since } => {
            (&FOLLOWS, vec![follower.get().into(), followee.get().into(), since.as_millis().into()])
        }
        ImportRow::Sign { user, day, made_up } => {
            (&SIGN_INS, vec![user.get().into(), day.into(), made_up.into()])
        }
    }
}

fn shop_values(Shop { id, text, created, updated }: Shop) -> Vec<Value> {
    vec![
        id.get().into(),
        text.name.into(),
        text.kind.get().into(),
        text.images.into(),
        text.area.into(),
        text.address.into(),
        text.x.into(),
        text.y.into(),
        text.avg_price.into(),
        text.open_hours.into(),
        text.sold.into(),
        text.comments.into(),
        text.score.into(),
        created.as_millis().into(),
        updated.as_millis().into(),
    ]
}

fn user_values(user: User, password: Option<String>) -> Vec<Value> {
    let created = user.created.as_millis();
    vec![
        user.id.get().into(),
        user.phone.as_str().into(),
        user.nick_name.into(),
        user.icon.into(),
        user.role.number().into(),
        password.into(),
        created.into(),
        created.into(),
    ]
}

fn card_values(user: UserId, card: Profile) -> Vec<Value> {
    vec![
        user.get().into(),
        card.city.into(),
        card.introduce.into(),
        card.gender.into(),
        card.birthday.into(),
        card.credits.into(),
        card.level.into(),
        0.into(),
    ]
}

fn voucher_values(ImportedVoucher { id, text, created, updated, .. }: ImportedVoucher) -> Vec<Value> {
    vec![
        id.get().into(),
        text.shop.get().into(),
        text.title.into(),
        text.sub_title.into(),
        text.rules.into(),
        text.pay_value.get().into(),
        text.actual_value.get().into(),
        text.status.number().into(),
        created.as_millis().into(),
        updated.as_millis().into(),
    ]
}

/// Initial units and the time to pay are filled in by the final steps.
fn sale_values(sale: &ImportedSale) -> Vec<Value> {
    vec![
        sale.voucher.get().into(),
        sale.remaining.into(),
        0.into(),
        sale.remaining.into(),
        sale.begin.as_millis().into(),
        sale.end.as_millis().into(),
        false.into(),
        0.into(),
        0.into(),
        sale.created.as_millis().into(),
    ]
}

/// Price, whether the voucher is a sale, and the payment deadline are filled in by the final steps.
fn order_values(order: &ImportedOrder) -> Vec<Value> {
    let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis).into();
    vec![
        order.id.get().into(),
        order.user.get().into(),
        order.voucher.get().into(),
        false.into(),
        (order.status as u8).into(),
        0.into(),
        order.pay_type.into(),
        order.created.as_millis().into(),
        order.created.as_millis().into(),
        millis(order.paid),
        millis(order.used),
        millis(order.refunded),
    ]
}

fn note_values(note: ImportedNote) -> Vec<Value> {
    vec![
        note.id.get().into(),
        note.shop.get().into(),
        note.user.get().into(),
        note.title.into(),
        note.images.into(),
        note.content.into(),
        note.liked.into(),
        note.comments.into(),
        note.created.as_millis().into(),
        note.updated.as_millis().into(),
    ]
}

fn comment_values(comment: ImportedComment) -> Vec<Value> {
    let id_or_zero = |comment: Option<CommentId>| Value::from(comment.map_or(0, CommentId::get));
    vec![
        comment.id.get().into(),
        comment.note.get().into(),
        comment.user.get().into(),
        id_or_zero(comment.parent),
        id_or_zero(comment.answers),
        comment.content.into(),
        comment.liked.into(),
        comment.status.into(),
        (comment.status < 2).into(),
        comment.created.as_millis().into(),
    ]
}
