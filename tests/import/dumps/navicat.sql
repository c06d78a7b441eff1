/*
 Navicat Premium Data Transfer

 Source Server Type    : MySQL
 Source Schema         : hmdp

 File Encoding         : 65001
*/

SET NAMES utf8mb4;
SET FOREIGN_KEY_CHECKS = 0;

-- ----------------------------
-- Table structure for tb_blog
-- ----------------------------
DROP TABLE IF EXISTS `tb_blog`;
CREATE TABLE `tb_blog`  (
  `id` bigint(20) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT '备注',
  `shop_id` bigint(20) NOT NULL COMMENT '备注',
  `user_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `title` varchar(255) NOT NULL COMMENT '备注',
  `images` varchar(2048) NOT NULL COMMENT '备注',
  `content` varchar(2048) NOT NULL COMMENT '备注',
  `liked` int(8) UNSIGNED DEFAULT 0 COMMENT '备注',
  `comments` int(8) UNSIGNED DEFAULT NULL COMMENT '备注',
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT '备注',
  PRIMARY KEY (`id`) USING BTREE
) ENGINE = InnoDB AUTO_INCREMENT = 23 CHARACTER SET = utf8mb4 COLLATE = utf8mb4_general_ci ROW_FORMAT = Compact;

-- ----------------------------
-- Records of tb_blog
-- ----------------------------
INSERT INTO `tb_blog` VALUES (1, 1, 1, 'It''s <b>noodle</b> time 🍜', '/imgs/blogs/1/bowl.png,/imgs/blogs/1/gone.jpg,', '<p>One\\two</p><br/>\r\n<script>alert(1)</script>"three"', 12, 3, '2022-03-01 10:00:00');
INSERT INTO `tb_blog` VALUES (2, 1, 55, 'by nobody', '', 'x', 0, NULL, '2022-03-01 10:00:00');
INSERT INTO `tb_blog` VALUES (3, 77, 2, 'a shop that closed', '', 'long gone', 1, NULL, '2022-03-02 10:00:00');

-- ----------------------------
-- Table structure for tb_blog_comments
-- ----------------------------
DROP TABLE IF EXISTS `tb_blog_comments`;
CREATE TABLE `tb_blog_comments`  (
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT '备注',
  `status` tinyint(1) UNSIGNED DEFAULT NULL COMMENT '备注',
  `liked` int(8) UNSIGNED DEFAULT NULL COMMENT '备注',
  `content` varchar(255) NOT NULL COMMENT '备注',
  `answer_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `parent_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `blog_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `user_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `id` bigint(20) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT '备注',
  PRIMARY KEY (`id`) USING BTREE
) ENGINE = InnoDB AUTO_INCREMENT = 23 CHARACTER SET = utf8mb4 COLLATE = utf8mb4_general_ci ROW_FORMAT = Compact;

-- ----------------------------
-- Records of tb_blog_comments
-- ----------------------------
INSERT INTO `tb_blog_comments` VALUES ('2022-03-01 11:00:00', 0, 4, 'Which street?', 0, 0, 1, 2, 1);
INSERT INTO `tb_blog_comments` VALUES ('2022-03-01 11:00:00', NULL, NULL, 'lost', 0, 0, 9, 1, 2);
INSERT INTO `tb_blog_comments` VALUES ('2022-03-01 11:00:00', NULL, NULL, 'on a note that is left out', 0, 0, 2, 1, 3);

-- ----------------------------
-- Table structure for tb_follow
-- ----------------------------
DROP TABLE IF EXISTS `tb_follow`;
CREATE TABLE `tb_follow`  (
  `id` bigint(20) NOT NULL AUTO_INCREMENT COMMENT '备注',
  `user_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `follow_user_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT '备注',
  PRIMARY KEY (`id`) USING BTREE
) ENGINE = InnoDB AUTO_INCREMENT = 23 CHARACTER SET = utf8mb4 COLLATE = utf8mb4_general_ci ROW_FORMAT = Compact;

-- ----------------------------
-- Records of tb_follow
-- ----------------------------
INSERT INTO `tb_follow` VALUES (1, 1, 2, '2022-03-01 10:00:00');
INSERT INTO `tb_follow` VALUES (2, 1, 2, '2022-03-02 10:00:00');
INSERT INTO `tb_follow` VALUES (3, 2, 2, '2022-03-01 10:00:00');
INSERT INTO `tb_follow` VALUES (4, 1, 44, '2022-03-01 10:00:00');
INSERT INTO `tb_follow` VALUES (5, 2, 1, '2022-03-01 10:00:00');

-- ----------------------------
-- Table structure for tb_seckill_voucher
-- ----------------------------
DROP TABLE IF EXISTS `tb_seckill_voucher`;
CREATE TABLE `tb_seckill_voucher`  (
  `end_time` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00' COMMENT '备注',
  `begin_time` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00' COMMENT '备注',
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT '备注',
  `stock` int(8) NOT NULL COMMENT '备注',
  `voucher_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  PRIMARY KEY (`voucher_id`) USING BTREE
) ENGINE = InnoDB AUTO_INCREMENT = 23 CHARACTER SET = utf8mb4 COLLATE = utf8mb4_general_ci ROW_FORMAT = Compact;

