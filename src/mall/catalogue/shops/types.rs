//! Shop types: reading and editing.

use mallbox_storage::{ShopType, ShopTypeEdit, ShopTypeId, Timestamp, picture_name};

use super::{JS_INTEGER_MAX, NAME_MAX_CHARS, Shops};
use crate::mall::base::{Failure, InputError, Refusal, clean_text, picture_path};

/// An operator's edit of a shop type. `None` leaves a field unchanged.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShopTypeForm {
    /// Name, 1 to 128 characters. Required for a new type.
    pub name: Option<String>,
    /// Picture: a path on this mall, with or without a leading `/imgs`. Required for a new type.
    pub icon: Option<String>,
    /// Sort key of the list, lowest first; a new type goes last by default.
    pub sort: Option<i64>,
}

impl ShopTypeForm {
    /// Validates the form and returns the edit to store.
    ///
    /// # Errors
    /// [`InputError::Missing`] for a blank name, [`InputError::OutOfRange`] with the field's name.
    pub fn edit(&self) -> Result<ShopTypeEdit, InputError> {
        let name = self.name.as_deref().map(clean_text::line);
        if name.as_deref() == Some("") {
            return Err(InputError::Missing("name"));
        }
        let name = name.map(|name| clean_text::within("name", name, NAME_MAX_CHARS)).transpose()?;
        if self.icon.as_deref().is_some_and(|icon| !picture_path::is_plain(icon)) {
            return Err(InputError::OutOfRange("type icon"));
        }
        if self.sort.is_some_and(|sort| !(-JS_INTEGER_MAX..=JS_INTEGER_MAX).contains(&sort)) {
            return Err(InputError::OutOfRange("sort"));
        }
        // Stored without `/imgs`, where pages add the prefix.
        Ok(ShopTypeEdit { name, icon: self.icon.as_deref().map(picture_name), sort: self.sort })
    }
}

impl Shops {
    /// Returns all types by `sort`, from the cache.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if the read is rejected by load shedding; [`Failure::Store`] if the store fails.
    pub async fn types(&self, now: Timestamp) -> Result<Vec<ShopType>, Failure> {
        Ok(self.copies.types.get((), now).await?.map(|types| types.0).unwrap_or_default())
    }

    /// Adds a type.
    ///
    /// # Errors
    /// [`InputError::Missing`] with the field's name.
    pub async fn add_type(&self, edit: ShopTypeEdit, now: Timestamp) -> Result<ShopTypeId, Failure> {
        let name = edit.name.ok_or(InputError::Missing("name"))?;
        let icon = edit.icon.ok_or(InputError::Missing("type icon"))?;
        let shops = &self.context.storage.catalogue.shops;
        let sort = match edit.sort {
            Some(sort) => sort,
            None => shops.types().await?.last().map_or(1, |last| last.sort.saturating_add(1)),
        };
        let added = shops.insert_type(&name, &icon, sort, now).await;
        // Invalidate after an error too: the write may have happened although the reply was lost.
        self.copies.types.changed(&[()]).await;
        Ok(added?)
    }

    /// Updates a type and returns the new state.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for an unknown type.
    pub async fn update_type(
        &self,
        kind: ShopTypeId,
        edit: &ShopTypeEdit,
        now: Timestamp,
    ) -> Result<ShopType, Failure> {
        let shops = &self.context.storage.catalogue.shops;
        let updated = shops.update_type(kind, edit, now).await;
        self.copies.types.changed(&[()]).await;
        updated?;
        let found = shops.types().await?.into_iter().find(|known| known.id == kind);
        Ok(found.ok_or(Refusal::NotFound("shop type"))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_keeps_to_its_ranges_and_its_picture_is_named_as_pages_ask_for_it() {
        let form = ShopTypeForm {
            name: Some("<b>美食</b>".into()),
            icon: Some("/imgs/types/ms.svg".into()),
            sort: Some(-JS_INTEGER_MAX),
        };
        let edit = form.edit().unwrap();
        assert_eq!(
            (edit.name.as_deref(), edit.icon.as_deref()),
            (Some("<b>美食</b>"), Some("/types/ms.svg"))
        );
        assert_eq!(ShopTypeForm::default().edit(), Ok(ShopTypeEdit::default()));
        for (mistake, form) in [
            (InputError::Missing("name"), ShopTypeForm { name: Some("  ".into()), ..form.clone() }),
            (InputError::OutOfRange("name"), ShopTypeForm { name: Some("字".repeat(129)), ..form.clone() }),
            (InputError::OutOfRange("type icon"), ShopTypeForm { icon: Some(String::new()), ..form.clone() }),
            (
                InputError::OutOfRange("type icon"),
                ShopTypeForm { icon: Some("http://x/a".into()), ..form.clone() },
            ),
            (InputError::OutOfRange("sort"), ShopTypeForm { sort: Some(JS_INTEGER_MAX + 1), ..form.clone() }),
        ] {
            assert_eq!(form.edit(), Err(mistake), "{form:?}");
        }
    }
}
