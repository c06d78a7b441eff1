// A reader of server-sent events (`text/event-stream`) over `fetch`: the browser's `EventSource` cannot send
// a token.

import { stream } from "./api.js";

/**
 * Yields events until the server or `signal` ends the stream.
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<{name: string, data: any}>}
 */
export async function* events(path, signal) {
  const { body } = await stream(path, signal);
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    const messages = buffer.split("\n\n");
    buffer = messages.pop() ?? "";
    for (const lines of messages) yield parseEvent(lines);
  }
}

/** @param {string} lines */
function parseEvent(lines) {
  let [name, data] = ["message", ""];
  for (const line of lines.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  return { name, data: JSON.parse(data) };
}
