import { lookup } from 'node:dns/promises'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import { expect, it, onTestFinished } from 'vitest'
import { checkOutward, isPrivate, outwardFetch } from '../../src/base/outward.ts'
import { skipTest } from '../helpers/skip.ts'

it('knows addresses that are not public, however they are written', () => {
  const inward = [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
  ]
  for (const address of [
    ...inward,
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
  ])
    expect(isPrivate(address), address).toBe(true)
  for (const address of ['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])
    expect(isPrivate(address), address).toBe(false)
})

it('refuses by its text what leads inward, and lets through what was named', () => {
  const none = { allowed: [] }
  const inward = [
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::ffff:7f00:1]/',
    'http://a.localhost/',
  ]
  for (const url of inward) expect(checkOutward(url, none), url).toContain('private')
  for (const url of ['ftp://example.org/', 'nonsense', 'https://user:secret@example.org/'])
    expect(checkOutward(url, none), url).toBeDefined()
  expect(checkOutward('https://example.org/', none)).toBeUndefined()
  expect(checkOutward('http://127.0.0.1:80/x', { allowed: ['127.0.0.1'] })).toBeUndefined()
  expect(checkOutward('http://127.0.0.1:81/', { allowed: ['127.0.0.1:82'] })).toContain('private')
})

async function stageServer() {
  const server = createServer(({ url }, response) => {
    if (url === '/away') return void response.writeHead(307, { location: '/' }).end()
    response.end(url === '/huge' ? 'x'.repeat(2_000_000) : `at ${url}`)
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  return {
    port,
    get: (host: string, path: string, allowed: string[] = []) =>
      outwardFetch({ allowed })(`http://${host}:${port}${path}`),
  }
}

it('connects where it may, follows no redirect, and reads no endless answer', async () => {
  const { port, get } = await stageServer()
  const allowed = [`127.0.0.1:${port}`]
  expect(await (await get('127.0.0.1', '/x', allowed)).text()).toBe('at /x')
  await expect(get('127.0.0.1', '/x')).rejects.toMatchObject({ code: 'not_permitted' })
  await expect(get('127.0.0.1', '/away', allowed)).rejects.toThrow('redirects elsewhere')
  await expect(get('127.0.0.1', '/huge', allowed)).rejects.toThrow('larger than')
})

it('looks at the address that a name has when it connects', async () => {
  const name = hostname()
  const found = await lookup(name).catch(() => undefined)
  if (found === undefined || !isPrivate(found.address)) skipTest(`${name} has no private address here`)
  const { get } = await stageServer()
  await expect(get(name, '/x')).rejects.toThrow('is a private address')
  expect(await (await get(name, '/x', [name])).text()).toBe('at /x')
})