-- ----------------------------
-- Records of tb_seckill_voucher
-- ----------------------------
INSERT INTO `tb_seckill_voucher` VALUES ('2022-01-26 23:00:00', '2022-01-25 10:00:00', '2022-01-01 10:00:00', 5, 2);
INSERT INTO `tb_seckill_voucher` VALUES ('2037-12-31 23:00:00', '2022-01-25 10:00:00', '2022-01-01 10:00:00', 7, 3);
INSERT INTO `tb_seckill_voucher` VALUES ('0000-00-00 00:00:00', '0000-00-00 00:00:00', '2022-01-01 10:00:00', -1, 5);
INSERT INTO `tb_seckill_voucher` VALUES ('2022-01-26 23:00:00', '2022-01-25 10:00:00', '2022-01-01 10:00:00', 3, 9);

-- ----------------------------
-- Table structure for tb_shop
-- ----------------------------
DROP TABLE IF EXISTS `tb_shop`;
CREATE TABLE `tb_shop`  (
  `id` bigint(20) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT '备注',
  `name` varchar(128) NOT NULL COMMENT '备注',
  `type_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `images` varchar(1024) NOT NULL COMMENT '备注',
  `area` varchar(128) DEFAULT NULL COMMENT '备注',
  `address` varchar(255) NOT NULL COMMENT '备注',
  `x` double UNSIGNED NOT NULL COMMENT '备注',
  `y` double UNSIGNED NOT NULL COMMENT '备注',
  `avg_price` bigint(10) UNSIGNED DEFAULT NULL COMMENT '备注',
  `sold` int(10) UNSIGNED ZEROFILL NOT NULL COMMENT '备注',
  `comments` int(10) UNSIGNED ZEROFILL NOT NULL COMMENT '备注',
  `score` int(2) UNSIGNED ZEROFILL NOT NULL COMMENT '备注',
  `open_hours` varchar(32) DEFAULT NULL COMMENT '备注',
  `create_time` timestamp NULL DEFAULT CURRENT_TIMESTAMP COMMENT '备注',
  PRIMARY KEY (`id`) USING BTREE
) ENGINE = InnoDB AUTO_INCREMENT = 23 CHARACTER SET = utf8mb4 COLLATE = utf8mb4_general_ci ROW_FORMAT = Compact;

-- ----------------------------
-- Records of tb_shop
-- ----------------------------
INSERT INTO `tb_shop` VALUES (1, '西湖边的面馆', 1, 'https://pictures.example/a/front.jpg?w=400,/imgs/shops/1.png', '湖滨', '湖滨路1号', 120.15, 30.25, 35, 0000000042, 0000000007, 09, '10:00-22:00', '2021-12-22 18:10:39');
INSERT INTO `tb_shop` VALUES (2, 'Quiet Tea "No. 2"', 2, '', '', 'O''Brien Lane 2', 120.2, 30.3, NULL, 0000000000, 0000000000, 48, NULL, '2021-12-22 18:10:39');
INSERT INTO `tb_shop` VALUES (3, 'nowhere', 1, '', '', '', 999, 30.3, NULL, 0000000000, 0000000000, 48, NULL, '2021-12-22 18:10:39');

-- ----------------------------
-- Table structure for tb_shop_type
-- ----------------------------
DROP TABLE IF EXISTS `tb_shop_type`;
CREATE TABLE `tb_shop_type`  (
  `sort` int(3) UNSIGNED DEFAULT NULL COMMENT '备注',
  `icon` varchar(255) DEFAULT NULL COMMENT '备注',
  `name` varchar(32) DEFAULT NULL COMMENT '备注',
  `id` bigint(20) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT '备注',
  PRIMARY KEY (`id`) USING BTREE
) ENGINE = InnoDB AUTO_INCREMENT = 23 CHARACTER SET = utf8mb4 COLLATE = utf8mb4_general_ci ROW_FORMAT = Compact;

-- ----------------------------
-- Records of tb_shop_type
-- ----------------------------
INSERT INTO `tb_shop_type` VALUES (2, '/types/food.png', '美食', 1);
INSERT INTO `tb_shop_type` VALUES (1, '/types/tea.png', '茶', 2);

-- ----------------------------
-- Table structure for tb_sign
-- ----------------------------
DROP TABLE IF EXISTS `tb_sign`;
CREATE TABLE `tb_sign`  (
  `id` bigint(20) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT '备注',
  `user_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `year` year(4) NOT NULL COMMENT '备注',
  `month` tinyint(2) NOT NULL COMMENT '备注',
  `date` date NOT NULL COMMENT '备注',
  `is_backup` tinyint(1) UNSIGNED DEFAULT NULL COMMENT '备注',
  PRIMARY KEY (`id`) USING BTREE
) ENGINE = InnoDB AUTO_INCREMENT = 23 CHARACTER SET = utf8mb4 COLLATE = utf8mb4_general_ci ROW_FORMAT = Compact;

