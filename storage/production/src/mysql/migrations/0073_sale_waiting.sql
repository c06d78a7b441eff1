-- Whether users wait for units of a sale, and the maximum number of users who may. NULL without a list.
ALTER TABLE sales ADD COLUMN waiting TINYINT UNSIGNED NOT NULL DEFAULT 0,
    ADD COLUMN waiting_max INT UNSIGNED, ADD KEY sales_waited_for (waiting);
