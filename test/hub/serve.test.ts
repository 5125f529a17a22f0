import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openDisk, openSpace } from '../../src/space/open.ts'
import { createBox } from '../helpers/cli.ts'
import { letPass, until } from '../helpers/wait.ts'

type Box = Awaited<ReturnType<typeof createBox>>

interface Printed {
  url: string
  token: string
  space: string
  open: string
  socket?: string
  fingerprint?: string
}

/** Starts `mailbox serve` in a process of its own and waits until it answers. */
async function serve(box: Box, ...words: string[]) {
  const started = box.start(['serve', '--json', ...words])
  await started.says('"url"')
  const printed = started.stdout().trim().split('\n')
  expect(printed).toHaveLength(1)
  return { started, ...(JSON.parse(printed[0]!) as Printed) }
}

it('prints where it is, takes the next free port, and stops when it is told to', async () => {
  const box = await createBox('ada')
  const first = await serve(box)
  expect(first).toMatchObject({
    space: box.dir,
    token: readFileSync(join(box.dir, 'hub', 'token'), 'utf8').trim(),
  })
  expect(await (await fetch(`${first.url}/health`)).json()).toEqual({ ok: true, version: expect.any(String) })
  const second = await serve(box)
  expect(second.url).not.toBe(first.url)
  expect(second.token).toBe(first.token)
  const { port } = new URL(first.url)
  const refused = await box.run(['serve', '--port', port, '--json'])
  expect(refused).toMatchObject({ code: 5, stderr: '' })
  expect((JSON.parse(refused.stdout) as { error: object }).error).toMatchObject({
    code: 'conflict',
    hint: expect.stringContaining('--port'),
  })

  for (const [{ started, url, token }, signal] of [
    [first, 'SIGTERM'],
    [second, 'SIGINT'],
  ] as const) {
    const authorization = `Bearer ${token}`
    const stream = await fetch(`${url}/api/stream`, { headers: { authorization } })
    const waiting = fetch(`${url}/api/mailboxes/ada/inbox`, { method: 'POST', headers: { authorization } })
    expect((await waiting).status).toBe(200)
    started.process.kill(signal)
    // The stream has an end, and so has the process.
    expect(await stream.text()).toContain(': stopping at ')
    const code = signal === 'SIGTERM' ? 0 : 130
    expect(await started.exit).toMatchObject({ code, signal: null, stderr: '' })
  }
})

it('tells a person what to open and how to stop it, and does not wait for a second signal', async () => {
  const box = await createBox()
  const started = box.start(['serve', '--port', '0'])
  await started.says('Ctrl-C')
  const [open, space, stop] = started.stdout().trim().split('\n')
  expect(open).toMatch(/^open +http:\/\/127\.0\.0\.1:\d+\/#token=mbx_[\w-]{43}$/)
  expect([space, stop]).toEqual([`space   ${box.dir}`, 'stop    Ctrl-C'])
  const url = /http:[^#]+/.exec(open!)![0]
  const page = await fetch(`${url}agents`, { headers: { accept: 'text/html' } })
  const policy = page.headers.get('content-security-policy')!
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "require-trusted-types-for 'script'",
    "frame-ancestors 'none'",
  ])
    expect(policy).toContain(rule)
  expect(policy).not.toContain('unsafe')
  started.process.kill('SIGINT')
  started.process.kill('SIGINT')
  const { code, signal } = await started.exit
  expect([0, 130]).toContain(code ?? signal)
})

it('makes, lists and takes back the tokens of agents', async () => {
  const box = await createBox('ada')
  const { url } = await serve(box, '--port', '0')
  const made = (await box.ok('token', 'ada')).trim()
  expect(made).toMatch(/^mbx_[\w-]{43}$/)
  const count = () =>
    fetch(`${url}/api/mailboxes/ada/count`, { method: 'POST', headers: { authorization: `Bearer ${made}` } })
  expect((await count()).status).toBe(200)
  expect(await box.ok('token')).toMatch(
    /^AGENT +CREATED +SCOPE +EXPIRES +LAST USE +REFUSED\nada +\S.*act,read-own +never +/,
  )
  expect(await box.ok('token', 'ada', '--revoke')).toBe('revoked the token of ada\n')
  expect((await count()).status).toBe(401)
  expect(await box.refused(3, 'token', 'ada', '--revoke')).toMatchObject({ code: 'not_found' })
  expect(await box.refused(2, 'token', 'user')).toMatchObject({ code: 'invalid' })
  expect(await box.refused(2, 'token', '--revoke')).toMatchObject({ code: 'invalid' })
  expect(await box.refused(2, 'token', 'ada', '--scope', 'everything')).toMatchObject({ code: 'invalid' })
  expect(await box.refused(2, 'token', 'ada', '--rotate')).toMatchObject({ code: 'invalid' })
  expect(await box.refused(2, 'token', 'ada', '--expires', 'soon')).toMatchObject({ code: 'invalid' })

  const prometheus = (await box.ok('token', 'prometheus', '--scope', 'metrics', '--expires', '30d')).trim()
  const get = (path: string, token: string) =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status)
  expect([await get('/metrics', prometheus), await get('/api/agents', prometheus)]).toEqual([200, 403])
  expect(await box.ok('token')).toMatch(/prometheus +(?:just now|\d+ s ago) +metrics +in 29 d/)
  const { token: old } = await serve(box, '--port', '0')
  const fresh = (await box.ok('token', 'user', '--rotate')).trim()
  expect([await get('/api/space', old), await get('/api/space', fresh)]).toEqual([401, 200])
  const secret = await box.ok('token', '--webhook')
  expect(secret).toMatch(/^whsec_\S+\n$/)
  expect(await box.ok('token', '--webhook')).toBe(secret)
})