-- ----------------------------
-- Records of tb_sign
-- ----------------------------
INSERT INTO `tb_sign` VALUES (1, 1, 2022, 3, '2022-03-01', 0);
INSERT INTO `tb_sign` VALUES (2, 1, 2022, 3, '2022-03-02', 1);
INSERT INTO `tb_sign` VALUES (3, 1, 2022, 3, '2022-03-02', 0);
INSERT INTO `tb_sign` VALUES (4, 1, 0, 0, '0000-00-00', NULL);

-- ----------------------------
-- Table structure for tb_user
-- ----------------------------
DROP TABLE IF EXISTS `tb_user`;
CREATE TABLE `tb_user`  (
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT '备注',
  `icon` varchar(255) DEFAULT '' COMMENT '备注',
  `open_id` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NULL DEFAULT NULL COMMENT '微信',
  `nick_name` varchar(32) DEFAULT '' COMMENT '备注',
  `password` varchar(128) DEFAULT '' COMMENT '备注',
  `phone` varchar(11) NOT NULL COMMENT '备注',
  `id` bigint(20) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT '备注',
  PRIMARY KEY (`id`) USING BTREE
) ENGINE = InnoDB AUTO_INCREMENT = 23 CHARACTER SET = utf8mb4 COLLATE = utf8mb4_general_ci ROW_FORMAT = Compact;

-- ----------------------------
-- Records of tb_user
-- ----------------------------
INSERT INTO `tb_user` VALUES ('2021-12-24 10:27:19', '/imgs/icons/cat.png', 0x6F70656E, '小满', 'abc@df10ef8509dc176d733d59549e7dbfaf', '13900000011', 1);
INSERT INTO `tb_user` VALUES ('2021-12-24 10:27:19', '', 0x6F70656E, '<i>谷雨</i>', '', '13900000012', 2);
INSERT INTO `tb_user` VALUES ('2021-12-24 10:27:19', '', 0x6F70656E, 'the same phone', '', '13900000012', 3);
INSERT INTO `tb_user` VALUES ('2021-12-24 10:27:19', '', 0x6F70656E, 'no phone', '', '12345', 4);
INSERT INTO `tb_user` VALUES ('2021-12-24 10:27:19', NULL, 0x6F70656E, NULL, 'plain text', '13900000013', 7);

