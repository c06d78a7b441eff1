-- MySQL dump 10.13
CREATE TABLE `tb_user` (
 `id` bigint NOT NULL AUTO_INCREMENT COMMENT 'a''b',
 `phone` varchar(11),
 PRIMARY KEY (`id`)
) ENGINE=InnoDB;
INSERT INTO `tb_user` VALUES (1,'13900000001'),(2,NULL);
-- Dump completed on 2026
