// Generated avatars for users without a picture, deterministic per user.

import { svg } from "../core/dom.js";

const BACKGROUNDS = ["#f6c667", "#9fd3a8", "#f7b5b0", "#8fb8de", "#f3d9a4", "#a7c7c4", "#f2a65a", "#c9b3e6", "#a5b1e0", "#b5c99a"];
const SKINS = ["#f9d9bd", "#f2c9a5", "#e8b98f", "#d9a37a", "#fbdcc2"];
const HAIRS = ["#2e2a2c", "#3b3230", "#51362a", "#6b4432", "#8d5a3c", "#b9b4ad"];
const TOPS = ["#2f6f66", "#e05d4f", "#fff4e4", "#3d4a63", "#d9603b", "#37506b", "#7a8f4d", "#a04e64"];
const INK = "#33302f";

/** Paths of the hair behind the head and on the head. */
const STYLES = [
  ["", "M35 54q-4-30 25-31t25 31q-3-12-8-15q-17 4-34 0q-5 3-8 15z"],
  ["", "M34 56q-5-36 28-35q28 0 24 35q-3-10-6-14q-20 0-30-11q-6 12-12 14q-3 4-4 11z"],
  ["M30 56q0-36 30-36t30 36v22q0 10-10 10H40q-10 0-10-10z", "M34 62q-2-36 26-37t26 37q-4-4-5-14q-21 2-42 0q-1 10-5 14z"],
  ["M30 56q0-38 30-38t30 38v40q2 10-8 10H38q-10 0-8-10z", "M34 66q-4-40 26-42q30 2 26 42q-4-16-26-34q-22 18-26 34z"],
  ["M47 18a13 13 0 1 1 26 0a13 13 0 1 1-26 0M33 60q-4-38 27-38t27 38z", "M35 54q0-28 25-28t25 28q-8-16-25-17q-17 1-25 17z"],
  ["M78 34q28-6 26 26q-1 22-12 30q2-30-16-44z", "M35 58q-2-34 25-34t25 34q-2-12-8-17q-20 2-32-5q-8 8-10 22z"],
];
const MOUTHS = ["M53 75q7 6 14 0", "M54 76q8 4 13-2", "M52 74q8 9 16 0"];
const GLASSES = "M40 60a9 9 0 1 0 18 0a9 9 0 1 0-18 0M62 60a9 9 0 1 0 18 0a9 9 0 1 0-18 0M58 58h4";

/**
 * @param {string | number} seed identifies the user
 * @param {string} className CSS classes
 */
export function generatedAvatar(seed, className) {
  const random = generator(String(seed));
  /** @template T @param {readonly T[]} list */
  const pick = (list) => list[random() % list.length];
  const [ground, skin, hair, top] = [pick(BACKGROUNDS), pick(SKINS), pick(HAIRS), pick(TOPS)];
  const [back, front] = pick(STYLES);
  const eyesAreShut = random() % 4 === 0;
  const hasGlasses = random() % 4 === 0;
  return svg("svg", { class: className, viewBox: "0 0 120 120", "aria-hidden": "true" },
    svg("rect", { width: 120, height: 120, fill: ground }),
    svg("circle", { cx: 60, cy: 62, r: 50, fill: "#fff", "fill-opacity": 0.4 }),
    fillPath(back, hair), fillPath("M14 120q2-26 28-30l18-3 18 3q26 4 28 30z", top),
    fillPath("M50 76h20v14q-10 12-20 0z", skin), fillPath("M50 82q10 9 20 0v5q-10 7-20 0z", "#0002"),
    fillPath("M31 60a6 6 0 1 0 12 0a6 6 0 1 0-12 0M77 60a6 6 0 1 0 12 0a6 6 0 1 0-12 0", skin),
    fillPath("M37 54q0-26 23-26t23 26v6q0 25-23 26q-23-1-23-26z", skin),
    fillPath("M41 69a5 3 0 1 0 10 0a5 3 0 1 0-10 0M69 69a5 3 0 1 0 10 0a5 3 0 1 0-10 0", "#e8776a55"),
    eyesAreShut ? strokePath("M45 60q4-5 8 0M67 60q4-5 8 0", INK, 3)
      : fillPath("M46 59a3 4 0 1 0 6 0a3 4 0 1 0-6 0M68 59a3 4 0 1 0 6 0a3 4 0 1 0-6 0", INK),
    strokePath("M44 51q5-3 9-1M67 50q5-2 9 1", "#0006", 2), strokePath("M60 62q-3 5 1 6", "#0003", 2),
    strokePath(pick(MOUTHS), "#9c3f3f", 3), fillPath(front, hair), hasGlasses && strokePath(GLASSES, INK, 2));
}

/**
 * @param {string} d
 * @param {string} colour
 */
function fillPath(d, colour) {
  return d ? svg("path", { d, fill: colour }) : null;
}

/**
 * @param {string} d
 * @param {string} colour
 * @param {number} width
 */
function strokePath(d, colour, width) {
  return svg("path", { d, fill: "none", stroke: colour, "stroke-width": width, "stroke-linecap": "round" });
}

/**
 * Returns a pseudo-random number generator seeded with a text.
 * @param {string} text
 */
function generator(text) {
  let state = 2166136261;
  for (const letter of text) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 16777619);
  return () => {
    state = Math.imul(state ^ (state >>> 15), 2246822519) + 2654435769;
    return (state ^ (state >>> 13)) >>> 0;
  };
}
