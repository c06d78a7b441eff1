//! Checks of the catalogue's consistency.

use std::collections::HashSet;

use super::*;

/// Centre of the shop lists' search, as x and y.
const CENTRE: (f64, f64) = (120.149993, 30.334229);

fn metres(a: (f64, f64), b: (f64, f64)) -> f64 {
    let (dx, dy) = ((b.0 - a.0).to_radians(), (b.1 - a.1).to_radians());
    let h =
        (dy / 2.0).sin().powi(2) + a.1.to_radians().cos() * b.1.to_radians().cos() * (dx / 2.0).sin().powi(2);
    2.0 * 6_371_008.8 * h.sqrt().asin()
}

/// Returns whether a shop lies within 5 km, with a margin of one metre against rounding in a back end.
fn is_near(shop: &DemoShop) -> bool {
    metres(CENTRE, (shop.x, shop.y)) < 4999.0
}

#[test]
fn ten_types_are_numbered_from_one_and_sorted() {
    for (type_, n) in TYPES.iter().zip(1u64..) {
        assert_eq!((type_.id, type_.sort), (n, n.cast_signed()));
        assert!(type_.icon.starts_with("/types/") && type_.icon.ends_with(".svg"));
    }
    let icons: HashSet<_> = TYPES.iter().map(|t| t.icon).collect();
    assert_eq!(icons.len(), 10);
}

#[test]
fn shops_are_many_and_unique() {
    assert!(SHOPS.len() >= 64);
    for (shop, n) in SHOPS.iter().zip(1..) {
        assert_eq!(shop.id, n, "{}", shop.name);
    }
    let names: HashSet<_> = SHOPS.iter().map(|s| s.name).collect();
    let addresses: HashSet<_> = SHOPS.iter().map(|s| s.address).collect();
    assert_eq!((names.len(), addresses.len()), (SHOPS.len(), SHOPS.len()));
}

#[test]
fn every_type_has_seven_shops_near_the_centre_and_one_further_off() {
    for type_ in &TYPES {
        let (near, far): (Vec<&DemoShop>, Vec<&DemoShop>) =
            SHOPS.iter().filter(|s| s.type_id == type_.id).partition(|s| is_near(s));
        assert!(near.len() >= 7, "{}: {} near", type_.name, near.len());
        assert!(!far.is_empty(), "{}: none further off", type_.name);
        assert!(far.iter().all(|s| metres(CENTRE, (s.x, s.y)) > 5001.0));
    }
}

#[test]
fn shops_lie_in_hangzhou_and_their_figures_in_range() {
    for s in SHOPS {
        assert!((120.0..120.4).contains(&s.x) && (30.15..30.4).contains(&s.y), "{}", s.name);
        assert!((10..=50).contains(&s.score) && (5..=1000).contains(&s.avg_price), "{}", s.name);
        assert!(s.sold > s.comments && s.comments > 0, "{}", s.name);
        assert!(is_span(s.open_hours), "{}", s.open_hours);
        assert!(TYPES.iter().any(|t| t.id == s.type_id), "{}", s.name);
    }
}

fn is_span(hours: &str) -> bool {
    let clock = |t: &str| {
        t.split_once(':').is_some_and(|(h, m)| {
            (h.len(), m.len()) == (2, 2)
                && h.parse::<u8>().is_ok_and(|h| h <= 24)
                && m.parse::<u8>().is_ok_and(|m| m < 60)
        })
    };
    hours.split_once('-').is_some_and(|(from, to)| clock(from) && clock(to))
}

#[test]
fn a_shop_names_three_pictures() {
    assert_eq!(shop_images(&SHOPS[11]), "/imgs/shops/12-1.svg,/imgs/shops/12-2.svg,/imgs/shops/12-3.svg");
}

#[test]
fn vouchers_are_discounts_at_shops_that_exist() {
    assert!(VOUCHERS.len() >= 40);
    for v in VOUCHERS {
        assert!(SHOPS.iter().any(|s| s.id == v.shop_id), "{}", v.title);
        assert!(0 < v.pay_value && v.pay_value < v.actual_value, "{}", v.title);
        assert!(v.rules.lines().count() >= 3 && !v.rules.contains("\\n"), "{}", v.title);
    }
    let pairs: HashSet<_> = VOUCHERS.iter().map(|v| (v.shop_id, v.title)).collect();
    assert_eq!(pairs.len(), VOUCHERS.len());
    let types: HashSet<_> =
        SHOPS.iter().filter(|s| VOUCHERS.iter().any(|v| v.shop_id == s.id)).map(|s| s.type_id).collect();
    assert_eq!(types.len(), 10);
}

