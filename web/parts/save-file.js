// Saves a streamed response as a file of the user.

import { reportUnreachable } from "../core/api.js";
import { h } from "../core/dom.js";
import { t } from "../core/language.js";
import { showToast } from "./toast.js";

/**
 * @param {Response} response
 * @param {string} name of the file
 */
export async function saveFile(response, name) {
  const file = await response.blob().catch((error) => {
    throw reportUnreachable(String(error));
  });
  const url = URL.createObjectURL(file);
  h("a", { href: url, download: name }).click();
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  showToast(t("已开始下载", "Download started"));
}
