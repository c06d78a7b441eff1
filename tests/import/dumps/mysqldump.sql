-- MySQL dump 10.13  Distrib 8.0.40, for Linux (x86_64)
--
-- Host: localhost    Database: hmdp
-- ------------------------------------------------------
-- Server version	8.0.40

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;

--
-- Table structure for table `tb_blog`
--

DROP TABLE IF EXISTS `tb_blog`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `tb_blog` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s; (column), 0',
  `shop_id` bigint(20) NOT NULL COMMENT 'it''s; (column), 1',
  `user_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 2',
  `title` varchar(255) NOT NULL COMMENT 'it''s; (column), 3',
  `images` varchar(2048) NOT NULL COMMENT 'it''s; (column), 4',
  `content` varchar(2048) NOT NULL COMMENT 'it''s; (column), 5',
  `liked` int(8) unsigned DEFAULT 0 COMMENT 'it''s; (column), 6',
  `comments` int(8) unsigned DEFAULT NULL COMMENT 'it''s; (column), 7',
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT 'it''s; (column), 8',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=1010 DEFAULT CHARSET=utf8mb4;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tb_blog`
--

LOCK TABLES `tb_blog` WRITE;
/*!40000 ALTER TABLE `tb_blog` DISABLE KEYS */;
INSERT INTO `tb_blog` VALUES (1,1,1,'It\'s <b>noodle</b> time 🍜','/imgs/blogs/1/bowl.png,/imgs/blogs/1/gone.jpg,','<p>One\\two</p><br/>\r\n<script>alert(1)</script>\"three\"',12,3,'2022-03-01 02:00:00'),(2,1,55,'by nobody','','x',0,NULL,'2022-03-01 02:00:00'),(3,77,2,'a shop that closed','','long gone',1,NULL,'2022-03-02 02:00:00');
/*!40000 ALTER TABLE `tb_blog` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tb_blog_comments`
--

DROP TABLE IF EXISTS `tb_blog_comments`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `tb_blog_comments` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s; (column), 0',
  `user_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 1',
  `blog_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 2',
  `parent_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 3',
  `answer_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 4',
  `content` varchar(255) NOT NULL COMMENT 'it''s; (column), 5',
  `liked` int(8) unsigned DEFAULT NULL COMMENT 'it''s; (column), 6',
  `status` tinyint(1) unsigned DEFAULT NULL COMMENT 'it''s; (column), 7',
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT 'it''s; (column), 8',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=1010 DEFAULT CHARSET=utf8mb4;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tb_blog_comments`
--

LOCK TABLES `tb_blog_comments` WRITE;
/*!40000 ALTER TABLE `tb_blog_comments` DISABLE KEYS */;
INSERT INTO `tb_blog_comments` VALUES (1,2,1,0,0,'Which street?',4,0,'2022-03-01 03:00:00'),(2,1,9,0,0,'lost',NULL,NULL,'2022-03-01 03:00:00'),(3,1,2,0,0,'on a note that is left out',NULL,NULL,'2022-03-01 03:00:00');
/*!40000 ALTER TABLE `tb_blog_comments` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tb_follow`
--

DROP TABLE IF EXISTS `tb_follow`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `tb_follow` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT COMMENT 'it''s; (column), 0',
  `user_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 1',
  `follow_user_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 2',
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT 'it''s; (column), 3',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=1010 DEFAULT CHARSET=utf8mb4;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tb_follow`
--

LOCK TABLES `tb_follow` WRITE;
/*!40000 ALTER TABLE `tb_follow` DISABLE KEYS */;
INSERT INTO `tb_follow` VALUES (1,1,2,'2022-03-01 02:00:00'),(2,1,2,'2022-03-02 02:00:00'),(3,2,2,'2022-03-01 02:00:00'),(4,1,44,'2022-03-01 02:00:00'),(5,2,1,'2022-03-01 02:00:00');
/*!40000 ALTER TABLE `tb_follow` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tb_seckill_voucher`
--

DROP TABLE IF EXISTS `tb_seckill_voucher`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `tb_seckill_voucher` (
  `voucher_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 0',
  `stock` int(8) NOT NULL COMMENT 'it''s; (column), 1',
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT 'it''s; (column), 2',
  `begin_time` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00' COMMENT 'it''s; (column), 3',
  `end_time` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00' COMMENT 'it''s; (column), 4',
  PRIMARY KEY (`voucher_id`)
) ENGINE=InnoDB AUTO_INCREMENT=1010 DEFAULT CHARSET=utf8mb4;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tb_seckill_voucher`
--

LOCK TABLES `tb_seckill_voucher` WRITE;
/*!40000 ALTER TABLE `tb_seckill_voucher` DISABLE KEYS */;
INSERT INTO `tb_seckill_voucher` VALUES (2,5,'2022-01-01 02:00:00','2022-01-25 02:00:00','2022-01-26 15:00:00'),(3,7,'2022-01-01 02:00:00','2022-01-25 02:00:00','2037-12-31 15:00:00'),(5,-1,'2022-01-01 02:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00'),(9,3,'2022-01-01 02:00:00','2022-01-25 02:00:00','2022-01-26 15:00:00');
/*!40000 ALTER TABLE `tb_seckill_voucher` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tb_shop`
--

DROP TABLE IF EXISTS `tb_shop`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `tb_shop` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s; (column), 0',
  `name` varchar(128) NOT NULL COMMENT 'it''s; (column), 1',
  `type_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 2',
  `images` varchar(1024) NOT NULL COMMENT 'it''s; (column), 3',
  `area` varchar(128) DEFAULT NULL COMMENT 'it''s; (column), 4',
  `address` varchar(255) NOT NULL COMMENT 'it''s; (column), 5',
  `x` double unsigned NOT NULL COMMENT 'it''s; (column), 6',
  `y` double unsigned NOT NULL COMMENT 'it''s; (column), 7',
  `avg_price` bigint(10) unsigned DEFAULT NULL COMMENT 'it''s; (column), 8',
  `sold` int(10) unsigned zerofill NOT NULL COMMENT 'it''s; (column), 9',
  `comments` int(10) unsigned zerofill NOT NULL COMMENT 'it''s; (column), 10',
  `score` int(2) unsigned zerofill NOT NULL COMMENT 'it''s; (column), 11',
  `open_hours` varchar(32) DEFAULT NULL COMMENT 'it''s; (column), 12',
  `create_time` timestamp NULL DEFAULT CURRENT_TIMESTAMP COMMENT 'it''s; (column), 13',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=1010 DEFAULT CHARSET=utf8mb4;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tb_shop`
--

LOCK TABLES `tb_shop` WRITE;
/*!40000 ALTER TABLE `tb_shop` DISABLE KEYS */;
INSERT INTO `tb_shop` VALUES (1,'西湖边的面馆',1,'https://pictures.example/a/front.jpg?w=400,/imgs/shops/1.png','湖滨','湖滨路1号',120.15,30.25,35,0000000042,0000000007,09,'10:00-22:00','2021-12-22 10:10:39'),(2,'Quiet Tea \"No. 2\"',2,'','','O\'Brien Lane 2',120.2,30.3,NULL,0000000000,0000000000,48,NULL,'2021-12-22 10:10:39'),(3,'nowhere',1,'','','',999,30.3,NULL,0000000000,0000000000,48,NULL,'2021-12-22 10:10:39');
/*!40000 ALTER TABLE `tb_shop` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tb_shop_type`
--

DROP TABLE IF EXISTS `tb_shop_type`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `tb_shop_type` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s; (column), 0',
  `name` varchar(32) DEFAULT NULL COMMENT 'it''s; (column), 1',
  `icon` varchar(255) DEFAULT NULL COMMENT 'it''s; (column), 2',
  `sort` int(3) unsigned DEFAULT NULL COMMENT 'it''s; (column), 3',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=1010 DEFAULT CHARSET=utf8mb4;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tb_shop_type`
--

LOCK TABLES `tb_shop_type` WRITE;
/*!40000 ALTER TABLE `tb_shop_type` DISABLE KEYS */;
INSERT INTO `tb_shop_type` VALUES (1,'美食','/types/food.png',2),(2,'茶','/types/tea.png',1);
/*!40000 ALTER TABLE `tb_shop_type` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tb_sign`
--

DROP TABLE IF EXISTS `tb_sign`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `tb_sign` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s; (column), 0',
  `user_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 1',
  `year` year(4) NOT NULL COMMENT 'it''s; (column), 2',
  `month` tinyint(2) NOT NULL COMMENT 'it''s; (column), 3',
  `date` date NOT NULL COMMENT 'it''s; (column), 4',
  `is_backup` tinyint(1) unsigned DEFAULT NULL COMMENT 'it''s; (column), 5',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=1010 DEFAULT CHARSET=utf8mb4;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tb_sign`
--

LOCK TABLES `tb_sign` WRITE;
/*!40000 ALTER TABLE `tb_sign` DISABLE KEYS */;
INSERT INTO `tb_sign` VALUES (1,1,2022,3,'2022-03-01',0),(2,1,2022,3,'2022-03-02',1),(3,1,2022,3,'2022-03-02',0),(4,1,0,0,'0000-00-00',NULL);
/*!40000 ALTER TABLE `tb_sign` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tb_user`
--

DROP TABLE IF EXISTS `tb_user`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `tb_user` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s; (column), 0',
  `phone` varchar(11) NOT NULL COMMENT 'it''s; (column), 1',
  `password` varchar(128) DEFAULT '' COMMENT 'it''s; (column), 2',
  `nick_name` varchar(32) DEFAULT '' COMMENT 'it''s; (column), 3',
  `icon` varchar(255) DEFAULT '' COMMENT 'it''s; (column), 4',
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT 'it''s; (column), 5',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=1010 DEFAULT CHARSET=utf8mb4;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tb_user`
--

LOCK TABLES `tb_user` WRITE;
/*!40000 ALTER TABLE `tb_user` DISABLE KEYS */;
INSERT INTO `tb_user` VALUES (1,'13900000011','abc@df10ef8509dc176d733d59549e7dbfaf','小满','/imgs/icons/cat.png','2021-12-24 02:27:19'),(2,'13900000012','','<i>谷雨</i>','','2021-12-24 02:27:19'),(3,'13900000012','','the same phone','','2021-12-24 02:27:19'),(4,'12345','','no phone','','2021-12-24 02:27:19'),(7,'13900000013','plain text',NULL,NULL,'2021-12-24 02:27:19');
/*!40000 ALTER TABLE `tb_user` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tb_user_info`
--

DROP TABLE IF EXISTS `tb_user_info`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `tb_user_info` (
  `user_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 0',
  `city` varchar(64) DEFAULT '' COMMENT 'it''s; (column), 1',
  `introduce` varchar(128) DEFAULT NULL COMMENT 'it''s; (column), 2',
  `gender` tinyint(1) unsigned DEFAULT 0 COMMENT 'it''s; (column), 3',
  `birthday` date DEFAULT NULL COMMENT 'it''s; (column), 4',
  `credits` int(8) unsigned DEFAULT 0 COMMENT 'it''s; (column), 5',
  `level` tinyint(1) unsigned DEFAULT 0 COMMENT 'it''s; (column), 6',
  PRIMARY KEY (`user_id`)
) ENGINE=InnoDB AUTO_INCREMENT=1010 DEFAULT CHARSET=utf8mb4;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tb_user_info`
--

LOCK TABLES `tb_user_info` WRITE;
/*!40000 ALTER TABLE `tb_user_info` DISABLE KEYS */;
INSERT INTO `tb_user_info` VALUES (1,'杭州','noodles, mostly',1,'2000-01-31',120,3),(2,NULL,NULL,0,'0000-00-00',0,0),(9,'nowhere',NULL,0,NULL,0,0);
/*!40000 ALTER TABLE `tb_user_info` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tb_voucher`
--

DROP TABLE IF EXISTS `tb_voucher`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `tb_voucher` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s; (column), 0',
  `shop_id` bigint(20) unsigned DEFAULT NULL COMMENT 'it''s; (column), 1',
  `title` varchar(255) NOT NULL COMMENT 'it''s; (column), 2',
  `sub_title` varchar(255) DEFAULT NULL COMMENT 'it''s; (column), 3',
  `rules` varchar(1024) DEFAULT NULL COMMENT 'it''s; (column), 4',
  `pay_value` bigint(10) unsigned NOT NULL COMMENT 'it''s; (column), 5',
  `actual_value` bigint(10) NOT NULL COMMENT 'it''s; (column), 6',
  `type` tinyint(1) unsigned NOT NULL DEFAULT 0 COMMENT 'it''s; (column), 7',
  `status` tinyint(1) unsigned NOT NULL DEFAULT 1 COMMENT 'it''s; (column), 8',
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT 'it''s; (column), 9',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=1010 DEFAULT CHARSET=utf8mb4;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tb_voucher`
--

LOCK TABLES `tb_voucher` WRITE;
/*!40000 ALTER TABLE `tb_voucher` DISABLE KEYS */;
INSERT INTO `tb_voucher` VALUES (1,1,'50 for 47','any day','once\\ntwice',4750,5000,0,1,'2022-01-04 01:42:39'),(2,1,'a sale that is over',NULL,NULL,100,1000,1,1,'2022-01-04 01:42:39'),(3,2,'a sale that is on',NULL,NULL,200,2000,1,1,'2022-01-04 01:42:39'),(4,2,'a sale without terms',NULL,NULL,300,3000,1,1,'2022-01-04 01:42:39'),(5,NULL,'an oversold one without a shop',NULL,NULL,400,4000,1,2,'2022-01-04 01:42:39');
/*!40000 ALTER TABLE `tb_voucher` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tb_voucher_order`
--

DROP TABLE IF EXISTS `tb_voucher_order`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `tb_voucher_order` (
  `id` bigint(20) NOT NULL COMMENT 'it''s; (column), 0',
  `user_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 1',
  `voucher_id` bigint(20) unsigned NOT NULL COMMENT 'it''s; (column), 2',
  `pay_type` tinyint(1) unsigned NOT NULL DEFAULT 1 COMMENT 'it''s; (column), 3',
  `status` tinyint(1) unsigned NOT NULL DEFAULT 1 COMMENT 'it''s; (column), 4',
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT 'it''s; (column), 5',
  `pay_time` timestamp NULL DEFAULT NULL COMMENT 'it''s; (column), 6',
  `use_time` timestamp NULL DEFAULT NULL COMMENT 'it''s; (column), 7',
  `refund_time` timestamp NULL DEFAULT NULL COMMENT 'it''s; (column), 8',
  PRIMARY KEY (`id`),
  KEY `by_user` (`user_id`,`voucher_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4
/*!50100 PARTITION BY HASH (`id`)
PARTITIONS 4 */;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tb_voucher_order`
--

LOCK TABLES `tb_voucher_order` WRITE;
/*!40000 ALTER TABLE `tb_voucher_order` DISABLE KEYS */;
INSERT INTO `tb_voucher_order` VALUES (101,1,3,1,1,'2022-01-25 02:00:05',NULL,NULL,NULL),(102,2,3,3,2,'2022-01-25 02:00:05','2022-01-25 02:01:05',NULL,NULL),(103,2,3,1,1,'2022-01-25 02:00:05',NULL,NULL,NULL),(104,1,2,2,3,'2022-01-25 02:00:05','2022-01-25 02:01:05','2022-01-25 04:00:00',NULL),(105,1,2,1,4,'2022-01-25 02:00:05',NULL,NULL,NULL),(106,7,3,1,6,'2022-01-25 02:00:05','2022-01-25 02:01:05',NULL,'2022-01-25 04:00:00'),(107,7,2,1,5,'2022-01-25 02:00:05','2022-01-25 02:01:05',NULL,NULL),(108,99,3,1,2,'2022-01-25 02:00:05','2022-01-25 02:01:05',NULL,NULL),(109,1,88,1,2,'2022-01-25 02:00:05','2022-01-25 02:01:05',NULL,NULL),(110,1,1,1,1,'2022-01-25 02:00:05',NULL,NULL,NULL),(111,1,1,1,1,'2022-01-25 02:00:05',NULL,NULL,NULL),(112,1,3,1,9,'2022-01-25 02:00:05',NULL,NULL,NULL),(9101346791321665537,7,3,1,1,'2022-01-25 02:00:05',NULL,NULL,NULL),(1485880303222915073,7,3,1,4,'2022-01-25 02:00:05',NULL,NULL,NULL);
/*!40000 ALTER TABLE `tb_voucher_order` ENABLE KEYS */;
UNLOCK TABLES;

CREATE TABLE `undo_log` (
  `id` bigint NOT NULL,
  `rollback_info` longblob NOT NULL
);
INSERT INTO `undo_log` VALUES (1,_binary '\0;x\'');

DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER `t` BEFORE INSERT ON `tb_user` FOR EACH ROW BEGIN
  SET NEW.nick_name = 'x';
  DELETE FROM tb_user;
END */;;
DELIMITER ;

/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;

-- Dump completed on 2026-11-21 10:00:00
