// A client of `mallbox fixture`, a whole mall for a test. Copy this file: it needs Node 18 or later and nothing else.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Runs `mallbox fixture`, by $MALLBOX or from the PATH, and answers its first mall. `end()` ends the process. */
export async function start(...flags) {
  const child = spawn(process.env.MALLBOX ?? 'mallbox', ['fixture', ...flags]);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { errors += text; });
  const ended = once(child, 'close');
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  if (typeof line !== 'string') throw new Error(`mallbox fixture did not start:\n${errors}`);
  return new Mall(JSON.parse(line), ended);
}

/** One mall: the API that is under test, and the controls that a test holds it by. */
export class Mall {
  #api;
  #control;
  #ended;

  constructor(line, ended) {
    this.operator = line.operatorToken;
    this.#api = line.api;
    this.#control = line.control;
    this.#ended = ended;
  }

  /** A call of the API: the whole envelope and its HTTP status. A refusal is an answer, too: its `code` says why. */
  call(method, path, token, body) {
    return request(method, this.#api + path, token, body);
  }

  /** A call of the controls: its data. Throws when it is refused. */
  async control(method, path, body) {
    return dataOf(await request(method, this.#control + path, undefined, body));
  }

  /** A mall more in the same process, made in milliseconds. */
  async another(options) {
    return new Mall(await this.control('POST', '/malls', options));
  }

  async end() {
    await this.control('DELETE', '');
    await this.#ended;
  }

  async logIn(phone) {
    return (await this.control('POST', '/login', { phone })).token;
  }

  /** Moves the clock, `'1h 30m'`; whatever is due by then has been done when this is. */
  async advance(by) {
    await this.control('POST', '/clock/advance', { by });
  }
}

/** What was asked for; throws what was said instead. */
export function dataOf(answer) {
  if (answer.success !== true) throw new Error(JSON.stringify(answer));
  return answer.data;
}

async function request(method, url, token, body) {
  const headers = { 'content-type': 'application/json' };
  if (token) headers.authorization = token;
  const signal = AbortSignal.timeout(30_000);
  const reply = await fetch(url, { method, headers, signal, body: JSON.stringify(body) });
  return { status: reply.status, ...await reply.json() };
}
