// Runs a script for k6 in Node: every iteration of its closed loop, one after another. Prints the counters.
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

globalThis.open = name => readFileSync(name, 'utf8')
globalThis.__ENV = {}

const { default: iterate, options } = await import(pathToFileURL(process.argv[2]).href)
const { default: exec } = await import('k6/execution')
const { counted, named } = await import('k6/metrics')
const { iterations, stages } = options.scenarios.claims
for (let number = 0; number < (iterations ?? 0); number++) {
  exec.scenario.iterationInTest = number
  iterate()
}
console.log(JSON.stringify({ counted, named, stages }))
