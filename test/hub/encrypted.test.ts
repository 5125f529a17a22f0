import { expect, it, onTestFinished } from 'vitest'
import { openSpace } from '../../src/mod.ts'
import { stageHub } from '../helpers/hub.ts'

/** The first entry of a stream that a test waits for, as the client gets it. */
async function streamed(url: string, token: string, after: number, id: string): Promise<string> {
  const ended = new AbortController()
  onTestFinished(() => ended.abort())
  const response = await fetch(`${url}/api/stream?after=${after}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: ended.signal,
  })
  let text = ''
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part
    const line = text.split('\n').find((one) => one.startsWith('data:') && one.includes(`"id":"${id}"`))
    if (line !== undefined && text.includes(`${line}\n`)) return line
  }
  return text
}

it('opens what is encrypted for recipients to them and to the person, and to no other token', async () => {
  const stage = await stageHub()
  const { space, url } = stage
  await space.mailbox('bob')
  await space.mailbox('auditor')
  const remote = await openSpace({ url, token: stage.agentToken('ada') })
  onTestFinished(() => remote.close())
  const after = await space.lastSeq()
  const ada = await remote.mailbox('ada')
  const { id } = await ada.send({ to: 'bob', subject: 'zebra', body: 'quagga', encrypt: true })
  const tokens = {
    bob: stage.agentToken('bob'),
    user: stage.token,
    auditor: stage.agentToken('auditor', { scopes: ['read-all'] }),
  }
  for (const [name, token] of Object.entries(tokens)) {
    const isOpen = name !== 'auditor'
    const { json } = await stage.ask(`/api/messages/${id}`, { token })
    expect(json.message).toMatchObject(isOpen ? { subject: 'zebra', body: 'quagga' } : { locked: true })
    const line = await streamed(url, token, after, id)
    expect([name, line.includes('quagga')]).toEqual([name, isOpen])
    if (name === 'bob') continue
    const { json: found } = await stage.ask('/api/search?q=quagga', { token })
    expect([name, found.messages?.length]).toEqual([name, isOpen ? 1 : 0])
    const { text } = await stage.ask(`/api/entries?after=${after}`, { token })
    expect([name, text.includes('quagga')]).toEqual([name, isOpen])
    expect([name, (await stage.ask('/api/replay', { token })).text.includes('zebra')]).toEqual([name, isOpen])
  }
})
