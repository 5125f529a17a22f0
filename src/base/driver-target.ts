import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'

/**
 * Stands in our bundles for the two packages that tell the SQLite driver which of its native libraries to load. What they
 * load to find out takes a tenth of the time of a command, and on most systems there is only one answer.
 */
export const GLIBC = 'glibc'
export const MUSL = 'musl'

/** Whether the C library may be musl: where its loader is not, it is not. */
export const mayBeMusl = (): boolean =>
  ['x86_64', 'aarch64', 'armhf'].some((arch) => existsSync(`/lib/ld-musl-${arch}.so.1`))

/** Both can be installed; then a report of this process says which one it uses. */
function isMusl(): boolean {
  if (!mayBeMusl()) return false
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return header?.glibcVersionRuntime === undefined
}

export const familySync = (): string | null =>
  process.platform === 'linux' ? (isMusl() ? MUSL : GLIBC) : null

export function currentTarget(): string {
  const { platform, arch } = process
  if (platform === 'win32') return `win32-${arch}-msvc`
  if (platform !== 'linux') return `${platform}-${arch}`
  if (arch === 'arm') return 'linux-arm-gnueabihf'
  return `linux-${arch}-${isMusl() ? 'musl' : 'gnu'}`
}

/** A native library, which is a package that only the driver's may see. */
export function load(name: string): unknown {
  const require = createRequire(import.meta.url)
  try {
    return require(name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    return createRequire(require.resolve('libsql'))(name)
  }
}
