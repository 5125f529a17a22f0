import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { createBox } from '../helpers/cli.ts'

/** A project that came with a space of its own. */
async function clonedProject() {
  const box = await createBox()
  const home = dirname(box.dir)
  const project = join(home, 'project')
  const dir = join(project, '.mailbox')
  {
    await using space = await openDisk({ dir, settings: { durability: 'os' } })
    await space.join('mallory')
  }
  const cwd = join(project, 'deep')
  mkdirSync(cwd)
  const run = (...words: string[]) => box.run(words, { cwd, env: { MAILBOX_SPACE: '' } })
  return { box, home, project, dir, run }
}

it('passes over the space of a project that nobody has agreed to, and says how to use it', async () => {
  const { home, dir, run } = await clonedProject()
  const joined = await run('join', 'ada')
  expect(joined).toMatchObject({ code: 0 })
  expect(joined.stderr).toContain(`${dir} is not used: you have not agreed to it`)
  expect(joined.stderr).toContain(`mailbox trust ${dir}`)
  expect(joined.stderr).toContain(`Created a space in ${join(home, '.mailbox')}`)
  const { stdout } = await run('agents', '--json')
  expect(stdout).not.toContain('mallory')
  expect((await run('doctor')).stdout).toContain(`${dir} is not used`)
})

it('uses it once the person has agreed, until that is taken back', async () => {
  const { dir, run } = await clonedProject()
  expect(await run('trust')).toMatchObject({ code: 0, stdout: expect.stringContaining(`agreed to ${dir}`) })
  const listed = await run('agents', '--json')
  expect(listed.stdout).toContain('mallory')
  expect(listed.stderr).toBe('')
  expect(JSON.parse((await run('trust', '--list', '--json')).stdout)).toEqual({ spaces: [dir] })
  expect((await run('trust', dir)).stdout).toContain('before')
  expect(await run('trust', '--revoke')).toMatchObject({ code: 0 })
  expect((await run('agents')).stderr).toContain('is not used')
  expect(await run('trust', '--revoke', dir)).toMatchObject({ code: 3 })
})

it('needs no agreement to a space that was created here', async () => {
  const { home, run } = await clonedProject()
  const other = join(home, 'other')
  mkdirSync(other)
  expect(await run('--space', join(other, '.mailbox'), 'join', 'ada')).toMatchObject({ code: 0 })
  const box = await createBox()
  const listed = await box.run(['agents', '--json'], { cwd: other, env: { HOME: home, MAILBOX_SPACE: '' } })
  expect(listed.stdout).toContain('"ada"')
})

it('agrees to nothing that is not there, or that leads elsewhere', async () => {
  const { home, dir, run } = await clonedProject()
  expect(await run('trust', join(home, 'nowhere'))).toMatchObject({ code: 3 })
  symlinkSync(home, join(dir, 'hooks'))
  const refused = await run('trust', dir)
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.stderr).toContain(`${join(dir, 'hooks')} is not a regular file`)
})
