/** The ways of sending that several peers have in common. */
export const one = { name: 'one', label: 'one after another', inFlight: 1, batch: 1 }
export const flight20 = { name: 'flight20', label: '20 in flight', inFlight: 20, batch: 1 }
export const flight64 = { name: 'flight64', label: '64 in flight', inFlight: 64, batch: 1 }
export const batch64 = { name: 'batch64', label: 'batches of 64', inFlight: 1, batch: 64 }
export const batch100 = { name: 'batch100', label: 'batches of 100', inFlight: 1, batch: 100 }
/** Twenty cold processes on a few cores need their time until the compiler is out of the way. */
const processes = (count) => ({
  name: `processes${count}`,
  label: `${count} processes`,
  inFlight: 1,
  batch: 1,
  processes: count,
  warmUps: 6,
  each: 300,
})
export const processes20 = processes(20)
export const processes5 = processes(5)
export const connections20 = { name: 'connections20', label: '20 connections', inFlight: 20, batch: 1 }
