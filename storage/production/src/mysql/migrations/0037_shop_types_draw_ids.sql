-- Operators add types, which until now moved in with their ids.
ALTER TABLE shop_types MODIFY id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT;