#[test]
fn sales_are_at_two_shops_near_the_centre() {
    assert_ne!(RUNNING_SALE.shop_id, OPENING_SALE.shop_id);
    for sale in [RUNNING_SALE, OPENING_SALE] {
        let shop = SHOPS.iter().find(|s| s.id == sale.shop_id).unwrap();
        assert!(is_near(shop));
        assert!(0 < sale.pay_value && sale.pay_value < sale.actual_value && sale.stock > 0);
    }
}

#[test]
fn notes_are_by_people_about_shops_that_exist_and_every_kind_has_some() {
    assert!(NOTES.len() >= 20);
    let titles: HashSet<_> = NOTES.iter().map(|n| n.title).collect();
    assert_eq!(titles.len(), NOTES.len());
    for (number, note) in (1..).zip(NOTES) {
        assert!(
            (1..=PEOPLE.len()).contains(&note.author) && (1..=3).contains(&note.pictures),
            "{}",
            note.title
        );
        assert!(SHOPS.iter().any(|s| s.id == note.shop_id), "{}", note.title);
        assert_eq!(note_images(number, note).split(',').count() as u64, note.pictures);
        assert_eq!(note.content, crate::mall::base::clean_text::lines(note.content));
        for (place, comment) in note.comments.iter().enumerate() {
            assert!((1..=PEOPLE.len()).contains(&comment.author), "{}", comment.content);
            assert!(comment.reply_to.is_none_or(|answered| answered < place), "{}", comment.content);
        }
    }
    assert!(NOTES.is_sorted_by_key(|n| std::cmp::Reverse(n.hours_ago)));
    let kinds: HashSet<_> =
        SHOPS.iter().filter(|s| NOTES.iter().any(|n| n.shop_id == s.id)).map(|s| s.type_id).collect();
    assert!(kinds.len() >= 8, "{kinds:?}");
}

#[test]
fn people_follow_others_once() {
    let mut pairs = HashSet::new();
    let known = 1..=PEOPLE.len();
    for (who, followees) in FOLLOWS {
        for whom in *followees {
            assert!(who != whom && known.contains(who) && known.contains(whom), "{who} {whom}");
            assert!(pairs.insert((who, whom)), "{who} {whom}");
        }
    }
}

#[test]
fn people_have_consecutive_phones_and_their_own_names_and_faces() {
    for (person, n) in PEOPLE.iter().zip(1..) {
        assert_eq!(person.phone, format!("139000000{n:02}"));
        assert_eq!(person.icon, format!("/imgs/icons/{n}.svg"));
        assert!(person.credits >= 0);
        let date: Vec<u32> = person.birthday.split('-').map(|n| n.parse().unwrap()).collect();
        assert!(matches!(date[..], [1940..2010, 1..=12, 1..=31]), "{}", person.birthday);
    }
    let names: HashSet<_> = PEOPLE.iter().map(|p| p.nick_name).collect();
    assert_eq!(names.len(), PEOPLE.len());
}

#[test]
fn reviews_are_by_customers_and_one_per_shop_and_author() {
    assert!(REVIEWS.len() >= 24);
    let pairs: HashSet<_> = REVIEWS.iter().map(|r| (r.shop_id, r.author)).collect();
    assert_eq!(pairs.len(), REVIEWS.len());
    for r in REVIEWS {
        assert!(SHOPS.iter().any(|s| s.id == r.shop_id), "{}", r.content);
        assert!((2..=PEOPLE.len()).contains(&r.author), "{}", r.content);
        assert!((10..=50).contains(&r.score) && r.score % 5 == 0, "{}", r.content);
        assert!(r.votes < PEOPLE.len() && r.pictures <= 3, "{}", r.content);
        assert!(r.content.chars().count() >= 10 && r.average_yuan > 0, "{}", r.content);
    }
}
