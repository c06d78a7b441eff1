//! Conversion of dump rows to the mall's types: cleaned like user input, and refused if no user could have
//! entered the value.

use jiff::tz::TimeZone;
use mallbox_storage::{
    Cents, CommentId, ImportRow, ImportedComment, ImportedNote, ImportedOrder, ImportedSale, ImportedVoucher,
    NoteId, OrderId, OrderStatus, Phone, Profile, Shop, ShopId, ShopText, ShopType, ShopTypeId, Timestamp,
    User, UserId, VoucherId, VoucherStatus, VoucherText,
};

use super::dump::{Position, Row};
use super::fields::{Fields, RowError};
use super::pictures::Pictures;
use super::tables::{KINDS, Table};
use crate::language::{Bilingual, both};
use crate::mall::Passwords;
use crate::mall::base::{clean_text, wall_time};

/// Largest integer that JavaScript represents exactly.
const JS_SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

/// A converted row.
pub(super) struct ConvertedRow {
    pub(super) table: Table,
    /// First number of the row.
    pub(super) label: u64,
    pub(super) at: Position,
    /// Changes made to the row.
    pub(super) remarks: Vec<Bilingual>,
    /// Whether the row replaces an earlier one.
    pub(super) replaces: bool,
    pub(super) row: Result<ImportRow, RowError>,
}

/// Converts rows of all tables.
pub(super) struct RowConverter<'a> {
    pub(super) zone: &'a TimeZone,
    pub(super) now: Timestamp,
    pub(super) pictures: &'a mut Pictures,
}

impl RowConverter<'_> {
    pub(super) fn look(&mut self, row: &Row) -> ConvertedRow {
        let table = KINDS[row.table];
        let mut fields = Fields::new(row, table, self.zone, self.now);
        let read = fields.check_needed().and_then(|()| self.read(table, &mut fields));
        let (label, at) = (fields.label(), row.at);
        ConvertedRow { table, label, at, remarks: fields.remarks, replaces: row.replaces, row: read }
    }

    fn read(&mut self, table: Table, fields: &mut Fields<'_>) -> Result<ImportRow, RowError> {
        match table {
            Table::ShopType => self.shop_type(fields),
            Table::Shop => self.shop(fields),
            Table::User => self.user(fields),
            Table::Card => card(fields),
            Table::Voucher => voucher(fields),
            Table::Sale => sale(fields),
            Table::Order => order(fields),
            Table::Note => self.note(fields),
            Table::Comment => comment(fields),
            Table::Follow => follow(fields),
            Table::Sign => sign(fields),
        }
    }

    fn shop_type(&mut self, row: &Fields<'_>) -> Result<ImportRow, RowError> {
        Ok(ImportRow::ShopType(ShopType {
            id: ShopTypeId::new(row.id("id")?),
            name: clean_text::line(&row.text("name")?),
            // Pages prepend `/imgs` to the path.
            icon: self.pictures.one(&row.text("icon")?)?,
            sort: row.number("sort")?.unwrap_or(0),
        }))
    }

    fn shop(&mut self, row: &Fields<'_>) -> Result<ImportRow, RowError> {
        let signed = |count: u64| i64::try_from(count.min(JS_SAFE_INTEGER_MAX)).unwrap_or(0);
        let text = ShopText {
            name: clean_text::line(&row.text("name")?),
            kind: ShopTypeId::new(row.id_if_any("type_id")?),
            area: clean_text::line(&row.text("area")?),
            address: clean_text::line(&row.text("address")?),
            x: row.between("x", -180.0, 180.0)?,
            y: row.between("y", -85.05, 85.05)?,
            avg_price: row.number("avg_price")?.filter(|price| *price >= 0),
            open_hours: clean_text::line(&row.text("open_hours")?),
            sold: signed(row.count("sold")?),
            comments: signed(row.count("comments")?),
            score: signed(row.count("score")?),
            images: self.pictures.list(&row.text("images")?)?,
        };
        Ok(ImportRow::Shop(Shop {
            id: ShopId::new(row.id("id")?),
            text,
            created: row.instant_or_now("create_time")?,
            updated: row.instant_or_now("update_time")?,
        }))
    }

    fn user(&mut self, row: &mut Fields<'_>) -> Result<ImportRow, RowError> {
        let phone = Phone::parse(row.text("phone")?.trim())
            .ok_or(RowError::Row(both("手机号不是大陆号码", "phone is not a mainland number")))?;
        let password = row.text("password")?;
        let stored = Passwords::is_hash(&password).then_some(password.clone());
        if stored.is_none() && !password.is_empty() {
            row.remarks.push(both(
                "密码格式未知，已略去：该用户用验证码登录",
                "password of unknown format omitted: the user logs in by code",
            ));
        }
        let id = UserId::new(row.id("id")?);
        if !id.is_account() {
            return Err(RowError::Row(both("用户编号超出范围", "the id of the user is out of range")));
        }
        let nick_name = clean_text::line(&row.text("nick_name")?);
        let icon = self.pictures.one(&row.text("icon")?)?;
        let created = row.instant_or_now("create_time")?;
        Ok(ImportRow::User(User { icon, ..User::new(id, phone, nick_name, created) }, stored))
    }

    fn note(&mut self, row: &Fields<'_>) -> Result<ImportRow, RowError> {
        Ok(ImportRow::Note(ImportedNote {
            id: NoteId::new(row.id("id")?),
            shop: ShopId::new(row.id_if_any("shop_id")?),
            user: UserId::new(row.id("user_id")?),
            title: clean_text::line(&row.text("title")?),
            images: self.pictures.list(&row.text("images")?)?,
            content: clean_text::lines(&row.text("content")?),
            liked: row.count("liked")?.min(JS_SAFE_INTEGER_MAX),
            comments: row.count("comments")?.min(JS_SAFE_INTEGER_MAX),
            created: row.instant_or_now("create_time")?,
            updated: row.instant_or_now("update_time")?,
        }))
    }
}

