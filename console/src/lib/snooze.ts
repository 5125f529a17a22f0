export interface SnoozeChoice {
  name: string
  at: number
}

const hourMs = 3_600_000
const morning = 9
const evening = 18

/** When people want to see something again, soonest first. */
export function snoozeChoices(now: Date): SnoozeChoice[] {
  const on = (days: number, hour: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour).getTime()
  const toMonday = (8 - now.getDay()) % 7 || 7
  const choices = [
    { name: 'In an hour', at: now.getTime() + hourMs },
    { name: 'This evening', at: on(0, evening) },
    { name: 'Tomorrow morning', at: on(1, morning) },
    { name: 'Monday morning', at: on(toMonday, morning) },
  ]
  return choices.filter(
    ({ at }, n) => at >= now.getTime() + hourMs && choices.findIndex((other) => other.at === at) === n,
  )
}
