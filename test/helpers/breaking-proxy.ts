import { connect, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A way to a server that a test can cut: at once, for a while, or in the middle of what passes. */
export class BreakingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isCut = false
  /** Called with what the server answers; true: the connection is cut before the client gets it. */
  cutsAnswer: (answer: Buffer) => boolean = () => false
  /** Called with what the client asks; true: the connection is cut right after the server has got it. */
  cutsAfter: (question: Buffer) => boolean = () => false

  /** The ports that new connections are passed on to, in turn; one that does not answer is passed over. */
  targets: readonly number[]
  #turn = 0

  private constructor(server: Server, target: number) {
    this.#server = server
    this.targets = [target]
  }

  static async to(port: number): Promise<BreakingProxy> {
    const server = createServer()
    const proxy = new BreakingProxy(server, port)
    server.on('connection', (client) => void proxy.#pass(client))
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => proxy.close())
    return proxy
  }

  set target(port: number) {
    this.targets = [port]
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  /** A connection to the next target that takes one. */
  async #reach(): Promise<Socket | undefined> {
    for (let left = this.targets.length; left > 0; left--) {
      const socket = connect(this.targets[this.#turn++ % this.targets.length]!, '127.0.0.1')
      const isThere = await new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true))
        socket.once('error', () => resolve(false))
      })
      if (isThere) return socket
    }
    return undefined
  }

  async #pass(client: Socket): Promise<void> {
    client.on('error', () => client.destroy())
    const server = this.#isCut ? undefined : await this.#reach()
    if (server === undefined || this.#isCut || client.destroyed) {
      client.destroy()
      server?.destroy()
      return
    }
    const both = [client, server]
    const end = () => {
      for (const socket of both) {
        socket.destroy()
        this.#sockets.delete(socket)
      }
    }
    for (const socket of both) {
      this.#sockets.add(socket)
      socket.on('error', end)
      socket.on('close', end)
    }
    client.on('data', (question) => {
      server.write(question)
      // The server has it, and the client will never know what became of it.
      if (this.cutsAfter(question)) client.destroy()
    })
    server.on('data', (answer) => {
      if (this.cutsAnswer(answer)) end()
      else if (!client.destroyed) client.write(answer)
    })
  }

  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  restore(): void {
    this.#isCut = false
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