fn card(row: &mut Fields<'_>) -> Result<ImportRow, RowError> {
    let birthday_text = row.text("birthday")?;
    let birthday = Some(birthday_text.clone()).filter(|day| wall_time::is_day(day));
    if birthday.is_none() && !(birthday_text.is_empty() || birthday_text.starts_with("0000")) {
        row.remarks.push(both("生日早于1900年或无效，已略去", "birthday invalid or before 1900, omitted"));
    }
    let level = u8::try_from(row.count("level")?).ok().filter(|level| *level <= 9);
    let card = Profile {
        city: clean_text::line(&row.text("city")?),
        introduce: clean_text::lines(&row.text("introduce")?),
        gender: row.number("gender")? == Some(1),
        birthday,
        credits: row.count("credits")?.min(JS_SAFE_INTEGER_MAX),
        level: level.ok_or(RowError::Row(both("会员等级不在0到9之间", "level is not 0 to 9")))?,
        set_level: None,
    };
    Ok(ImportRow::Card(UserId::new(row.id("user_id")?), card))
}

fn voucher(row: &mut Fields<'_>) -> Result<ImportRow, RowError> {
    let cents = |row: &Fields<'_>, name| match row.count(name) {
        Ok(cents @ 0..=JS_SAFE_INTEGER_MAX) => Ok(Cents::new(i64::try_from(cents).unwrap_or(0))),
        Ok(_) => Err(RowError::Row(both("金额超出范围", "amount out of range"))),
        Err(unfit) => Err(unfit),
    };
    let status = match row.number("status")? {
        None | Some(1) => VoucherStatus::OnShelf,
        Some(2) => VoucherStatus::OffShelf,
        Some(3) => VoucherStatus::Expired,
        Some(_) => {
            row.remarks.push(both(
                "状态未知的优惠券按下架处理",
                "a voucher of unknown status is imported as off the shelf",
            ));
            VoucherStatus::OffShelf
        }
    };
    let text = VoucherText {
        shop: ShopId::new(row.id_if_any("shop_id")?),
        title: clean_text::line(&row.text("title")?),
        sub_title: clean_text::line(&row.text("sub_title")?),
        rules: clean_text::lines(&row.text("rules")?),
        pay_value: cents(row, "pay_value")?,
        actual_value: cents(row, "actual_value")?,
        status,
    };
    Ok(ImportRow::Voucher(ImportedVoucher {
        id: VoucherId::new(row.id("id")?),
        text,
        is_sale: row.number("type")? == Some(1),
        created: row.instant_or_now("create_time")?,
        updated: row.instant_or_now("update_time")?,
    }))
}

