CREATE INDEX sign_ins_by_day ON sign_ins (day, user_id);
