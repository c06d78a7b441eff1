//! The users: one operator and eleven customers.

use super::DemoPerson;

/// One user in two lines instead of eleven.
macro_rules! people {
    ($($phone:literal $nick:literal $icon:literal, $city:literal, $sex:ident, $birthday:literal,
        $credits:literal credits, $introduce:literal;)+) => {
        [$(DemoPerson {
            phone: $phone, nick_name: $nick, icon: $icon, city: $city, introduce: $introduce,
            gender: $sex, birthday: $birthday, credits: $credits,
        }),+]
    };
}

const MALE: bool = false;
const FEMALE: bool = true;

/// All users; the first is the operator, recognized by phone number.
pub static PEOPLE: [DemoPerson; 12] = people! {
    "13900000001" "掌柜阿桂" "/imgs/icons/1.svg", "杭州", MALE, "1986-09-28",
        9860 credits, "运河边开店十二年，有事敲门。";
    "13900000002" "一只吃饱的猹" "/imgs/icons/2.svg", "绍兴", MALE, "1998-06-11",
        3240 credits, "西瓜季以外，也吃别的。";
    "13900000003" "半糖去冰" "/imgs/icons/3.svg", "杭州", FEMALE, "2000-01-31",
        2180 credits, "拱墅奶茶地图绘制中，进度 37%。";
    "13900000004" "北软加班冠军" "/imgs/icons/4.svg", "杭州", MALE, "1993-11-05",
        1630 credits, "十点以后还开门的店，请联系我。";
    "13900000005" "会飞的蒸笼" "/imgs/icons/5.svg", "嘉兴", FEMALE, "1995-03-19",
        4410 credits, "早起只为第一屉。";
    "13900000006" "运河慢船长" "/imgs/icons/6.svg", "杭州", MALE, "1961-08-02",
        5270 credits, "退休了，天天从大关走到拱宸桥。";
    "13900000007" "桂花味的风" "/imgs/icons/7.svg", "金华", FEMALE, "1997-10-01",
        1985 credits, "满陇桂雨，年年都去。";
    "13900000008" "二宝妈在路上" "/imgs/icons/8.svg", "杭州", FEMALE, "1988-05-23",
        3720 credits, "遛娃路线每周更新，雨天也有。";
    "13900000009" "麦霸预备役" "/imgs/icons/9.svg", "宁波", MALE, "2001-12-08",
        860 credits, "高音上不去，气氛上得去。";
    "13900000010" "深夜煮面人" "/imgs/icons/10.svg", "温州", MALE, "1990-02-14",
        1420 credits, "凌晨一点，再加一个荷包蛋。";
    "13900000011" "草莓味哑铃" "/imgs/icons/11.svg", "湖州", FEMALE, "1996-07-16",
        2890 credits, "练完再吃，等于没吃。";
    "13900000012" "猫在半山" "/imgs/icons/12.svg", "杭州", FEMALE, "1992-04-27",
        2305 credits, "养了三只猫，看过半山四季。";
};
