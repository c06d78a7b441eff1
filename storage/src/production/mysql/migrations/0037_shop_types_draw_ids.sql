-- Operators add types; until now they moved in with their ids.
ALTER TABLE shop_types MODIFY id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT;
