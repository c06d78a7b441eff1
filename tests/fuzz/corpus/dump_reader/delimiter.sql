# comment
/* another */ USE `hmdp`;
DELIMITER ;;
CREATE TRIGGER t BEFORE INSERT ON tb_user FOR EACH ROW BEGIN SET NEW.id = 1; END;;
DELIMITER ;
INSERT INTO tb_user () VALUES ();