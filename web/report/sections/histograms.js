// How to merge the histograms: percentiles of several runs cannot be averaged.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { section } from "./section.js";

const EXAMPLE = `import json
from hdrh.histogram import HdrHistogram

merged = HdrHistogram(1, 3_600_000_000, 3)
for run in json.load(open("result.json"))["runs"]:
    if run["failure"] is None and run["workload"] == "flash sale":
        merged.decode_and_add(run["latency"]["histogram"])
print(merged.get_value_at_percentile(99.9), "µs")`;

/** @param {import("../report.js").Report} report */
export function histograms({ results }) {
  if (!results.some(({ runs, disk_sync: sync }) => sync?.histogram || runs.some(({ latency }) => latency.histogram !== null))) return null;
  return section("histograms", t("合并直方图", "Merging the histograms"),
    h("p", null, t(
      "各轮的百分位数不能取平均。要得到多轮合在一起的百分位数，请合并直方图：每个延迟的histogram字段是一个HdrHistogram（V2，压缩，base64），单位微秒。本页的#results元素里有全部数据。Python的hdrhistogram包这样合并：",
      "Percentiles of several runs cannot be averaged. Merge the histograms instead: the field histogram of each latency is an HdrHistogram (V2, compressed, base64) in µs. The element #results of this page holds all data. With the Python package hdrhistogram:")),
    h("pre", { tabindex: 0, lang: "en" }, h("code", null, EXAMPLE)));
}
