// Editing of the user's own profile.

import { Refusal, call, get } from "../../core/api.js";
import { invalidate } from "../../core/cache.js";
import { fill, h } from "../../core/dom.js";
import { isKiosk } from "../../core/local-storage.js";
import { t } from "../../core/language.js";
import { back } from "../../core/router.js";
import { me, reloadMe } from "../../core/session.js";
import { upload } from "../../core/upload.js";
import { avatar } from "../../parts/avatar.js";
import { screenHeader } from "../../parts/screen-header.js";
import { whileBusy, button } from "../../parts/button.js";
import { errorState } from "../../parts/empty-state.js";
import { field } from "../../parts/field.js";
import { skeletons } from "../../parts/skeleton.js";
import { showToast } from "../../parts/toast.js";
import { requireLogin, redirectIfUnauthorized } from "../login-guard.js";
import { UnreadableImage, cropSquare, unreadableMessage } from "../../core/resize.js";

/** @typedef {import("../people/profile-card.js").Person} Person */
/** @typedef {import("../people/profile-card.js").Profile} Card */

/** @param {import("../../core/router.js").ScreenContext} context */
export async function open({ root, signal, title }) {
  const name = t("编辑资料", "Edit profile");
  title(name);
  if (!requireLogin()) return;
  const place = h("div", null, skeletons(1, "26rem"));
  root.append(h("div", { class: "narrow stack" }, screenHeader(name, { home: "/me" }), place));
  await show();

  async function show() {
    try {
      const person = await me();
      if (!person) return;
      const card = await get(`/user/info/${person.id}`, { signal });
      if (!signal.aborted) fill(place, form(person, card, signal));
    } catch (error) {
      if (!signal.aborted && !redirectIfUnauthorized(error)) fill(place, errorState(error, show));
    }
  }
}

/**
 * @param {Person} person
 * @param {Card} card
 * @param {AbortSignal} signal
 */
function form(person, card, signal) {
  const face = avatarPicker(person);
  const nickName = field(t("名字", "Name"), "input", { maxlength: 32, required: true, autocomplete: "nickname", value: person.nickName });
  const city = field(t("城市", "City"), "input", { maxlength: 64, autocomplete: "address-level2", value: card.city });
  const introduce = field(t("介绍自己", "About me"), "textarea", { maxlength: 128 }, card.introduce);
  const gender = field(t("性别", "Gender"), "select", {},
    h("option", { value: "false", selected: !card.gender }, t("男", "Male")), h("option", { value: "true", selected: card.gender }, t("女", "Female")));
  const birthday = field(t("生日", "Birthday"), "input", { type: "date", min: "1900-01-01", autocomplete: "bday", value: card.birthday });
  const submit = h("button", { type: "submit", class: "button main wide" }, t("保存", "Save"));
  return h("form", { class: "card pad stack", novalidate: true, onsubmit: save },
    !isKiosk && face.root, nickName.root, city.root, introduce.root, gender.root, birthday.root, submit);

  /** @param {SubmitEvent} event */
  function save(event) {
    event.preventDefault();
    const body = {
      nickName: nickName.input.value.trim(), icon: face.icon(), city: city.input.value.trim(), introduce: introduce.input.value.trim(),
      gender: gender.input.value === "true", birthday: birthday.input.value,
    };
    nickName.wrong(body.nickName ? "" : t("名字不能是空的", "Enter a name"));
    if (!body.nickName) return;
    whileBusy(submit, async () => {
      try {
        await call("PUT", "/user/info", { body });
      } catch (error) {
        if (redirectIfUnauthorized(error)) return;
        if (!(error instanceof Refusal) || error.isTrouble) throw error;
        // Only the birthday needs the server's validation.
        (/birthday|生日/.test(error.message) ? birthday : nickName).wrong(error.message);
        return;
      }
      invalidate();
      await reloadMe();
      showToast(t("已保存", "Saved"));
      if (!signal.aborted) back("/me");
    });
  }
}

/**
 * A picker for the user's avatar.
 * @param {Person} person
 * @returns {{root: Node, icon: () => string}}
 */
function avatarPicker(person) {
  let icon = person.icon;
  const shown = h("span", null, avatar(person, { large: true }));
  const removeButton = button(t("不用照片", "Remove picture"), () => show(""), { look: ["bare"] });
  const input = h("input", { type: "file", accept: "image/*", class: "unseen", tabindex: "-1", "aria-hidden": "true", onchange: () => whileBusy(pickButton, takeFile) });
  const pickButton = button(t("换头像", "Change picture"), () => input.click(), { icon: "camera" });
  removeButton.hidden = icon === "";
  return { root: h("div", { class: "row" }, shown, h("div", { class: "row wrap" }, pickButton, removeButton, input)), icon: () => icon };

  async function takeFile() {
    const file = input.files?.[0];
    input.value = "";
    if (!file) return;
    try {
      show(await upload(await cropSquare(file)));
    } catch (error) {
      if (!(error instanceof UnreadableImage)) throw error;
      showToast(unreadableMessage(), { bad: true });
    }
  }

  /** @param {string} fresh */
  function show(fresh) {
    icon = fresh;
    removeButton.hidden = icon === "";
    fill(shown, avatar({ ...person, icon }, { large: true }));
  }
}
