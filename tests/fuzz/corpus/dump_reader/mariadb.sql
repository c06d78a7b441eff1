/*M!999999\- enable the sandbox mode */ 
CREATE TABLE tb_follow (id int, user_id int, KEY k (user_id))
/*!50100 PARTITION BY HASH (id) PARTITIONS 4 */;
INSERT INTO tb_follow PARTITION (p0,p1) VALUES (1.5e+3,.5);