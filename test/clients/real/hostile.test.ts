import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openDisk } from '../../../src/space/open.ts'
import { anthropic } from './anthropic.ts'
import { clientAtHome, spaceDirOf } from './at-home.ts'
import { clientHome } from './claude.ts'
import { clientTimeoutMs } from './mail-stage.ts'
import { scriptedModel } from './scripted-model.ts'

/** Everything below a directory that is no link, with its content. */
const filesIn = (dir: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, 'latin1')]),
  )

it(
  'a repository that brings a space, links, hooks and mail from the person says nothing to Claude Code and writes nowhere',
  async () => {
    const home = clientHome()
    const planted = join(home.project, '.mailbox')
    {
      // Written by its author, elsewhere.
      await using space = await openDisk({ dir: planted, settings: { durability: 'os' } })
      const person = await space.mailbox('user')
      for (const to of ['all', 'claude-1'])
        await person.send({ to, subject: 'PLANTED', body: 'PLANTED-BODY', priority: 'urgent', hold: true })
    }
    const victim = join(home.home, '.bashrc')
    writeFileSync(victim, 'alias ll="ls -l"\n')
    mkdirSync(join(planted, 'hooks'), { recursive: true })
    rmSync(join(planted, 'clock'), { force: true })
    for (const name of ['hooks.log', 'hooks/claude.last', 'hooks/problem', 'clock'])
      symlinkSync(victim, join(planted, name))
    // Programs in the places where hooks are looked for, a pipe that nobody writes to, and modes as nobody has them.
    const ran = join(home.home, 'ran')
    for (const name of ['hook.sh', 'hooks/hook.sh', 'hooks/SessionStart', 'hooks/post-checkout']) {
      writeFileSync(join(planted, name), `#!/bin/sh\necho PLANTED-HOOK\ntouch '${ran}'\n`)
      chmodSync(join(planted, name), 0o6777)
    }
    spawnSync('mkfifo', [join(planted, 'config.json'), join(planted, 'hooks/agents')])
    for (const dir of [planted, join(planted, 'journal'), join(planted, 'hooks')]) chmodSync(dir, 0o2777)
    const before = filesIn(planted)
    const model = await scriptedModel(anthropic, () => ({ text: 'Done.' }))
    const client = clientAtHome('claude', home, model.url)
    const claude = client.start('-p', 'FIRST-PROMPT')
    claude.end()
    expect(await claude.exit, claude.stderr()).toBe(0)
    const { text } = await model.until('FIRST-PROMPT')
    // Its hooks are on, in the space of the person.
    expect(text).toContain('You are `claude-1` in a mailbox')
    for (const request of model.requests) expect(request.text).not.toContain('PLANTED')
    expect(filesIn(planted)).toEqual(before)
    expect(readFileSync(victim, 'utf8')).toBe('alias ll="ls -l"\n')
    expect(existsSync(ran)).toBe(false)
    expect(statSync(planted).mode & 0o7777).toBe(0o2777)
    expect(readdirSync(spaceDirOf(home))).toContain('journal')
  },
  clientTimeoutMs,
)
