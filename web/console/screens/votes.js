// The ledger of votes: of all reviews, or of one.

import { get } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { t } from "../../core/language.js";
import { linkButton } from "../../parts/button.js";
import { emptyState } from "../../parts/empty-state.js";
import { infiniteList } from "../../parts/infinite-list.js";
import { heading } from "../pieces/heading.js";
import { voteRow } from "../pieces/vote-row.js";

/** @typedef {import("../pieces/vote-row.js").VoteLine} VoteLine */

/** Lines per response of the server. */
const PAGE_SIZE = 50;

/** @param {import("../../core/router.js").ScreenContext} context */
export function open({ root, params, signal, title }) {
  const review = params.review;
  const name = review ? t(`评价 ${review} 的“有用”流水`, `Votes for review ${review}`) : t("“有用”流水", "Ledger of votes");
  title(name);
  const list = infiniteList({
    name: `console votes ${review ?? ""}`, signal, look: "audit", height: "2.75rem", key: (/** @type {VoteLine} */ { remarkId, number }) => `${remarkId} ${number}`, draw: voteRow,
    none: () => emptyState("list", t("还没有人点“有用”。", "No votes yet.")),
    load: async (/** @type {string | undefined} */ after) => {
      /** @type {VoteLine[]} */
      const items = await get(review ? `/ops/remarks/${review}/votes` : "/ops/votes", { query: { after }, signal });
      const last = items.at(-1);
      return { items, next: items.length < PAGE_SIZE || !last ? undefined : review ? String(last.number) : last.cursor };
    },
  });
  root.append(heading(name, review ? linkButton(t("全部流水", "All votes"), "#/votes", { icon: "list" }) : linkButton(t("归档", "Archive"), "#/vote-archive", { icon: "list" })),
    h("p", { class: "quiet intro" }, t("每一票一行，只增不改；每行记着投票后的“有用”数，最新一行就是现在的数。旧的日子可能已归档，这里只留下仍然有效的票。", "One line per vote, never changed. Each line has the sum after it; the newest has the sum of today. Old days may be archived; only votes that count are left here.")), list.root);
}
