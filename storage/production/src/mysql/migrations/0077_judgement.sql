-- What a sale does with attempts that look automated: 1 observe, 2 challenge, 3 refuse. NULL = nothing is judged.
ALTER TABLE sales ADD COLUMN judgement TINYINT UNSIGNED;
