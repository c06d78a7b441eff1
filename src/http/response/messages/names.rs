//! Names of objects and fields in messages, and the limits of fields.

use crate::language::Language;

/// Returns the name of an object.
pub(super) fn thing(name: &'static str, l: Language) -> &'static str {
    match (l, name) {
        (Language::Zh, "user") => "用户",
        (Language::Zh, "cash session") => "班次",
        (Language::Zh, "Z report") => "Z报表",
        (Language::Zh, "kiosk") => "自助终端",
        (Language::Zh, "staff") => "店员",
        (Language::Zh, "claim gateway") => "抢购网关",
        (Language::Zh, "shop") => "店铺",
        (Language::Zh, "shop type") => "店铺类型",
        (Language::Zh, "voucher") => "优惠券",
        (Language::Zh, "order") => "订单",
        (Language::Zh, "sale") => "秒杀",
        (Language::Zh, "code") => "验证码",
        (Language::Zh, "dead letter") => "死信",
        (Language::Zh, "failed task") => "失败的任务",
        (Language::Zh, "receipt") => "券码对应的订单",
        (Language::Zh, "note") => "笔记",
        (Language::Zh, "comment") => "评论",
        (Language::Zh, "review") => "评价",
        (Language::Zh, "picture") => "图片",
        (Language::Zh, "archived day") => "归档日",
        (Language::Zh, "ledger") => "流水",
        (Language::Zh, "session") => "登录设备",
        (Language::Zh, "subscriber") => "事件订阅",
        (Language::Zh, "enrolment") => "待确认的两步验证设置",
        (Language::Zh, "second factor") => "两步验证",
        _ => name,
    }
}

/// Returns the name of a form field. English keeps the API's own name.
pub(super) fn field(name: &'static str, l: Language) -> &'static str {
    match (l, name) {
        (Language::Zh, "title") => "标题",
        (Language::Zh, "subTitle") => "副标题",
        (Language::Zh, "rules") => "使用规则",
        (Language::Zh, "name") => "名称",
        (Language::Zh, "address") => "地址",
        (Language::Zh, "area") => "商圈",
        (Language::Zh, "images" | "note images") => "图片",
        (Language::Zh, "content") => "正文",
        (Language::Zh, "comment") => "评论",
        (Language::Zh, "report reason") => "举报原因",
        (Language::Zh, "review score") => "评分",
        (Language::Zh, "averagePrice") => "人均消费",
        (Language::Zh, "reply") => "回复",
        (Language::Zh, "stars") => "星级",
        (Language::Zh, "after") => "列表位置",
        (Language::Zh, "stop") => "截止位置",
        (Language::Zh, "ids") => "编号列表",
        (Language::Zh, "orderId") => "订单号",
        (Language::Zh, "nickName") => "昵称",
        (Language::Zh, "icon") => "头像",
        (Language::Zh, "type icon") => "图标",
        (Language::Zh, "sort") => "排序",
        (Language::Zh, "file") => "图片文件",
        (Language::Zh, "city") => "城市",
        (Language::Zh, "introduce") => "个人介绍",
        (Language::Zh, "birthday") => "生日",
        (Language::Zh, "stock") => "库存",
        (Language::Zh, "beginTime") => "开始时间",
        (Language::Zh, "endTime") => "结束时间",
        (Language::Zh, "payValue") => "支付金额",
        (Language::Zh, "actualValue") => "抵扣金额",
        (Language::Zh, "phone") => "手机号",
        (Language::Zh, "code") => "验证码",
        (Language::Zh, "password") => "密码",
        (Language::Zh, "oldPassword") => "原密码",
        (Language::Zh, "new phone") => "新手机号",
        (Language::Zh, "oldCode") => "原手机号的验证码",
        (Language::Zh, "forfeit") => "是否放弃已支付的券",

        (Language::Zh, "shopId") => "店铺编号",
        (Language::Zh, "typeId") => "店铺类型编号",
        (Language::Zh, "id") => "编号",
        (Language::Zh, "x") => "经度",
        (Language::Zh, "y") => "纬度",
        (Language::Zh, "radius") => "半径",
        (Language::Zh, "lastId") => "起始时间",
        (Language::Zh, "offset") => "偏移量",
        (Language::Zh, "openHours") => "营业时间",
        (Language::Zh, "avgPrice") => "人均价格",
        (Language::Zh, "sold") => "销量",
        (Language::Zh, "comments") => "评论数",
        (Language::Zh, "score") => "评分",
        (Language::Zh, "status") => "状态",
        (Language::Zh, "payWithinSeconds") => "支付时限",
        (Language::Zh, "minLevel" | "level") => "会员等级",
        (Language::Zh, "credits") => "各级所需的积分",
        (Language::Zh, "add") => "库存变更数量",
        (Language::Zh, "waves") => "放货时间表",
        (Language::Zh, "max") => "候补人数上限",
        (Language::Zh, "challenges") => "验证方式",
        (Language::Zh, "workBits") => "工作量位数",
        (Language::Zh, "passSeconds") => "通行码有效期",
        (Language::Zh, "accountHours") => "注册时长",
        (Language::Zh, "perUser") => "每人限购",
        (Language::Zh, "judgementMode") => "风控方式",
        (Language::Zh, "kioskName" | "kioskNameTaken") => "自助终端的名称",
        (_, "kioskName" | "kioskNameTaken") => "name",
        (Language::Zh, "kiosks") => "自助终端",
        (Language::Zh, "pin") => "PIN码",
        (Language::Zh, "staffName") => "店员的姓名",
        (_, "staffName") => "name",
        (Language::Zh, "gatewayName") => "抢购网关的名称",
        (_, "gatewayName") => "name",
        (Language::Zh, "validHours") => "有效时间",
        (Language::Zh, "vouchers") => "秒杀",
        (Language::Zh, "claims") => "抢购列表",
        (Language::Zh, "claimsPerSecond") => "每秒抢购数",
        (Language::Zh, "perSecond") => "每秒放行人数",
        (Language::Zh, "admissionSeconds") => "购买时间",
        (Language::Zh, "jitterSeconds") => "提前发放的时间",
        (Language::Zh, "answer") => "验证的答案",
        (Language::Zh, "requestId") => "请求编号",
        (Language::Zh, "reason") => "原因",
        (Language::Zh, "amount") => "金额",
        (Language::Zh, "till") => "收银台",
        (Language::Zh, "float") => "备用金",
        (Language::Zh, "cash amount") => "金额",
        (_, "cash amount") => "amount",
        (Language::Zh, "counted") => "实点现金",
        (Language::Zh, "expected") => "应有现金",
        (Language::Zh, "method") => "收款方式",
        (Language::Zh, "order status") => "订单状态",
        (Language::Zh, "user") => "用户编号",
        (Language::Zh, "date" | "from" | "archive day" | "accounts day") => "日期",
        (Language::Zh, "before") => "截止日",
        (_, "accounts day") => "day",
        (Language::Zh, "accounts file") => "内容",
        (_, "accounts file") => "file",
        (Language::Zh, "accounts from") => "起始日期（--from）",
        (_, "accounts from") => "--from",
        (Language::Zh, "accounts to") => "截止日期（--to）",
        (_, "accounts to") => "--to",
        (Language::Zh, "accounts days") => "日期范围",
        (_, "accounts days") => "--from and --to",
        (Language::Zh, "accounts place") => "位置",
        (_, "accounts place") => "after",
        (Language::Zh, "keep-days") => "保留天数",
        (Language::Zh, "to") => "截止日期",
        (Language::Zh, "month") => "月份",
        (Language::Zh, "client") => "客户端地址",
        (Language::Zh, "subscriberName") => "名称",
        (Language::Zh, "kinds") => "事件种类",
        (Language::Zh, "target") => "目标",
        (Language::Zh, "url") => "接收地址",
        (Language::Zh, "secret") => "密钥",
        (Language::Zh, "Last-Event-ID") => "请求头Last-Event-ID",
        _ => name,
    }
}

/// Describes the values allowed in a field: the limits of the services.
pub(super) fn allowed(name: &'static str, l: Language) -> &'static str {
    let (zh, en) = match name {
        "title" | "subTitle" | "address" => ("最多255个字", "at most 255 characters"),
        "name" | "area" | "introduce" => ("最多128个字", "at most 128 characters"),
        "rules" => ("最多1024个字", "at most 1024 characters"),
        "city" => ("最多64个字", "at most 64 characters"),
        "nickName" | "openHours" => ("最多32个字", "at most 32 characters"),
        "images" => (
            "须是以/或http(s)://开头的图片地址，用逗号隔开，最多1024个字",
            "picture addresses beginning with / or http(s)://, separated by commas, at most 1024 characters",
        ),
        "note images" => (
            "须是本站以/imgs/开头的图片路径，用逗号隔开，最多9张",
            "at most 9 picture paths beginning with /imgs/, separated by commas",
        ),
        "content" => ("最多2048个字", "at most 2048 characters"),
        "comment" | "reply" => ("最多512个字", "at most 512 characters"),
        "review score" => ("须为10到50、以5为单位（星级×10）", "10 to 50 in steps of 5 (ten per star)"),
        "averagePrice" => ("须为0到100000000分", "0 to 100000000 cents"),
        "stars" => ("须为1到5", "1 to 5"),
        "subscriberName" => ("须为1到40个字母、数字或-_.", "1 to 40 letters, digits and -_."),
        "kinds" => ("须为手册所列的事件种类", "kinds of events as the manual lists them"),
        "target" => ("须为webhook、stream或log", "webhook, stream or log"),
        "secret" => ("须为16到200个字节", "16 to 200 bytes"),
        "Last-Event-ID" => ("须为事件的位置", "the position of an event"),
        "stop" => ("须不小于start，且不超过99", "not below start and at most 99"),
        "archive day" => ("格式为2026-11-24", "a day like 2026-11-24"),
        "before" => (
            "格式为2026-11-24，且不晚于今天（UTC）：只能归档已经结束的日子",
            "a day like 2026-11-24, not after today (UTC): only days that are over can be archived",
        ),
        "accounts from" | "accounts to" | "accounts day" => (
            "格式为2026-11-24，且不晚于今天（商城时区）",
            "a day like 2026-11-24, not after today in the mall's time zone",
        ),
        "accounts file" => ("须为orders、payments、books或cash", "orders, payments, books or cash"),
        "accounts days" => {
            ("--from不得晚于--to，最多366天", "days in order, --from not after --to, and at most 366 of them")
        }
        "accounts place" => ("须为上一页给出的位置", "the position that the page before returned"),
        "keep-days" => ("须为不太大的整数", "a number of days, not too large"),
        "after" => ("须为上一页最后一条的cursor", "the cursor of the last entry before"),
        "orderId" => ("须为订单号", "the id of an order"),
        "ids" => ("最多100个编号，用逗号隔开", "at most 100 ids, separated by commas"),
        "report reason" => ("最多255个字", "at most 255 characters"),
        "icon" | "type icon" => ("须是本站以/开头的图片路径", "a picture path beginning with /"),
        "sort" => ("须为整数，且不能过大", "a whole number, not too large"),
        "new phone" => ("须与现在的手机号不同", "a number other than the present one"),
        "birthday" => ("格式为2000-01-31，且不晚于今天", "a day like 2000-01-31, not after today"),
        "stock" => ("须为1以上的整数，-1表示不限量", "1 or more, or -1 for unlimited"),
        "beginTime" => {
            ("格式为2026-11-21T10:00:00，不带时区", "a time like 2026-11-21T10:00:00, without a zone")
        }
        "endTime" => (
            "格式为2026-11-21T10:00:00，不带时区，晚于开始时间，且尚未过去",
            "a time like 2026-11-21T10:00:00, without a zone, after beginTime and in the future",
        ),
        "payValue" | "actualValue" | "avgPrice" | "sold" | "comments" => {
            ("须为不小于0的整数，且不能过大", "a whole number of 0 or more, not too large")
        }
        "x" => ("须在-180与180之间", "-180 to 180 degrees"),
        "y" => ("须在-85.05与85.05之间", "-85.05 to 85.05 degrees"),
        "radius" => ("须大于0米且不超过100000米", "more than 0 and at most 100000 metres"),
        "score" => ("须为10到50的整数（星级×10），0表示暂无", "10 to 50 (ten per star), or 0 for no rating"),
        "status" => {
            ("须为1（上架）、2（下架）或3（过期）", "1 (on the shelf), 2 (off the shelf) or 3 (expired)")
        }
        "payWithinSeconds" => ("须为1到2592000秒（30天）", "1 to 2592000 seconds (30 days)"),
        "minLevel" | "level" => ("须为0到9", "0 to 9"),
        "credits" => (
            "须从0开始逐级增大，最多10级，不超过1000000000",
            "numbers from 0 that ascend, at most 10 and none above 1000000000",
        ),
        "add" => ("须为不等于0的整数，负数为减，且不能过大", "a whole number other than 0, not too large"),
        "waves" => (
            "最多50批，时间依次递增，均晚于现在、早于结束时间；每批至少1份，总数不能过大",
            "at most 50 waves in ascending order, between now and endTime, of 1 unit or more each",
        ),
        "max" => ("须为0到10000", "0 to 10000"),
        "challenges" => (
            "须为picture、slider、work、service，各至多一次",
            "picture, slider, work and service, each at most once",
        ),
        "workBits" => ("须为8到26", "8 to 26"),
        "passSeconds" => ("须为10到600秒", "10 to 600 seconds"),
        "kioskName" => ("须为1到40个字", "1 to 40 characters"),
        "kioskNameTaken" => ("不能与其他终端重名", "a name that no other kiosk has"),
        "pin" => ("须为6到12位数字", "6 to 12 digits"),
        "staffName" => ("须为1到40个字", "1 to 40 characters"),
        "kiosks" => ("最多100台", "at most 100 kiosks"),
        "gatewayName" => ("须为1到40个字", "1 to 40 characters"),
        "validHours" => ("须为1到2160小时（90天）", "1 to 2160 hours (90 days)"),
        "vouchers" => ("须为1到50场", "1 to 50 sales"),
        "claims" => ("须为1到500个", "1 to 500 claims"),
        "judgementMode" => ("须为off、observe、challenge或refuse", "off, observe, challenge or refuse"),
        "perUser" => ("须为1到20", "1 to 20"),
        "accountHours" => ("须为0到8760小时", "0 to 8760 hours"),
        "claimsPerSecond" => ("须为0到1000000", "0 to 1000000"),
        "perSecond" => ("须为1到10000", "1 to 10000"),
        "admissionSeconds" => ("须为30到1800秒", "30 to 1800 seconds"),
        "jitterSeconds" => ("须为0到30秒", "0 to 30 seconds"),
        "answer" => (
            "须为work、text、response、geetest之一，或left与不超过500个点的track",
            "work, or text, or left and a track of at most 500 samples, or response, or geetest",
        ),
        "requestId" => ("1到64个字，每次请求各不相同", "1 to 64 characters, unique per request"),
        "reason" => ("须为1到200个字", "1 to 200 characters"),
        "till" => ("须为1到20个字", "1 to 20 characters"),
        "float" | "counted" | "expected" => {
            ("须为0到100000000000的整数（分）", "0 to 100000000000, in cents")
        }
        "cash amount" => ("须为1到100000000000的整数（分）", "1 to 100000000000, in cents"),
        "method" => ("须为cash（现金）或terminal（收款终端）", "cash or terminal"),
        "order status" => ("须为1到6", "1 to 6"),
        "user" => (
            "多个用户有这个编号的死信，请指明用户",
            "the id of one user: several users have dead letters with this id",
        ),
        "date" => (
            "须为本月已过去的一天，格式为2026-11-20，且不早于注册日",
            "a past day of this month like 2026-11-20, not before registration",
        ),
        "from" => (
            "格式为2026-11-15，不晚于截止日期，跨度不超过31天",
            "a day like 2026-11-15, not after the last day and at most 30 days before it",
        ),
        "to" => ("格式为2026-11-21", "a day like 2026-11-21"),
        "month" => ("格式为2026-11", "a month like 2026-11"),
        "client" => ("须为IP地址", "an IP address"),
        "phone" => ("须为11位手机号", "a mainland mobile number of 11 digits"),
        _ => ("请检查后重填", "another value"),
    };
    match l {
        Language::Zh => zh,
        Language::En => en,
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    /// Returns the text of every source file.
    fn sources() -> Vec<String> {
        let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut texts = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension() == Some(Path::new("rs").as_os_str()) {
                    texts.push(std::fs::read_to_string(path).unwrap());
                }
            }
        }
        texts
    }

    /// Returns the strings in `made("…")` anywhere in the sources.
    fn names_in(made: &str) -> Vec<&'static str> {
        let start = format!("{made}(\"");
        let texts = sources();
        let found = texts.iter().flat_map(|text| text.split(&start).skip(1));
        let names: Vec<_> = found
            .filter_map(|rest| rest.split_once('"'))
            .map(|(name, _)| &*Box::leak(name.to_owned().into_boxed_str()))
            .collect();
        assert!(!names.is_empty(), "{made} is made nowhere");
        names
    }

    #[test]
    fn whatever_is_named_to_a_person_has_a_chinese_name() {
        for name in names_in("Refusal::NotFound") {
            assert!(!thing(name, Language::Zh).is_ascii(), "{name} has no Chinese name");
        }
        for name in [
            names_in("InputError::Missing"),
            names_in("InputError::OutOfRange"),
            names_in("Refusal::BadValue"),
        ]
        .concat()
        {
            assert!(!field(name, Language::Zh).is_ascii(), "{name} has no Chinese name");
        }
    }

    #[test]
    fn whatever_may_be_out_of_range_has_a_range_in_words() {
        for name in [names_in("InputError::OutOfRange"), names_in("Refusal::BadValue")].concat() {
            assert_ne!(
                allowed(name, Language::En),
                allowed("", Language::En),
                "{name} has no range in words"
            );
        }
    }
}
