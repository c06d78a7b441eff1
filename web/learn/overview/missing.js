// How to install programs without which nothing runs.

import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { missingText } from "../run-buttons.js";

/** @type {[string, string][]} */
const COMMANDS = [
  ["Debian, Ubuntu", "sudo apt install redis-server mariadb-server"],
  ["macOS (Homebrew)", "brew install redis mariadb"],
];

/** @param {string[]} missing programs */
export function missingNotice(missing) {
  if (missing.length === 0) return null;
  return h("section", { class: "card pad notice warn missing", "aria-labelledby": "missing-title" },
    h("h2", { id: "missing-title" }, missingText(missing)),
    h("p", null, t(
      "安装之后重新启动mallbox learn就能运行。不用启动它们的系统服务：每次运行都会在临时目录里另起一套，结束就删。现在也可以先读，文字、代码和预期都在。",
      "Install them and start mallbox learn again. Their system services need not run: each run starts servers of its own in a temporary directory, and removes them afterwards. Until then everything can be read: texts, code and expected verdicts.")),
    h("dl", { class: "facts" }, COMMANDS.map(([system, command]) => h("div", null, h("dt", null, system), h("dd", null, h("code", null, command))))));
}
