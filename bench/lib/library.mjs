/** The build under measurement: a copy made at the start, so that one run measures one build. */
const path = process.env['BENCH_LIBRARY']

export const loadLibrary = () => import(path ?? '../../dist/mod.js')
