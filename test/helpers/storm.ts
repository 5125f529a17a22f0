/** Whether this is `npm run storm`, which has the time for the long version of a test. */
export const isStorm = Boolean(process.env['STORM'])

/** The long version's figure or the one of `npm test`. */
export const inStorm = <T>(long: T, usual: T): T => (isStorm ? long : usual)