-- ----------------------------
-- Table structure for tb_user_info
-- ----------------------------
DROP TABLE IF EXISTS `tb_user_info`;
CREATE TABLE `tb_user_info`  (
  `user_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `city` varchar(64) DEFAULT '' COMMENT '备注',
  `introduce` varchar(128) DEFAULT NULL COMMENT '备注',
  `gender` tinyint(1) UNSIGNED DEFAULT 0 COMMENT '备注',
  `birthday` date DEFAULT NULL COMMENT '备注',
  `credits` int(8) UNSIGNED DEFAULT 0 COMMENT '备注',
  `level` tinyint(1) UNSIGNED DEFAULT 0 COMMENT '备注',
  PRIMARY KEY (`user_id`) USING BTREE
) ENGINE = InnoDB AUTO_INCREMENT = 23 CHARACTER SET = utf8mb4 COLLATE = utf8mb4_general_ci ROW_FORMAT = Compact;

-- ----------------------------
-- Records of tb_user_info
-- ----------------------------
INSERT INTO `tb_user_info` VALUES (1, '杭州', 'noodles, mostly', 1, '2000-01-31', 120, 3);
INSERT INTO `tb_user_info` VALUES (2, NULL, NULL, 0, '0000-00-00', 0, 0);
INSERT INTO `tb_user_info` VALUES (9, 'nowhere', NULL, 0, NULL, 0, 0);

-- ----------------------------
-- Table structure for tb_voucher
-- ----------------------------
DROP TABLE IF EXISTS `tb_voucher`;
CREATE TABLE `tb_voucher`  (
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT '备注',
  `status` tinyint(1) UNSIGNED NOT NULL DEFAULT 1 COMMENT '备注',
  `type` tinyint(1) UNSIGNED NOT NULL DEFAULT 0 COMMENT '备注',
  `actual_value` bigint(10) NOT NULL COMMENT '备注',
  `pay_value` bigint(10) UNSIGNED NOT NULL COMMENT '备注',
  `rules` varchar(1024) DEFAULT NULL COMMENT '备注',
  `sub_title` varchar(255) DEFAULT NULL COMMENT '备注',
  `title` varchar(255) NOT NULL COMMENT '备注',
  `shop_id` bigint(20) UNSIGNED DEFAULT NULL COMMENT '备注',
  `id` bigint(20) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT '备注',
  PRIMARY KEY (`id`) USING BTREE
) ENGINE = InnoDB AUTO_INCREMENT = 23 CHARACTER SET = utf8mb4 COLLATE = utf8mb4_general_ci ROW_FORMAT = Compact;

-- ----------------------------
-- Records of tb_voucher
-- ----------------------------
INSERT INTO `tb_voucher` VALUES ('2022-01-04 09:42:39', 1, 0, 5000, 4750, 'once\\ntwice', 'any day', '50 for 47', 1, 1);
INSERT INTO `tb_voucher` VALUES ('2022-01-04 09:42:39', 1, 1, 1000, 100, NULL, NULL, 'a sale that is over', 1, 2);
INSERT INTO `tb_voucher` VALUES ('2022-01-04 09:42:39', 1, 1, 2000, 200, NULL, NULL, 'a sale that is on', 2, 3);
INSERT INTO `tb_voucher` VALUES ('2022-01-04 09:42:39', 1, 1, 3000, 300, NULL, NULL, 'a sale without terms', 2, 4);
INSERT INTO `tb_voucher` VALUES ('2022-01-04 09:42:39', 2, 1, 4000, 400, NULL, NULL, 'an oversold one without a shop', NULL, 5);

-- ----------------------------
-- Table structure for tb_voucher_order
-- ----------------------------
DROP TABLE IF EXISTS `tb_voucher_order`;
CREATE TABLE `tb_voucher_order`  (
  `id` bigint(20) NOT NULL COMMENT '备注',
  `user_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `voucher_id` bigint(20) UNSIGNED NOT NULL COMMENT '备注',
  `pay_type` tinyint(1) UNSIGNED NOT NULL DEFAULT 1 COMMENT '备注',
  `status` tinyint(1) UNSIGNED NOT NULL DEFAULT 1 COMMENT '备注',
  `create_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP COMMENT '备注',
  `pay_time` timestamp NULL DEFAULT NULL COMMENT '备注',
  `use_time` timestamp NULL DEFAULT NULL COMMENT '备注',
  `refund_time` timestamp NULL DEFAULT NULL COMMENT '备注',
  PRIMARY KEY (`id`) USING BTREE
) ENGINE = InnoDB AUTO_INCREMENT = 23 CHARACTER SET = utf8mb4 COLLATE = utf8mb4_general_ci ROW_FORMAT = Compact;

-- ----------------------------
-- Records of tb_voucher_order
-- ----------------------------
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (101, 1, 3, 1, 1, '2022-01-25 10:00:05', NULL, NULL, NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (102, 2, 3, 3, 2, '2022-01-25 10:00:05', '2022-01-25 10:01:05', NULL, NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (103, 2, 3, 1, 1, '2022-01-25 10:00:05', NULL, NULL, NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (104, 1, 2, 2, 3, '2022-01-25 10:00:05', '2022-01-25 10:01:05', '2022-01-25 12:00:00', NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (105, 1, 2, 1, 4, '2022-01-25 10:00:05', NULL, NULL, NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (106, 7, 3, 1, 6, '2022-01-25 10:00:05', '2022-01-25 10:01:05', NULL, '2022-01-25 12:00:00');
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (107, 7, 2, 1, 5, '2022-01-25 10:00:05', '2022-01-25 10:01:05', NULL, NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (108, 99, 3, 1, 2, '2022-01-25 10:00:05', '2022-01-25 10:01:05', NULL, NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (109, 1, 88, 1, 2, '2022-01-25 10:00:05', '2022-01-25 10:01:05', NULL, NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (110, 1, 1, 1, 1, '2022-01-25 10:00:05', NULL, NULL, NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (111, 1, 1, 1, 1, '2022-01-25 10:00:05', NULL, NULL, NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (112, 1, 3, 1, 9, '2022-01-25 10:00:05', NULL, NULL, NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (9101346791321665537, 7, 3, 1, 1, '2022-01-25 10:00:05', NULL, NULL, NULL);
INSERT INTO `tb_voucher_order` (`id`, `user_id`, `voucher_id`, `pay_type`, `status`, `create_time`, `pay_time`, `use_time`, `refund_time`) VALUES (1485880303222915073, 7, 3, 1, 4, '2022-01-25 10:00:05', NULL, NULL, NULL);

SET FOREIGN_KEY_CHECKS = 1;
