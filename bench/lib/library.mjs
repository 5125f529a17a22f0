/** The build under measurement: a copy made at the start, so that one run measures one build. */
const path = process.env['BENCH_LIBRARY']

/** No agent sends as much as a benchmark does: the limits on rate and on full boxes are off. */
export const unlimited = { 'limits.ratePerMinute': 0, 'limits.inbox': 0 }

/** With the settings of each space, as commands and hooks have them. */
export const loadPlainLibrary = () => import(path ?? '../../dist/mod.js')

export async function loadLibrary() {
  const library = await loadPlainLibrary()
  const openSpace = (options) =>
    library.openSpace({ ...options, settings: { ...unlimited, ...options.settings } })
  return { ...library, openSpace }
}
