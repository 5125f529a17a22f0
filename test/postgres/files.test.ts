import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SharedFiles } from '../../src/journal/postgres/shared-files.ts'
import { tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'
import { ownSpace } from './place.ts'

/** The shared files of two machines, in directories of their own. */
async function twoMachines() {
  const place = await ownSpace()
  const { server } = (await place.open()).store
  const machine = () => {
    // What leads out of it is still within the directory of the test.
    const dir = join(tempDir(), 'a', 'space')
    mkdirSync(dir, { recursive: true })
    const path = (name: string) => join(dir, name)
    const files = new SharedFiles(server, dir)
    const read = (name: string) => (existsSync(path(name)) ? readFileSync(path(name), 'utf8') : undefined)
    const write = (name: string, text: string) => {
      mkdirSync(join(path(name), '..'), { recursive: true })
      writeFileSync(path(name), text)
    }
    return { dir, files, read, write, path }
  }
  const rows = () =>
    place.sql<{ name: string; content: string | null; version: string }>(
      'SELECT name, content, version FROM mailbox.files WHERE space = SPACE ORDER BY name',
    )
  const state = async () =>
    (
      await place.sql<{ files: string; commit: string }>(
        'SELECT files, commit FROM mailbox.spaces WHERE space = SPACE',
      )
    )[0]!
  return { ...place, here: machine(), there: machine(), rows, state }
}

describe('a shared file', () => {
  it('that one machine changes is the same on the others', async () => {
    const { here, there, rows, state } = await twoMachines()
    const before = await state()
    const result = await here.files.change('hub/agents.json', () => {
      here.write('hub/agents.json', 'one')
      return 'done'
    })
    expect([result, await rows()]).toEqual([
      'done',
      [{ name: 'hub/agents.json', content: 'one', version: '1' }],
    ])
    const after = await state()
    expect([after.files === before.files, after.commit]).toEqual([false, 'on'])
    await there.files.fetch()
    expect(there.read('hub/agents.json')).toBe('one')
    expect(statSync(there.path('hub/agents.json')).mode & 0o777).toBe(0o600)
    expect(statSync(there.path('hub')).mode & 0o777).toBe(0o700)
    // The other one builds on it.
    await there.files.change('hub/agents.json', () =>
      there.write('hub/agents.json', `${there.read('hub/agents.json')} two`),
    )
    await here.files.fetch()
    expect([here.read('hub/agents.json'), (await rows())[0]!.version]).toEqual(['one two', '2'])
  })

  it('that is removed is removed everywhere', async () => {
    const { here, there, rows } = await twoMachines()
    await here.files.change('templates/a.json', () => here.write('templates/a.json', '{}'))
    await there.files.fetch()
    await here.files.change('templates/a.json', () => rmSync(here.path('templates/a.json')))
    expect(await rows()).toEqual([{ name: 'templates/a.json', content: null, version: '2' }])
    await there.files.fetch()
    expect([here.read('templates/a.json'), there.read('templates/a.json')]).toEqual([undefined, undefined])
  })

  it('that stays as it is costs the others nothing', async () => {
    const { here, there, rows, state } = await twoMachines()
    await here.files.change('config.json', () => here.write('config.json', '{}'))
    const before = await state()
    expect(await here.files.change('config.json', () => 7)).toBe(7)
    expect(await here.files.change('hub/webhook-secret', () => undefined)).toBeUndefined()
    expect([await state(), (await rows()).length]).toEqual([before, 1])
    await there.files.fetch()
    const { ino } = statSync(there.path('config.json'))
    await there.files.fetch()
    expect(statSync(there.path('config.json')).ino).toBe(ino)
  })

  it('of which the change fails is as it was', async () => {
    const { here, rows } = await twoMachines()
    await here.files.change('config.json', () => here.write('config.json', '{"a":1}'))
    const fail = () => {
      here.write('config.json', '{"a":2}')
      throw new Error('no')
    }
    await expect(here.files.change('config.json', fail)).rejects.toThrow('no')
    expect([here.read('config.json'), (await rows())[0]!.version]).toEqual(['{"a":1}', '1'])
    const failNew = () => {
      here.write('templates/a.json', 'x')
      throw new Error('no')
    }
    await expect(here.files.change('templates/a.json', failNew)).rejects.toThrow('no')
    expect(here.read('templates/a.json')).toBeUndefined()
  })

  it('that another machine has changed meanwhile is changed again, on what that one made of it', async () => {
    const { here, there, rows } = await twoMachines()
    await here.files.change('config.json', () => here.write('config.json', '[]'))
    await there.files.fetch()
    const add = (machine: typeof here, n: number) =>
      machine.files.change('config.json', () => {
        const list = JSON.parse(machine.read('config.json')!) as number[]
        machine.write('config.json', JSON.stringify([...list, n]))
      })
    await Promise.all([add(here, 1), add(there, 2)])
    expect((JSON.parse((await rows())[0]!.content!) as number[]).sort()).toEqual([1, 2])
    expect((await rows())[0]!.version).toBe('3')
  })

  it('that others change all the time is given up, with what they made of it in place', async () => {
    const { here, sql, rows } = await twoMachines()
    await here.files.change('templates/a.json', () => here.write('templates/a.json', '0'))
    const [{ space }] = (await sql('SELECT space FROM mailbox.spaces WHERE space = SPACE')) as [
      { space: string },
    ]
    // Whoever changes the file finds that somebody was faster.
    const name = `faster_${space}`
    await sql(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`)
    await sql(
      `CREATE TRIGGER ${name} BEFORE UPDATE ON mailbox.files FOR EACH ROW WHEN (OLD.space = ${space}) EXECUTE FUNCTION ${name}()`,
    )
    try {
      let tries = 0
      const change = () => here.write('templates/a.json', `${++tries}`)
      await expect(here.files.change('templates/a.json', change)).rejects.toMatchObject({
        code: 'conflict',
        message: 'other machines keep changing templates/a.json',
      })
      expect(tries).toBe(20)
    } finally {
      await sql(`DROP FUNCTION ${name} CASCADE`)
    }
    expect([here.read('templates/a.json'), (await rows())[0]!.content]).toEqual(['0', '0'])
  })

  it('says how the space wants to be stored, if it is the settings', async () => {
    const { here, state } = await twoMachines()
    const set = (name: string, text: string) => here.files.change(name, () => here.write(name, text))
    await set('config.json', '{"postgres.commit":"remote_apply"}')
    expect((await state()).commit).toBe('remote_apply')
    await set('templates/a.json', '{"postgres.commit":"on"}')
    expect((await state()).commit).toBe('remote_apply')
    await set('config.json', '{}')
    expect((await state()).commit).toBe('on')
  })

  it('is one of those that a space has, and leads nowhere else', async () => {
    const { here, sql } = await twoMachines()
    const good = ['config.json', 'hub/agents.json', 'hub/webhook-secret', 'templates/x.json']
    const bad = [
      '../x',
      'x/config.json',
      'config.json/x',
      'config.jsonx',
      'hub/other',
      'templates/a/b.json',
      'templates/.json/../../x',
      'templates/x.txt',
      'journal/1',
      'xhub/agents.json',
    ]
    for (const name of [...good, ...bad])
      await sql(
        'INSERT INTO mailbox.files (space, name, content, version) VALUES (SPACE, $1, $2, 1)',
        name,
        'text',
      )
    await here.files.fetch()
    for (const name of good) expect(here.read(name)).toBe('text')
    for (const name of bad)
      expect(existsSync(here.path(name)) && statSync(here.path(name)).isFile()).toBe(false)
  })
})

describe('a machine', () => {
  it('fetches the files when their number is another one, and only then', async () => {
    const { here, there, sql } = await twoMachines()
    await here.files.change('templates/a.json', () => here.write('templates/a.json', '1'))
    await there.files.fetchAt(1)
    expect(readFileSync(there.path('shared'), 'utf8')).toBe('1\n')
    await sql("UPDATE mailbox.files SET content = '2' WHERE space = SPACE")
    await there.files.fetchAt(1)
    expect(there.read('templates/a.json')).toBe('1')
    await Promise.all([there.files.fetchAt(2), there.files.fetchAt(3)])
    expect([there.read('templates/a.json'), readFileSync(there.path('shared'), 'utf8')]).toEqual(['2', '3\n'])
  })

  it('has them when it opens the space, and hears of changes with the next answer', async () => {
    const { here, open, sql } = await twoMachines()
    await here.files.change('templates/a.json', () => here.write('templates/a.json', '1'))
    const journal = await open()
    const path = join(journal.store.copy.dir, 'templates', 'a.json')
    expect(readFileSync(path, 'utf8')).toBe('1')
    await here.files.change('templates/a.json', () => here.write('templates/a.json', '2'))
    await journal.pull()
    await until('the file is there', () => readFileSync(path, 'utf8') === '2')
    await sql("UPDATE mailbox.files SET content = '3' WHERE space = SPACE")
    await journal.pullFiles()
    expect(readFileSync(path, 'utf8')).toBe('2')
    await sql('UPDATE mailbox.spaces SET files = files + 1 WHERE space = SPACE')
    await journal.pullFiles()
    expect(readFileSync(path, 'utf8')).toBe('3')
  })
})
