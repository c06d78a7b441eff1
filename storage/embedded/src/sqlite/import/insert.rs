//! Inserts rows into their tables, with the ids of the source.

use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    CommentId, ImportRow, ImportedComment, ImportedNote, ImportedOrder, ImportedSale, ImportedVoucher, Shop,
    Timestamp, User,
};
use roaring::RoaringTreemap;
use rusqlite::{Connection, params};

use super::super::columns::id;
use super::super::users::put_card_row;

/// Vouchers of type sale.
pub(super) type SaleIds = RoaringTreemap;

/// Writes a row. Returns false if a row with the same key exists and is not replaced.
pub(super) fn insert(
    conn: &Connection,
    row: &ImportRow,
    replaces: bool,
    sales: &mut SaleIds,
) -> rusqlite::Result<bool> {
    let into = Tables { conn, replaces };
    // Rows keyed by a pair have no id that another row could take.
    let pairs = Tables { conn, replaces: false };
    match row {
        ImportRow::Setting(name, value) => {
            super::super::settings::put_setting(conn, name, value).map(|()| true)
        }
        ImportRow::ShopType(kind) => into.write(
            "shop_types (id, name, icon, sort, updated_ms) VALUES (?1, ?2, ?3, ?4, 0)",
            params![id(kind.id.get()), kind.name, kind.icon, kind.sort],
        ),
        ImportRow::Shop(shop) => into.shop(shop),
        ImportRow::User(user, password) => into.user(user, password.as_deref()),
        ImportRow::Card(user, card) => {
            let is_there = conn
                .prepare_cached("SELECT 1 FROM user_info WHERE user_id = ?1")?
                .exists([id(user.get())])?;
            if is_there && !replaces {
                return Ok(false);
            }
            put_card_row(conn, *user, card, Timestamp::from_millis(0)).map(|()| true)
        }
        ImportRow::Voucher(voucher) => {
            let written = into.voucher(voucher)?;
            if written && voucher.is_sale {
                sales.insert(voucher.id.get());
            } else if written {
                sales.remove(voucher.id.get());
            }
            Ok(written)
        }
        ImportRow::Sale(sale) => into.sale(sale),
        ImportRow::Order(order) => into.order(order),
        ImportRow::Note(note) => into.note(note),
        ImportRow::Comment(comment) => into.comment(comment),
        ImportRow::Follow { follower, followee, since } => pairs.write(
            "follows (user_id, followee_id, created_ms) VALUES (?1, ?2, ?3)",
            [id(follower.get()), id(followee.get()), since.as_millis()],
        ),
        ImportRow::Sign { user, day, made_up } => pairs.write(
            "sign_ins (user_id, day, made_up) VALUES (?1, ?2, ?3)",
            params![id(user.get()), day, made_up],
        ),
    }
}

struct Tables<'a> {
    conn: &'a Connection,
    replaces: bool,
}

impl Tables<'_> {
    fn write<P: rusqlite::Params>(&self, into: &str, values: P) -> rusqlite::Result<bool> {
        let verb = if self.replaces { "REPLACE" } else { "INSERT" };
        let or_not = if self.replaces { "" } else { "ON CONFLICT DO NOTHING" };
        let sql = format!("{verb} INTO {into} {or_not}");
        self.conn.prepare_cached(&sql)?.execute(values).map(|written| written > 0)
    }

    fn shop(&self, Shop { id: which, text, created, updated }: &Shop) -> rusqlite::Result<bool> {
        self.write(
            "shops (id, name, type_id, images, area, address, x, y, avg_price, open_hours, sold, comments, score,
               created_ms, updated_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            params![
                id(which.get()),
                text.name,
                id(text.kind.get()),
                text.images,
                text.area,
                text.address,
                text.x,
                text.y,
                text.avg_price,
                text.open_hours,
                text.sold,
                text.comments,
                text.score,
                created.as_millis(),
                updated.as_millis()
            ],
        )
    }

    fn user(&self, user: &User, password: Option<&str>) -> rusqlite::Result<bool> {
        // A user is replaced by id alone: another user with the same phone came first and stays.
        let is_anothers = self
            .conn
            .prepare_cached("SELECT 1 FROM users WHERE phone = ?1 AND id <> ?2")?
            .exists(params![user.phone.as_str(), id(user.id.get())])?;
        if is_anothers {
            return Ok(false);
        }
        self.write(
            "users (id, phone, nick_name, icon, role, password, created_ms, updated_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
            params![
                id(user.id.get()),
                user.phone.as_str(),
                user.nick_name,
                user.icon,
                user.role.number(),
                password,
                user.created.as_millis()
            ],
        )
    }

    fn voucher(&self, voucher: &ImportedVoucher) -> rusqlite::Result<bool> {
        let ImportedVoucher { id: which, text, created, updated, .. } = voucher;
        self.write(
            "vouchers (id, shop_id, title, sub_title, rules, pay_value, actual_value, status, created_ms, updated_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                id(which.get()),
                id(text.shop.get()),
                text.title,
                text.sub_title,
                text.rules,
                text.pay_value.get(),
                text.actual_value.get(),
                text.status.number(),
                created.as_millis(),
                updated.as_millis()
            ],
        )
    }

    /// Inserts a sale. Initial units and the time to pay are filled in at the end.
    fn sale(&self, sale: &ImportedSale) -> rusqlite::Result<bool> {
        self.write(
            "sales (voucher_id, initial, stock, begin_ms, end_ms, pay_within_ms, min_level, created_ms)
             VALUES (?1, ?2, ?2, ?3, ?4, 0, 0, ?5)",
            [
                id(sale.voucher.get()),
                id(sale.remaining),
                sale.begin.as_millis(),
                sale.end.as_millis(),
                sale.created.as_millis(),
            ],
        )
    }

    /// Inserts an order. Price, slot and deadline are filled in at the end.
    fn order(&self, order: &ImportedOrder) -> rusqlite::Result<bool> {
        let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
        self.write(
            "orders (id, user_id, voucher_id, slot, status, pay_value, pay_type, created_ms, deadline_ms, paid_ms,
               used_ms, refunded_ms) VALUES (?1, ?2, ?3, ?1, ?4, 0, ?5, ?6, ?6, ?7, ?8, ?9)",
            params![
                id(order.id.get()),
                id(order.user.get()),
                id(order.voucher.get()),
                order.status as u8,
                order.pay_type,
                order.created.as_millis(),
                millis(order.paid),
                millis(order.used),
                millis(order.refunded)
            ],
        )
    }

    fn note(&self, note: &ImportedNote) -> rusqlite::Result<bool> {
        self.write(
            "notes (id, shop_id, user_id, title, images, content, imported_likes, imported_comments, created_ms,
               updated_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                id(note.id.get()),
                id(note.shop.get()),
                id(note.user.get()),
                note.title,
                note.images,
                note.content,
                id(note.liked),
                id(note.comments),
                note.created.as_millis(),
                note.updated.as_millis()
            ],
        )
    }

    fn comment(&self, comment: &ImportedComment) -> rusqlite::Result<bool> {
        let id_or_zero = |comment: Option<CommentId>| id(comment.map_or(0, CommentId::get));
        self.write(
            "note_comments (id, note_id, user_id, parent_id, answer_id, content, imported_likes, status, imported,
               created_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8 < 2, ?9)",
            params![
                id(comment.id.get()),
                id(comment.note.get()),
                id(comment.user.get()),
                id_or_zero(comment.parent),
                id_or_zero(comment.answers),
                comment.content,
                id(comment.liked),
                comment.status,
                comment.created.as_millis()
            ],
        )
    }
}
