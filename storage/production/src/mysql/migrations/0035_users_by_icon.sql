-- By which a picture that no user shows is known.
ALTER TABLE users ADD KEY users_by_icon (icon(100));
