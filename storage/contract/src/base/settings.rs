//! `Upkeep`: settings survive a restart of the mall.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::world::World;

crate::cases! {
    settings_are_distinguished_by_every_letter_and_replaced,
    of_many_who_keep_a_setting_at_once_the_first_decides_for_all,
}

async fn settings_are_distinguished_by_every_letter_and_replaced(w: &World) {
    let upkeep = &w.storage.base.upkeep;
    let names = ["zone", "Zone", "zone ", "", "区"];
    for name in names {
        assert_eq!(upkeep.setting(name).await.unwrap(), None, "{name:?}");
        upkeep.put_setting(name, "first").await.unwrap();
        upkeep.put_setting(name, &format!("{name} ")).await.unwrap();
    }
    for name in names {
        assert_eq!(upkeep.setting(name).await.unwrap(), Some(format!("{name} ")), "{name:?}");
    }
}

async fn of_many_who_keep_a_setting_at_once_the_first_decides_for_all(w: &World) {
    let mut writers = JoinSet::new();
    for writer in 0..16 {
        let upkeep = Arc::clone(&w.storage.base.upkeep);
        writers.spawn(async move { upkeep.keep_setting("secret", &format!("of {writer}")).await.unwrap() });
    }
    let kept: BTreeSet<String> = writers.join_all().await.into_iter().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let upkeep = &w.storage.base.upkeep;
    assert_eq!(upkeep.setting("secret").await.unwrap().as_ref(), kept.first());
    assert_eq!(upkeep.keep_setting("secret ", "another").await.unwrap(), "another");
    upkeep.put_setting("secret", "replaced").await.unwrap();
    assert_eq!(upkeep.keep_setting("secret", "late").await.unwrap(), "replaced");
}
