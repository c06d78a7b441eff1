// Chapter: ways to assemble feeds, compared.

import { readFeeds } from "../../report/read-results.js";
import { feedTables } from "../../report/sections/feeds.js";

/** @type {import("./index.js").Chapter} */
export const comparedFeeds = {
  id: "compared-feeds",
  title: { zh: "Feed流：推还是拉", en: "Feeds: push or pull" },
  lead: {
    zh: "关注的人发了笔记，要么写的时候推进每个粉丝的收件箱，要么读的时候现去拉。推得越多，大V发一条就越慢；拉得越多，每次下拉刷新就越贵。这里让同一位作者面对一百到一万个粉丝，量出一写一读的耗时和占用的内存，再看看新粉丝、取关的人、删掉的笔记和写到一半就死掉的进程，各会留下什么。",
    en: "A note either goes to the inbox of every fan when it is written, or is fetched when a fan reads. The more is pushed, the longer a famous author waits; the more is pulled, the more each page costs. Here one author writes for a hundred and for ten thousand fans: time of a note, time of a page, and memory are measured. Then come a new fan, one who leaves, deleted notes, and a writer who dies halfway.",
  },
  rungs: [],
  comparison: {
    name: "feeds",
    about: {
      zh: "约半分钟；会另起两个Redis和一个MariaDB，结束后全部删除。",
      en: "About half a minute, on two Redis servers and a MariaDB of its own; all are removed afterwards.",
    },
    zh: {
      pull: "拉模式：每次读都到MySQL里收集所有关注的人的最新笔记",
      push: "推模式：笔记写进每个粉丝在Redis里的ZSET",
      hybrid: "推拉结合：粉丝不超过1000人就推，超过就拉",
      "mallbox-directory": "mallbox，在目录里：只推给常来的读者，收件箱在内存里，可从SQLite重建",
      "mallbox-servers": "mallbox，在Redis和MySQL上：只推给常来的读者，收件箱可从MySQL重建",
    },
    draw: (section) => feedTables([readFeeds(section)]),
  },
};
