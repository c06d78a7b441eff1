// Chapter: ways to cache reads, compared.

import { readCaches } from "../../report/read-results.js";
import { cacheTables } from "../../report/sections/caches.js";

/** @type {import("./index.js").Chapter} */
export const comparedCaches = {
  id: "compared-caches",
  title: { zh: "缓存：穿透、击穿、雪崩", en: "Caches and their stampedes" },
  lead: {
    zh: "查商铺先查缓存，人人会写，难的是缓存里恰好没有的时候：查不存在的商铺，请求直穿到库；热点刚过期，五十个人一起查库；一批键同时写入，就会同时过期；读写交错，旧值还会溜回缓存。教程给出的每一招都在这里：空值、布隆过滤器、随机TTL、互斥锁、逻辑过期、延时双删，各自挡住了哪一种，又漏了哪一种，跑一遍就知道。",
    en: "Anyone can read a cache first; what matters is what happens when it has nothing. Reads of absent shops go through to the database; fifty callers load a hot entry that has just expired; entries that were filled together expire together; and an old value slips back in when a read and a write overlap. Every remedy of the tutorials is here: empty entries, a Bloom filter, random times to live, a mutex, logical expiry, a second delete. See which failure each one stops, and which it lets through.",
  },
  rungs: [],
  comparison: {
    name: "caches",
    about: {
      zh: "约四十秒；会另起两个Redis和一个MariaDB，结束后全部删除。",
      en: "About forty seconds, on two Redis servers and a MariaDB of its own; all are removed afterwards.",
    },
    zh: {
      none: "不用缓存：每次都查MySQL",
      aside: "旁路缓存：写的时候先改库，再删缓存",
      "delete-first": "旁路缓存：写的时候先删缓存，再改库",
      "double-delete": "延时双删：先删缓存、再改库，半秒后再删一次",
      "null-value": "旁路缓存，不存在的商铺缓存空值",
      bloom: "旁路缓存，前面加布隆过滤器",
      jitter: "旁路缓存，TTL随机错开一成",
      mutex: "互斥锁：缓存空值，用SET NX只让一个人查库，其余的等着",
      "logical-expiry": "逻辑过期：缓存永不删除，过期后由一个人在后台重建",
      "mallbox-directory": "mallbox，在目录里：租约、合并查库、重建期间先给旧值",
      "mallbox-servers": "mallbox，在Redis和MySQL上：做法相同，每个实例另有本地缓存",
    },
    draw: (section) => cacheTables([readCaches(section)]),
  },
};