it('loses and doubles nothing for those who follow when it is killed and started again', async () => {
  const box = await createBox('ada')
  let hub = await serve(box, '--port', '0')
  const { port } = new URL(hub.url)
  const followers = await Promise.all(
    (['sse', 'websocket', 'sse', 'websocket'] as const).map(async (stream) => {
      const space = await openSpace({ url: hub.url, token: hub.token, stream })
      onTestFinished(() => space.close())
      const seqs: number[] = []
      const over = new AbortController()
      const running = (async () => {
        for await (const { entry } of space.follow({ after: 0, signal: over.signal })) seqs.push(entry.seq)
      })()
      return { seqs, over, running, space }
    }),
  )
  // Whoever writes is another process on the same space: it does not notice.
  const local = await openDisk({
    dir: box.dir,
    settings: { durability: 'os', 'limits.ratePerMinute': 0, 'limits.inbox': 0 },
  })
  onTestFinished(() => local.close())
  const ada = await local.mailbox('ada')
  const waiting = followers[0]!.space
    .mailbox('user')
    .then((user) => user.wait({ type: 'last', timeoutMs: 150_000 }))
  let sent = 0
  const writing = new AbortController()
  const writer = (async () => {
    while (!writing.signal.aborted) {
      await ada.send({ to: 'user', subject: `${sent++}`, body: 'x'.repeat(2_000) })
      if (sent % 2 === 0) await letPass(10)
    }
  })()
  for (let kill = 0; kill < 2; kill++) {
    const before = sent
    await until(() => sent > before + 150 && followers.every(({ seqs }) => seqs.length > before / 2))
    hub.started.process.kill('SIGKILL')
    await hub.started.exit
    const during = sent
    await until(() => sent > during + 50)
    hub = await serve(box, '--port', port)
  }
  writing.abort()
  await writer
  await ada.send({ to: 'user', subject: 'the last', type: 'last' })
  const end = await local.lastSeq()
  expect(await waiting).toMatchObject({ subject: 'the last' })
  await until(() => followers.every(({ seqs }) => seqs.at(-1)! >= end))
  for (const { seqs, over, running } of followers) {
    over.abort()
    await running
    expect(seqs.slice(0, end)).toEqual(Array.from({ length: end }, (_, at) => at + 1))
  }
  hub.started.process.kill('SIGTERM')
  await hub.started.exit
})

it('has a link for each start, and prints it again while it runs', async () => {
  const box = await createBox()
  const first = await serve(box, '--port', '0')
  const { port } = new URL(first.url)
  const tokenIn = (link: string) => /#token=(mbx_[\w-]{43})$/.exec(link)![1]!
  const get = (token: string) =>
    fetch(`${first.url}/api/space`, { headers: { authorization: `Bearer ${token}` } }).then(
      ({ status }) => status,
    )
  expect(tokenIn(first.open)).not.toBe(first.token)
  expect([await get(tokenIn(first.open)), await get(first.token)]).toEqual([200, 200])
  expect(await box.ok('token', 'user', '--link')).toBe(`${first.open}\n`)
  first.started.process.kill('SIGKILL')
  await first.started.exit
  expect(await box.refused(3, 'token', 'user', '--link')).toMatchObject({ code: 'not_found' })

  // The socket that a kill leaves behind is in nobody's way.
  const second = await serve(box, '--port', port)
  expect([first.socket, second.socket]).toEqual([join(box.dir, 'hub', 'socket'), first.socket])
  expect(second.open).not.toBe(first.open)
  // What a page of the first start still has is good for nothing.
  expect([await get(tokenIn(first.open)), await get(tokenIn(second.open))]).toEqual([401, 200])
  const space = await openSpace({ url: `unix:${second.socket!}`, token: second.token })
  await space.close()
  second.started.process.kill('SIGTERM')
  expect(await second.started.exit).toMatchObject({ code: 0 })
  expect(existsSync(second.socket!)).toBe(false)
})

it('says by what to know it when it speaks TLS, and warns where it does not and others can listen', async () => {
  const box = await createBox('ada')
  const hub = await serve(box, '--port', '0', '--tls')
  expect(hub).toMatchObject({ url: expect.stringMatching(/^https:/), fingerprint: expect.any(String) })
  const token = (await box.ok('token', 'ada')).trim()
  expect(token).toMatch(/^mbx_[\w-]{43}~[\w-]{43}$/)
  for (const one of [token, hub.token]) {
    expect(one.split('~')[1]).toBe(hub.fingerprint)
    const space = await openSpace({ url: hub.url, token: one })
    await space.close()
  }
  hub.started.process.kill('SIGTERM')
  expect(await hub.started.exit).toMatchObject({ code: 0, stderr: '' })

  for (const [words, warns] of [
    [['--host', '0.0.0.0'], true],
    [['--host', '0.0.0.0', '--tls'], false],
    [['--host', 'localhost'], false],
  ] as const) {
    const open = await serve(box, '--port', '0', ...words)
    open.started.process.kill('SIGTERM')
    const { stderr } = await open.started.exit
    expect([words, stderr.includes('warning: plain HTTP on 0.0.0.0')]).toEqual([words, warns])
  }
})
