// Chapter: how mallbox does it, in three diagrams.

import { h } from "../../core/dom.js";
import { language } from "../../core/language.js";
import { inline, say } from "../prose.js";

/** @typedef {import("../prose.js").Words} Words */
/** @typedef {{file: string, height: number, title: Words, text: Words, alt: Words}} Diagram */

/** @type {Diagram[]} */
const DIAGRAMS = [
  {
    file: "claim",
    height: 1170,
    title: { zh: "一次抢购的全程", en: "The path of a claim" },
    text: {
      zh: "七步里只有一步裁决，只有一个时刻决定“算数”：日志落盘。之前断电，等于没抢过；之后断电，订单照样会有。",
      en: "Of the seven steps one decides, and one moment makes it count: the journal is on the disk. After a power cut before that moment there was no claim; after it there will be an order.",
    },
    alt: {
      zh: "从请求到订单的七步：接收、准入、原子裁决、落盘、应答、成为订单、结算。",
      en: "Seven steps from request to order: receive, admit, decide atomically, become durable, respond, become an order, settle.",
    },
  },
  {
    file: "back-ends",
    height: 1352,
    title: { zh: "一个商城，两种后端", en: "One mall, two back ends" },
    text: {
      zh: "第13级和第14级是同一个商城：业务规则只认端口（trait），目录和服务器各有一套实现。",
      en: "Rungs 13 and 14 are one mall: its rules know ports, which are traits, and a directory and servers each implement them.",
    },
    alt: {
      zh: "每个端口在目录里和在服务器上分别由什么实现。",
      en: "For each port, what implements it in a directory and on servers.",
    },
  },
  {
    file: "order-states",
    height: 944,
    title: { zh: "订单的状态", en: "The states of an order" },
    text: {
      zh: "超时未付的订单会取消，件数退回库存；退回和取消写在同一个事务里，所以死在中间也不会少一件。",
      en: "An order that is not paid in time is cancelled and its unit returns. The transaction that cancels also writes that a unit has to return, so no crash keeps it.",
    },
    alt: {
      zh: "订单的状态，以及每次转换的原因。",
      en: "States of an order, with the causes of each transition.",
    },
  },
];

/** @type {import("./index.js").Chapter} */
export const design = {
  id: "design",
  title: { zh: "mallbox怎么做", en: "How mallbox does it" },
  lead: {
    zh: "三张图：一次抢购走哪七步，两种后端各用什么，一张订单会经过哪些状态。",
    en: "Three diagrams: the seven steps of a claim, the two back ends, and the states of an order.",
  },
  rungs: [],
  body: () => DIAGRAMS.map(diagram),
};

/** @param {Diagram} diagram */
function diagram({ file, height, title, text, alt }) {
  const source = new URL(`../../diagrams/${file}${language() === "zh" ? ".zh" : ""}.svg`, import.meta.url).href;
  return h("section", { "aria-labelledby": `diagram-${file}` },
    h("h2", { id: `diagram-${file}` }, say(title)),
    h("p", { class: "measure" }, inline(text)),
    h("a", { class: "diagram", href: source }, h("img", { src: source, alt: say(alt), width: 800, height, loading: "lazy" })));
}
