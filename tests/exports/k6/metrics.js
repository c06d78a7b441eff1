/** What was added, by the name of the metric. */
export const counted = {}

export class Counter {
  constructor(name) {
    counted[name] = 0
    this.name = name
  }

  add(number) {
    counted[this.name] += number
  }
}

export class Trend {
  add() {}
}
