import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stageHub } from '../helpers/hub.ts'
import { tempDir } from '../helpers/temp.ts'

const html = { headers: { accept: 'text/html' }, token: null }

it('serves the page for every view, and files whose names change with their content for ever', async () => {
  const dir = join(tempDir(), 'console')
  mkdirSync(join(dir, 'assets'), { recursive: true })
  writeFileSync(join(dir, 'index.html'), '<!doctype html><title>console</title>')
  writeFileSync(join(dir, 'assets', 'main-3f2a.js'), 'export {}')
  writeFileSync(join(dir, '..', 'secret.txt'), 'not for the world')
  const stage = await stageHub({ consoleDir: dir })
  for (const view of ['/', '/agents', '/threads/0190-abc', '/channels/project:x', '/search?q=a%20b']) {
    const page = await stage.ask(view, html)
    expect([view, page.status, page.text]).toEqual([view, 200, '<!doctype html><title>console</title>'])
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': expect.stringContaining("require-trusted-types-for 'script'"),
      'x-content-type-options': 'nosniff',
    })
  }
  const script = await stage.ask('/assets/main-3f2a.js', { token: null })
  expect(script).toMatchObject({ status: 200, text: 'export {}' })
  expect(script.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  // A file that is not there is not the page: a browser would take the page for a script.
  expect((await stage.ask('/assets/main-0000.js', html)).status).toBe(404)
  for (const path of [
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/%00',
  ]) {
    const answer = await stage.ask(path, { token: null })
    expect([path, answer.status]).toEqual([path, 404])
    expect(answer.text).not.toContain('not for the world')
  }
})

it('says so when the console is not there', async () => {
  const stage = await stageHub()
  const page = await stage.ask('/', html)
  expect(page.status).toBe(503)
  expect(page.text).toContain('npm run build')
})
