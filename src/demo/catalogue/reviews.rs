//! Reviews of some shops, with votes and replies.

use super::{DemoReview, Praise};

/// One review in two lines instead of nine.
macro_rules! reviews {
    ($($shop:literal by $author:literal, $days:literal days ago: $score:literal, $yuan:literal yuan,
        [$($tag:ident)*] $pictures:literal pictures, $votes:literal votes, $content:literal $(, reply $reply:literal)?;)+) => {
        &[$(DemoReview {
            shop_id: $shop, author: $author, days_ago: $days, score: $score, average_yuan: $yuan,
            praises: &[$(Praise::$tag),*], pictures: $pictures, votes: $votes, content: $content,
            reply: concat!("" $(, $reply)?),
        }),+]
    };
}

/// Reviews by customers, never by the operator, at most one per author and shop.
pub static REVIEWS: &[DemoReview] = reviews! {
    1 by 2, 2 days ago: 50, 68 yuan, [Taste Service] 2 pictures, 9 votes,
        "鲫鱼汤奶白，一勺下去全是鲜。老板娘看我一个人，主动给换了小份。", reply "一个人也要好好吃饭，下次来给您留靠窗的位子。";
    1 by 6, 9 days ago: 45, 62 yuan, [Taste Environment] 1 pictures, 6 votes,
        "临河的位子，看船慢慢过桥。酱鸭咸淡正好，配一壶热黄酒。";
    1 by 8, 16 days ago: 40, 75 yuan, [Service] 0 pictures, 3 votes,
        "带两个孩子来，有儿童椅和小碗筷。周末要等位二十分钟。";
    1 by 4, 23 days ago: 35, 70 yuan, [Taste] 0 pictures, 1 votes,
        "菜不错，九点以后只剩三样可点，加班党有点失落。", reply "以后厨房延到九点半收，辛苦您了。";
    1 by 10, 31 days ago: 20, 80 yuan, [] 0 pictures, 0 votes,
        "那天上错了一道菜，换的时间有点长。";
    2 by 4, 1 days ago: 50, 22 yuan, [Taste] 1 pictures, 8 votes,
        "片儿川的笋片脆、雪菜香，面有嚼劲。六点半就开门，救了早会的命。";
    2 by 10, 5 days ago: 45, 25 yuan, [Taste Service] 0 pictures, 5 votes,
        "三碗没过成桥，两碗就饱了。加面不要钱。", reply "欢迎来挑战第三碗！";
    2 by 5, 12 days ago: 40, 20 yuan, [Environment] 0 pictures, 2 votes,
        "店面不大，桌子擦得亮。早上七点半以后要拼桌。";
    3 by 7, 3 days ago: 45, 118 yuan, [Taste Environment] 2 pictures, 7 votes,
        "春笋季必来。腌笃鲜的火腿是真火腿，汤不用放盐。";
    3 by 12, 20 days ago: 30, 126 yuan, [Environment] 0 pictures, 2 votes,
        "环境好，菜量偏小，四个人要点六道。";
    5 by 8, 4 days ago: 50, 18 yuan, [Taste Service] 1 pictures, 6 votes,
        "皮蛋瘦肉粥熬得绵，宝宝喝了一整碗。打包盒很结实。";
    5 by 6, 14 days ago: 45, 16 yuan, [Service] 0 pictures, 3 votes,
        "老人家来得早，店员总会多给一勺小菜。";
    6 by 3, 6 days ago: 40, 79 yuan, [Taste] 1 pictures, 4 votes,
        "点微辣也够劲，豆花最下饭。奶茶可以自己带进来。";
    6 by 11, 18 days ago: 25, 85 yuan, [] 0 pictures, 1 votes,
        "说好少油，端上来还是一层红油。", reply "已经和后厨核对了备注流程，欢迎再来监督。";
    7 by 5, 2 days ago: 50, 24 yuan, [Taste] 2 pictures, 9 votes,
        "第一屉刚出笼，皮薄得透光，咬开先喝汤。六点前到才不排队。";
    7 by 2, 11 days ago: 45, 21 yuan, [Taste Service] 0 pictures, 4 votes,
        "小笼配一碗蛋皮丝，早上就该这么过。";
    8 by 3, 1 days ago: 50, 46 yuan, [Taste Environment Service] 2 pictures, 7 votes,
        "抹茶苦得干净，配栗子羊羹刚好。院子里坐一下午没人催。";
    8 by 7, 8 days ago: 45, 42 yuan, [Environment] 1 pictures, 5 votes,
        "窗外是小河，雨天最好看。";
    9 by 10, 2 days ago: 45, 93 yuan, [Taste] 1 pictures, 5 votes,
        "凌晨一点还满座，烤茄子蒜香浓，一定要加年糕。";
    9 by 4, 7 days ago: 40, 88 yuan, [Taste] 0 pictures, 3 votes,
        "下班最晚的一顿。上菜慢一点，但火候都对。";
    13 by 9, 3 days ago: 45, 72 yuan, [Environment Service] 1 pictures, 6 votes,
        "音响够好，高音上不去怪不了它。小吃盘分量实在。";
    13 by 11, 13 days ago: 35, 66 yuan, [Environment] 0 pictures, 2 votes,
        "包间宽敞，麦克风要换两次才顺手。", reply "麦克风上周已全部换新，欢迎再来一曲。";
    21 by 12, 10 days ago: 50, 58 yuan, [Service] 0 pictures, 4 votes,
        "师傅不推卡，剪完还教怎么自己吹。";
    29 by 7, 6 days ago: 45, 128 yuan, [Environment Service] 1 pictures, 3 votes,
        "颜色和图片一样，三周了还没掉。";
    37 by 6, 15 days ago: 45, 99 yuan, [Service] 0 pictures, 3 votes,
        "走完运河来泡脚，手法稳，水温一直有人看着。";
};
