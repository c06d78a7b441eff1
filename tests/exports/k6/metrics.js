/** What was added, by the name of the metric. */
export const counted = {}

/** The names of the counters that were added to, in order, but for the one of all claims. */
export const named = []

export class Counter {
  constructor(name) {
    counted[name] = 0
    this.name = name
  }

  add(number) {
    counted[this.name] += number
    if (this.name !== 'claims') named.push(this.name)
  }
}

export class Trend {
  add() {}
}
