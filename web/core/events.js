// Events that the mall sends one after the other in one answer: `text/event-stream`, read from its body, because a browser's
// own reader of them cannot send the token.

import { stream } from "./api.js";

/**
 * The events, as they come, until the mall or `signal` ends them.
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<{name: string, data: any}>}
 */
export async function* events(path, signal) {
  const { body } = await stream(path, signal);
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const whole = rest.split("\n\n");
    rest = whole.pop() ?? "";
    for (const lines of whole) yield event(lines);
  }
}

/** @param {string} lines */
function event(lines) {
  let [name, data] = ["message", ""];
  for (const line of lines.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  return { name, data: JSON.parse(data) };
}