fn sale(row: &mut Fields<'_>) -> Result<ImportRow, RowError> {
    let stock = row.number("stock")?.ok_or(RowError::Row(both("缺少库存", "stock missing")))?;
    let remaining = u64::try_from(stock).unwrap_or_else(|_| {
        row.remarks.push(both(
            "库存小于0，按0处理：原系统已超卖",
            "stock below 0 imported as 0: the original system oversold",
        ));
        0
    });
    if remaining > JS_SAFE_INTEGER_MAX {
        return Err(RowError::Row(both("库存超出范围", "stock out of range")));
    }
    // MySQL sorts a zero date before all others: a sale without times has begun and ended.
    let long_ago = Timestamp::from_millis(0);
    let end = row.instant("end_time")?;
    if end.is_none() {
        row.remarks
            .push(both("没有结束时间的秒杀按已结束处理", "a sale without an end is imported as ended"));
    }
    Ok(ImportRow::Sale(ImportedSale {
        voucher: VoucherId::new(row.id("voucher_id")?),
        remaining,
        begin: row.instant("begin_time")?.unwrap_or(long_ago),
        end: end.unwrap_or(long_ago),
        created: row.instant_or_now("create_time")?,
    }))
}

fn order(row: &Fields<'_>) -> Result<ImportRow, RowError> {
    let status = match row.number("status")? {
        None | Some(1) => OrderStatus::Unpaid,
        Some(2) => OrderStatus::Paid,
        Some(3) => OrderStatus::Used,
        Some(4) => OrderStatus::Cancelled,
        Some(5) => OrderStatus::Refunding,
        Some(6) => OrderStatus::Refunded,
        Some(_) => return Err(RowError::Row(both("状态不在1到6之间", "status is not 1 to 6"))),
    };
    let pay_type = u8::try_from(row.number("pay_type")?.unwrap_or(1));
    Ok(ImportRow::Order(ImportedOrder {
        id: OrderId::new(row.order_id()?),
        voucher: VoucherId::new(row.id("voucher_id")?),
        user: UserId::new(row.id("user_id")?),
        status,
        pay_type: pay_type.map_err(|_| RowError::Row(both("支付方式无效", "invalid kind of payment")))?,
        created: row.instant_or_now("create_time")?,
        paid: row.instant("pay_time")?,
        used: row.instant("use_time")?,
        refunded: row.instant("refund_time")?,
    }))
}

fn comment(row: &Fields<'_>) -> Result<ImportRow, RowError> {
    let status = row.count("status")?;
    Ok(ImportRow::Comment(ImportedComment {
        id: CommentId::new(row.id("id")?),
        note: NoteId::new(row.id("blog_id")?),
        user: UserId::new(row.id("user_id")?),
        parent: comment_if_any(row, "parent_id")?,
        answers: comment_if_any(row, "answer_id")?,
        content: clean_text::lines(&row.text("content")?),
        liked: row.count("liked")?.min(JS_SAFE_INTEGER_MAX),
        status: u8::try_from(status)
            .ok()
            .filter(|status| *status <= 2)
            .ok_or(RowError::Row(both("状态不在0到2之间", "status is not 0 to 2")))?,
        created: row.instant_or_now("create_time")?,
    }))
}

fn comment_if_any(row: &Fields<'_>, name: &str) -> Result<Option<CommentId>, RowError> {
    let id = row.id_if_any(name)?;
    Ok((id > 0).then_some(CommentId::new(id)))
}

fn follow(row: &Fields<'_>) -> Result<ImportRow, RowError> {
    let follower = UserId::new(row.id("user_id")?);
    let followee = UserId::new(row.id("follow_user_id")?);
    if follower == followee {
        return Err(RowError::Row(both("不能关注自己", "a user cannot follow themselves")));
    }
    Ok(ImportRow::Follow { follower, followee, since: row.instant_or_now("create_time")? })
}

fn sign(row: &Fields<'_>) -> Result<ImportRow, RowError> {
    let day = row.text("date")?;
    if !wall_time::is_day(&day) {
        return Err(RowError::Row(both("日期无效", "invalid date")));
    }
    let made_up = row.number("is_backup")? == Some(1);
    Ok(ImportRow::Sign { user: UserId::new(row.id("user_id")?), day, made_up })
}
