import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSpace } from '../../src/space/open.ts'
import { hasPostgres, PostgresServer } from '../helpers/postgres.ts'
import { startScript } from '../helpers/processes.ts'
import { skipTest } from '../helpers/skip.ts'
import { tempDir } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'

const program = new URL('../../dist/cli.cjs', import.meta.url)

/** A certificate for `localhost`, signed by itself. */
function certificate(): { key: string; cert: string; certFile: string } {
  const dir = tempDir()
  const [keyFile, certFile] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30']
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', keyFile, '-out', certFile], {
    stdio: 'ignore',
  })
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8'), certFile }
}

/** A server that takes no connection without TLS, except from its own tests. */
async function secureServer() {
  if (!hasPostgres()) skipTest('needs PostgreSQL: run `apt-get install -y postgresql` as root')
  needTool('openssl')
  const { key, cert, certFile } = certificate()
  const server = await PostgresServer.create(tempDir(), {
    settings: ['ssl=on'],
    access: ['hostnossl all agent all reject', 'hostssl all agent all scram-sha-256'],
    files: { 'server.key': key, 'server.crt': cert },
  })
  onTestFinished(() => server.stop('SIGQUIT'))
  server.sql("CREATE ROLE agent LOGIN PASSWORD 'hush-hush'")
  server.sql('GRANT CREATE ON DATABASE postgres TO agent')
  const url = (query: string, host = 'localhost') =>
    `postgres://agent@${host}:${server.port}/postgres?space=team&connect_timeout=20${query}`
  return { server, certFile, url }
}

describe('a server with TLS', () => {
  it('is checked as the address says: the certificate, and whose it is', async () => {
    const { server, certFile, url } = await secureServer()
    const before = process.env['PGPASSWORD']
    process.env['PGPASSWORD'] = 'hush-hush'
    onTestFinished(() => {
      if (before === undefined) delete process.env['PGPASSWORD']
      else process.env['PGPASSWORD'] = before
    })
    const root = `&sslrootcert=${certFile}`
    const open = async (address: string) => {
      const space = await openSpace({ url: address, dir: tempDir() })
      try {
        return server.sql(
          "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'agent'",
        )
      } finally {
        await space.close()
      }
    }
    const refusal = (address: string) => expect(openSpace({ url: address, dir: tempDir() })).rejects

    for (const mode of ['verify-full', 'verify-ca', 'require'])
      expect(await open(url(`&sslmode=${mode}${root}`))).toMatch(/^t/)
    expect(await open(url('&sslmode=no-verify'))).toMatch(/^t/)
    // As libpq means them, for whoever asks for that.
    expect(await open(url('&sslmode=require&uselibpqcompat=true'))).toMatch(/^t/)
    expect(await open(url(`&sslmode=verify-ca&uselibpqcompat=true${root}`, '127.0.0.1'))).toMatch(/^t/)

    const unknown = { code: 'not_permitted', hint: /sslrootcert=FILE/ }
    for (const mode of ['verify-full', 'verify-ca', 'require', 'prefer'])
      await refusal(url(`&sslmode=${mode}`)).toMatchObject({ ...unknown, message: /self.signed/ })
    await refusal(url(`&sslmode=verify-full&sslrootcert=${certificate().certFile}`)).toMatchObject(unknown)
    await refusal(url(`&sslmode=verify-full${root}`, '127.0.0.1')).toMatchObject({
      ...unknown,
      message: /does not match certificate|not in the cert/,
    })
    await refusal(url('&sslmode=verify-full&sslrootcert=/no/such/file')).toMatchObject({
      code: 'invalid',
      message: /\/no\/such\/file/,
    })
    await refusal(url('&sslmode=sometimes')).toMatchObject({ code: 'invalid', hint: /verify-full/ })
    // The server refuses who comes without.
    await refusal(url('&sslmode=disable')).toMatchObject({
      code: 'not_permitted',
      hint: /sslmode=verify-full/,
    })
  })

  it('that speaks no TLS is not talked to without it', async () => {
    const server = await PostgresServer.create(tempDir())
    onTestFinished(() => server.stop('SIGQUIT'))
    await expect(
      openSpace({ url: server.address('team', { more: '&sslmode=verify-full' }), dir: tempDir() }),
    ).rejects.toMatchObject({ code: 'not_permitted', message: /does not support SSL/ })
  })
})

it('a password comes from the environment or a file, and is nowhere else', async () => {
  const { certFile, url } = await secureServer()
  const address = url(`&sslmode=verify-full&sslrootcert=${certFile}`)
  const run = async (env: Record<string, string>, words: string[]) => {
    const home = tempDir()
    const running = startScript(program, ['--space', address, ...words], {
      env: { HOME: home, XDG_CACHE_HOME: join(home, 'cache'), XDG_CONFIG_HOME: join(home, 'config'), ...env },
    })
    const shown = readFileSync(`/proc/${running.process.pid}/cmdline`, 'utf8')
    const { code } = await running.exit
    return { code, home, shown, said: `${running.lines.join('\n')}\n${running.stderr()}` }
  }
  const file = join(tempDir(), 'pgpass')
  writeFileSync(file, 'localhost:*:postgres:agent:hush-hush\n')
  chmodSync(file, 0o600)
  for (const env of [{ PGPASSWORD: 'hush-hush' }, { PGPASSFILE: file }]) {
    const { code, home, shown, said } = await run(env, ['join', 'ada'])
    expect({ code, said }).toMatchObject({ code: 0 })
    for (const name of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
      const path = join(home, name)
      if (statSync(path).isFile()) expect(readFileSync(path, 'latin1')).not.toContain('hush-hush')
    }
    expect(shown + said).not.toContain('hush-hush')
  }
  expect(await run({ PGPASSWORD: 'wrong' }, ['inbox'])).toMatchObject({
    code: 4,
    said: expect.stringMatching(/refuses this user or its password/),
  })
  // Others may read it, so it is not used.
  chmodSync(file, 0o644)
  expect(await run({ PGPASSFILE: file }, ['inbox'])).toMatchObject({ said: expect.stringMatching(/pgpass/) })
})
