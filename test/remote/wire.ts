import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { stageHub } from '../helpers/hub.ts'

/** A hub that is reached through a wire, which the test can cut. */
export async function stageWire() {
  const pairs = new Set<readonly [Socket, Socket]>()
  let hubPort = 0
  let isDeaf = false
  const server = createServer((client) => {
    const hub = connect(hubPort, '127.0.0.1')
    const pair = [client, hub] as const
    pairs.add(pair)
    client.on('data', (data) => hub.write(data))
    // The request was carried out; its answer never comes.
    hub.on('data', (data) => (isDeaf ? client.destroy() : client.write(data)))
    for (const socket of pair) {
      socket.on('error', () => {})
      socket.on('close', () => {
        for (const one of pair) one.destroy()
        pairs.delete(pair)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  onTestFinished(() => {
    cut()
    server.close()
  })
  // To the hub, the wire is a proxy.
  const stage = await stageHub({ allowHosts: [`127.0.0.1:${port}`] })
  hubPort = Number(new URL(stage.url).port)
  return {
    ...stage,
    url: `http://127.0.0.1:${port}`,
    /** Breaks every connection there is; new ones are let through. */
    cut,
    /** From now on requests arrive and answers do not. */
    deafen: (on: boolean) => {
      isDeaf = on
    },
  }
}
