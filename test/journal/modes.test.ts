import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { runScript } from '../helpers/processes.ts'
import { skipTest } from '../helpers/skip.ts'
import { tempDir } from '../helpers/temp.ts'

const script = new URL('modes.mjs', import.meta.url)
const asRoot = process.getuid?.() === 0

/** Every path below with its mode in octal: directories and everything else. */
function modesBelow(dir: string): { directories: Record<string, string>; files: Record<string, string> } {
  const [directories, files]: Record<string, string>[] = [{}, {}]
  for (const path of readdirSync(dir, { recursive: true }) as string[]) {
    const found = lstatSync(join(dir, path))
    const kind = found.isDirectory() ? directories : files
    kind![path] = (found.mode & 0o777).toString(8)
  }
  return { directories: directories!, files: files! }
}

describe('a space', () => {
  it.each(['0', '18'])('is closed to others whatever the umask (%s)', (umask) => {
    const dir = join(tempDir(), 'space')
    const { status, stderr } = runScript(script, [dir, umask])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect((lstatSync(dir).mode & 0o777).toString(8)).toBe('700')
    // If it took a while, the process has been a desk as well, which has a directory and a socket.
    const { directories, files } = modesBelow(dir)
    expect(Object.keys(directories)).toEqual(expect.arrayContaining(['archive', 'journal']))
    expect(Object.entries(directories).filter(([, mode]) => mode !== '700')).toEqual([])
    expect(Object.keys(files)).toContain(join('journal', '00000003.jsonl'))
    expect(Object.keys(files).filter((file) => file.startsWith('archive'))).toHaveLength(3)
    expect(Object.entries(files).filter(([, mode]) => mode !== '600')).toEqual([])
  })

  it.each([0o750, 0o705, 0o770, 0o701])('that others may enter (%o) is refused', async (mode) => {
    const dir = join(tempDir(), 'space')
    mkdirSync(dir)
    chmodSync(dir, mode)
    const opening = openDisk({ dir })
    await expect(opening).rejects.toMatchObject({
      code: 'not_permitted',
      hint: expect.stringContaining('chmod 700'),
    })
    expect(readdirSync(dir)).toEqual([])
  })

  it('behind a symbolic link is refused', async () => {
    const dir = tempDir()
    mkdirSync(join(dir, 'real'), { mode: 0o700 })
    symlinkSync(join(dir, 'real'), join(dir, 'link'))
    await expect(openDisk({ dir: join(dir, 'link') })).rejects.toMatchObject({ code: 'not_permitted' })
  })

  it('that belongs to somebody else is refused', async () => {
    if (!asRoot) skipTest('needs root: only root can give a folder to somebody else')
    const dir = join(tempDir(), 'space')
    mkdirSync(dir, { mode: 0o700 })
    chownSync(dir, 65_534, 65_534)
    await expect(openDisk({ dir })).rejects.toMatchObject({ code: 'not_permitted' })
  })

  it('whose segment is a symbolic link is not written through it', async () => {
    const dir = tempDir()
    mkdirSync(join(dir, 'journal'), { mode: 0o700 })
    symlinkSync(join(dir, 'elsewhere'), join(dir, 'journal', '00000001.jsonl'))
    await expect(openDisk({ dir })).rejects.toThrow()
    expect(readdirSync(dir)).not.toContain('elsewhere')
  })
})
