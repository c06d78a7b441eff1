//! `Upkeep`: settings outlive the mall that stored them.

use crate::world::World;

crate::contract! { settings_are_told_apart_by_every_letter_and_replaced }

async fn settings_are_told_apart_by_every_letter_and_replaced(w: &World) {
    let upkeep = &w.storage.upkeep;
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
