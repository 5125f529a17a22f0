import { spawn } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { stageHub } from '../helpers/hub.ts'
import { tempDir } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'

const example = (file: string) => fileURLToPath(new URL(`../../examples/http/${file}`, import.meta.url))

/** Runs a program to its end while this process, which has the hub, goes on. */
async function run(command: string, words: string[], env: Record<string, string>, cwd: string) {
  const child = spawn(command, words, { env: { PATH: process.env['PATH']!, ...env }, cwd })
  const [out, err] = [child.stdout, child.stderr].map((stream) => stream.setEncoding('utf8').toArray())
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout: ((await out) as string[]).join(''), stderr: ((await err) as string[]).join('') }
}

const story = `
import sys
from mailbox_client import Mailbox, MailboxError
ada = Mailbox(sys.argv[1], sys.argv[2])
assert ada.name == "ada", ada.name
ada.join(roles=["architect"])
sent = ada.send("bob", "Which port?", awaitingResponse=True, key="k1")
assert ada.send("bob", "Which port?", key="k1")["id"] == sent["id"]
print(sent["id"], flush=True)
answer = ada.wait(timeout=60, replyTo=sent["id"])
assert answer["body"] == "7337" and answer["from"] == "bob", answer
task = ada.wait(timeout=60, type="task_assignment")
ada.start(task["id"])
ada.done(task["id"], note="built \\u2713")
assert ada.wait(timeout=0.1) is None
try:
    ada.show("ffffffff")
    raise SystemExit("no error")
except MailboxError as error:
    assert error.code == "not_found" and error.status == 404, error
print("end")
`

it.each([false, true])('a program in Python sends, waits, answers and finishes (TLS: %s)', async (tls) => {
  needTool('python3')
  const stage = await stageHub({ tls })
  const bob = await stage.space.mailbox('bob')
  const dir = tempDir()
  copyFileSync(example('mailbox.py'), join(dir, 'mailbox_client.py'))
  const pin = stage.hub.fingerprint === undefined ? '' : `~${stage.hub.fingerprint}`
  const token = stage.agentToken('ada') + pin
  const python = (code: string, ...words: string[]) => run('python3', ['-c', code, ...words], {}, dir)
  const running = python(story, stage.url, token)
  const asked = (await bob.wait({ timeoutMs: 60_000 }))!
  expect(asked).toMatchObject({ from: 'ada', body: 'Which port?' })
  await bob.reply(asked.id, { body: '7337' })
  const { id } = await bob.send({ to: 'role:architect', type: 'task_assignment', subject: 'Build it' })
  expect(await running).toMatchObject({ code: 0, stdout: `${asked.id}\nend\n` })
  expect((await bob.show(id)).receipts[0]!.steps.map(({ state }) => state)).toContain('processing')
  expect((await bob.wait({ replyTo: id, timeoutMs: 60_000 }))?.body).toContain('built ✓')
  if (!tls) return
  const wrong = await python(story, stage.url, `${stage.agentToken('ada')}~${'A'.repeat(43)}`)
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('this is not the hub') })
})

const recipe = `
set -e
. "$RECIPE"
mailbox_call join '{"roles":["architect"]}' >/dev/null
ID=$(mailbox_call send '{"to":"bob","body":"Which \\"port\\"?","awaitingResponse":true}' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
echo "$ID"
mailbox_call wait "{\\"timeoutMs\\":50000,\\"replyTo\\":\\"$ID\\"}"
echo
mailbox_get agents >/dev/null
TASK=$(mailbox_call wait '{"timeoutMs":50000}' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
mailbox_call done "{\\"id\\":\\"$TASK\\",\\"note\\":\\"built\\"}" >/dev/null
if mailbox_call show '{"id":"ffffffff"}'; then exit 1; fi
`

it('a shell with curl does the same', async () => {
  needTool('curl')
  const stage = await stageHub()
  const bob = await stage.space.mailbox('bob')
  const env = {
    ...{ MAILBOX_URL: stage.url, MAILBOX_AGENT: 'ada', MAILBOX_TOKEN: stage.agentToken('ada') },
    RECIPE: example('mailbox.sh'),
  }
  const running = run('sh', ['-c', recipe], env, tempDir())
  const asked = (await bob.wait({ timeoutMs: 60_000 }))!
  expect(asked.body).toBe('Which "port"?')
  await bob.reply(asked.id, { body: '7337' })
  const { id } = await bob.send({ to: 'ada', type: 'task_assignment', subject: 'Build it' })
  const { code, stdout, stderr } = await running
  expect(code, stderr).toBe(0)
  expect(stdout.startsWith(asked.id)).toBe(true)
  expect(stdout).toContain('"body":"7337"')
  expect(stdout).toContain('"code":"not_found"')
  expect((await bob.wait({ replyTo: id, timeoutMs: 60_000 }))?.body).toContain('built')
})
