// A flash sale for k6: each row of claims.csv is one claim, made once and in order. load.json beside it has the
// request, the rules and the arrivals.
//
//   k6 run claims.k6.js
//   TARGET=http://10.0.0.5:8080 k6 run claims.k6.js
import exec from 'k6/execution'
import http from 'k6/http'
import { SharedArray } from 'k6/data'
import { Counter, Trend } from 'k6/metrics'

const load = JSON.parse(open('./load.json'))
const target = __ENV.TARGET || load.target
const rows = new SharedArray('claims', () => open('./claims.csv').trim().split('\n').slice(1))

const claims = new Counter('claims')
const latency = new Trend('claim_latency', true)
const answers = {
  accepted: new Counter('accepted'),
  sold_out: new Counter('sold_out'),
  already_bought: new Counter('already_bought'),
  refused: new Counter('refused'),
  rejected: new Counter('rejected'),
  lost: new Counter('lost'),
}

// A refusal is an answer, not a failed request.
http.setResponseCallback(http.expectedStatuses({ min: 200, max: 599 }))

/** Whole numbers are wanted: rates count claims in a thousand seconds. */
const perThousandSeconds = rate => Math.round(rate * 1000)

/** @returns {import('k6/options').Scenario} */
const closedLoop = () => ({
  executor: 'shared-iterations',
  vus: Math.min(load.connections, rows.length),
  iterations: rows.length,
  maxDuration: '24h',
})

/** @returns {import('k6/options').Scenario} */
const openLoop = () => ({
  executor: 'ramping-arrival-rate',
  preAllocatedVUs: load.connections,
  timeUnit: '1000s',
  startRate: perThousandSeconds(load.pieces[0].from),
  stages: load.pieces
    .flatMap(piece => [
      { duration: '0ms', target: perThousandSeconds(piece.from) },
      { duration: `${piece.ms}ms`, target: perThousandSeconds(piece.to) },
    ])
    // The claims that rounding left over; the rows end first.
    .concat([{ duration: '0ms', target: 100_000 }, { duration: '1s', target: 100_000 }]),
})

/** @type {import('k6/options').Options} */
export const options = {
  scenarios: { claims: load.pieces ? openLoop() : closedLoop() },
  // A claim that was not made fails the run.
  thresholds: { claims: [`count==${rows.length}`] },
  summaryTrendStats: ['min', 'med', 'p(90)', 'p(99)', 'p(99.9)', 'max', 'count'],
}

export default function () {
  const number = exec.scenario.iterationInTest
  if (number >= rows.length) return
  const [token, sale] = rows[number].split(',')
  const fill = text => text.replaceAll('{sale}', () => sale).replaceAll('{token}', () => token)
  const headers = Object.fromEntries(Object.entries(load.headers).map(([name, value]) => [name, fill(value)]))
  const response = http.request(load.method, target + fill(load.path), fill(load.body) || null, {
    headers,
    redirects: 0,
    responseType: 'text',
    timeout: '5s',
    tags: { name: 'claim' },
  })
  const answer = nameOf(response)
  claims.add(1)
  answers[answer].add(1)
  latency.add(response.timings.duration, { answer })
}

/** Returns the kind of an answer: refusals are tried first, so that none counts as success. */
function nameOf(response) {
  if (response.status === 0) return 'lost'
  const body = typeof response.body === 'string' ? response.body : ''
  const rule = load.rules.find(each => matches(each, response.status, body))
  if (rule) return rule.answer
  return response.status >= 200 && response.status < 300 ? 'refused' : 'rejected'
}

function matches(rule, status, body) {
  if ('status' in rule && rule.status !== status) return false
  if (!('at' in rule)) return !('contains' in rule) || body.includes(rule.contains)
  const value = valueAt(body, rule.at)
  if (value === undefined || ('is' in rule && sorted(rule.is) !== sorted(value))) return false
  return !('contains' in rule) || (typeof value === 'string' && value.includes(rule.contains))
}

/** Returns a value as text, with the names of objects in order. */
function sorted(value) {
  return JSON.stringify(value, (_, inner) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )
}

/** Returns the value at a JSON pointer; undefined if there is none. */
function valueAt(body, pointer) {
  const steps = pointer.split('/').slice(1).map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  try {
    return steps.reduce(within, JSON.parse(body))
  } catch {
    return undefined
  }
}

function within(value, step) {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined
  return Array.isArray(value) && !/^(0|[1-9][0-9]*)$/.test(step) ? undefined : value[step]
}
