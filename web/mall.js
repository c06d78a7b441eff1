// What runs, and what to try. Reads public calls only; every text from the mall is set as text, never as HTML.

const $ = (id) => document.getElementById(id);

const WORDS = {
  zh: {
    ready: "可以营业", notReady: "暂时不能营业", gone: "商城没有应答",
    backend: "存储", durability: "持久性", zone: "时区", limits: "限流", backlog: "待入库订单", version: "版本",
    on: "开", off: "关",
    power: "断电不丢", process: "进程崩溃不丢，断电可能丢", relaxed: "崩溃可能丢失最后片刻",
    memory: "Redis 停止即丢",
    opens: "开始倒计时", left: "剩余", unlimited: "不限量", ends: "距结束", paused: "已暂停", ended: "已结束",
    soldOut: "已售罄", other: "English",
  },
  en: {
    ready: "Open for business", notReady: "Closed for now", gone: "The mall does not answer",
    backend: "Storage", durability: "Durability", zone: "Time zone", limits: "Limits", backlog: "Orders on their way",
    version: "Version", on: "on", off: "off",
    power: "survives a power cut", process: "survives a crash, not a power cut", relaxed: "may lose the last moments",
    memory: "lost when Redis stops",
    opens: "Opens in", left: "left", unlimited: "unlimited", ends: "ends in", paused: "On hold", ended: "Over",
    soldOut: "Sold out", other: "中文",
  },
};

/** How often the mall is asked, and how many shops are looked into for sales. */
const EVERY_MS = 5000;
const SHOP_PAGES = 2;

let language = stored() ?? (navigator.language.startsWith("zh") ? "zh" : "en");
let state = null;
let sales = [];
let types = [];

function stored() {
  try {
    return localStorage.getItem("mallbox-language");
  } catch {
    return null; // A browser that keeps nothing still shows the page.
  }
}

function words() {
  return WORDS[language] ?? WORDS.zh;
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

async function read(path) {
  const answer = await fetch(path, { headers: { "accept-language": language }, signal: AbortSignal.timeout(4000) });
  return answer.json();
}

async function data(path) {
  const envelope = await read((state?.api ?? "/api") + path);
  return envelope.success ? envelope.data : undefined;
}

async function look() {
  try {
    state = await read("/readyz");
  } catch {
    state = null;
  }
  if (state) {
    try {
      if (types.length === 0) types = (await data("/shop-type/list")) ?? [];
      sales = await findSales();
    } catch {
      // What was seen last stays; the state says how the mall is.
    }
  }
  show();
}

async function findSales() {
  const numbers = Array.from({ length: SHOP_PAGES }, (_, page) => page + 1);
  const pages = await Promise.all(numbers.map((page) => data(`/shop/of/type?current=${page}`)));
  const shops = pages.flat().filter(Boolean);
  const shelves = await Promise.all(shops.map((shop) => data(`/voucher/list/${shop.id}`)));
  const found = shelves.flatMap((shelf, at) =>
    (shelf ?? []).filter((voucher) => voucher.type === 1).map((voucher) => ({ voucher, shop: shops[at] })));
  // The newest of each shop: a demo opens one more at every start.
  const newest = [...new Map(found.map((sale) => [sale.shop.id, sale])).values()];
  const live = await Promise.all(newest.map((sale) => data(`/sale/${sale.voucher.id}`)));
  const seen = performance.now();
  return newest.map((sale, at) => ({ ...sale, live: live[at], seen })).filter((sale) => sale.live);
}

function show() {
  const w = words();
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const part of document.querySelectorAll("[data-zh]")) part.textContent = part.dataset[language];
  const other = $("language");
  other.textContent = w.other;
  other.lang = language === "zh" ? "en" : "zh-CN";

  $("state").textContent = !state ? w.gone : state.ready ? w.ready : `${w.notReady}: ${state.troubles.join("; ")}`;
  $("state").classList.toggle("bad", !state?.ready);
  const facts = !state ? [] : [
    [w.backend, state.backend], [w.durability, `${state.durability} (${w[state.durability] ?? ""})`],
    [w.zone, state.zone], [w.limits, state.limits ? w.on : w.off], [w.backlog, state.backlog],
    [w.version, state.version],
  ];
  $("facts").replaceChildren(...facts.flatMap(([what, value]) => [element("dt", what), element("dd", value)]));

  $("types").replaceChildren(...types.map(typeTile));
  $("no-types").hidden = types.length > 0;
  $("no-sales").hidden = sales.length > 0;
  showSales();
  $("try").textContent = whatToTry();
}

function typeTile(type) {
  const tile = element("li");
  const picture = element("img");
  picture.alt = "";
  picture.src = `/imgs${type.icon.startsWith("/") ? "" : "/"}${type.icon}`;
  tile.append(picture, type.name);
  return tile;
}

function showSales() {
  $("sales").replaceChildren(...sales.map((sale) => {
    const card = element("li");
    const yuan = (cents) => `¥${(cents / 100).toFixed(2)}`;
    const { voucher, shop } = sale;
    card.append(
      element("h3", voucher.title),
      element("p", shop.name),
      element("p", `${yuan(voucher.payValue)} / ${yuan(voucher.actualValue)}`, "price"),
      saleState(sale),
    );
    return card;
  }));
}

/** Counted from what the mall said, never from this machine's clock. */
function saleState({ live, seen }) {
  const w = words();
  const passed = performance.now() - seen;
  const stock = live.stock < 0 ? w.unlimited : `${live.stock} ${w.left}`;
  const begins = (live.beginsInMs ?? 0) - passed;
  const ends = (live.endsInMs ?? 0) - passed;
  if (live.state === "PAUSED") return element("p", w.paused, "when over");
  if (live.state === "ENDED" || ends <= 0) return element("p", w.ended, "when over");
  if (begins > 0) return element("p", `${w.opens} ${span(begins)} · ${stock}`, "when");
  if (live.state === "SOLD_OUT") return element("p", w.soldOut, "when over");
  return element("p", `${stock} · ${w.ends} ${span(ends)}`, "when");
}

function span(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  return `${two(hours)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

function whatToTry() {
  const api = location.origin + (state?.api ?? "/api");
  const phone = "13900000002";
  const sale = sales.find(({ live }) => live.state === "OPEN")?.voucher.id ?? "1";
  const code = state?.inbox
    ? `$(curl -s '${api}/demo/inbox?phone=${phone}' | grep -oE '"[0-9]{6}"')`
    : '\\"123456\\"';
  return [
    `curl -s -X POST '${api}/user/code?phone=${phone}'`,
    `token=$(curl -s ${api}/user/login -d "{\\"phone\\":\\"${phone}\\",\\"code\\":${code}}" | grep -oE '[0-9a-f]{48}')`,
    `curl -s -X POST -H "authorization: $token" ${api}/voucher-order/seckill/${sale}`,
  ].join("\n");
}

$("language").addEventListener("click", () => {
  language = language === "zh" ? "en" : "zh";
  try {
    localStorage.setItem("mallbox-language", language);
  } catch {
    // Then it is asked for again next time.
  }
  show();
});

setInterval(showSales, 1000);
setInterval(() => { if (!document.hidden) look(); }, EVERY_MS);
look();
