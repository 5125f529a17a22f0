import { describe, expect, it } from 'vitest'
import { asMailboxError, fromSystem, MailboxError, typed } from '../../src/base/errors.ts'

/** An error as Node and libuv make it. */
const systemError = (code: string, errno: number, message = `${code}: made by a test, write`) =>
  Object.assign(new Error(message), { code, errno, syscall: 'write' })

describe('an error of the system', () => {
  it.each([
    ['ENOSPC', 'disk_full'],
    ['EFBIG', 'disk_full'],
    ['EACCES', 'not_permitted'],
    ['EROFS', 'not_permitted'],
    ['EMFILE', 'over_limit'],
    ['ENOLCK', 'over_limit'],
    ['EIO', 'damaged'],
    ['ESTALE', 'damaged'],
    ['EISDIR', 'invalid'],
    ['ELOOP', 'invalid'],
    ['EMLINK', 'invalid'],
    ['ENOTSUP', 'invalid'],
    ['ENOENT', 'not_found'],
    ['EBUSY', 'conflict'],
    ['ERR_FS_EISDIR', 'invalid'],
    ['SQLITE_IOERR_READ', 'damaged'],
    ['SQLITE_READONLY_DBMOVED', 'not_permitted'],
  ])('%s is %s', (code, expected) => {
    const error = asMailboxError(systemError(code, -1))
    expect(error).toMatchObject({ code: expected, hint: expect.any(String) })
    expect(error.message).toContain(code)
  })

  it('is known by its number where Node has no name for it', () => {
    const unknown = 'Unknown system error -122'
    const error = fromSystem(systemError(unknown, -122, `${unknown}: ${unknown}, write`))
    expect(error).toMatchObject({ code: 'disk_full', message: 'EDQUOT: EDQUOT, write' })
    expect(fromSystem(systemError('UNKNOWN', -122))).toMatchObject({ code: 'disk_full' })
    expect(fromSystem(systemError('UNKNOWN', -4094))).toMatchObject({ code: 'damaged' })
    expect(fromSystem(systemError('Unknown system error -117', -117))).toMatchObject({ code: 'damaged' })
  })

  it('is one about the file if nobody has thought of it', () => {
    const strange = systemError('ENOTTY', -25)
    expect(fromSystem(strange)).toBeUndefined()
    expect(fromSystem(Object.assign(strange, { path: '/a/file' }))).toMatchObject({ code: 'damaged' })
  })

  it('is told apart from a defect, which stays what it is', async () => {
    const defect = new TypeError('x is not a function')
    expect(fromSystem(defect)).toBeUndefined()
    expect(asMailboxError(defect)).toMatchObject({ code: 'internal', cause: defect })
    expect(() =>
      typed(() => {
        throw defect
      }),
    ).toThrow(defect)
    await expect(typed(() => Promise.reject(systemError('EIO', -5)))).rejects.toMatchObject({
      code: 'damaged',
    })
  })

  it('is not seen in an error of ours, or in the end of a request', () => {
    const ours = new MailboxError('timeout', 'late')
    expect(asMailboxError(ours)).toBe(ours)
    expect(asMailboxError(new DOMException('stop', 'AbortError'))).toMatchObject({ code: 'interrupted' })
  })
})
