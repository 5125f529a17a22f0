/**
 * Everybody who is measured, ourselves and the raw disk included, in one shape.
 *
 * @typedef {object} Mode How sends are issued.
 * @property {string} name
 * @property {string} label
 * @property {number} inFlight Sends under way at once in one process.
 * @property {number} batch Messages in one call.
 * @property {number} [processes] @default 1
 * @property {number} [warmUps] How many times the usual warm-up it gets. @default 1
 * @property {number} [each] Each process sends so many, and the time is that from the common start to the last answer.
 *
 * @typedef {object} Peer
 * @property {string} name
 * @property {string} title
 * @property {'ours' | 'limit' | 'peer'} kind
 * @property {boolean} durable Whether an answer means that the disk has confirmed the message.
 * @property {string} durability The same in words.
 * @property {Mode[]} modes
 * @property {boolean} [inAims] An aim compares us with it, so it runs in every round.
 * @property {() => Promise<string | undefined>} [missing] Why it cannot run on this machine.
 * @property {() => Promise<{ fresh: () => Promise<unknown>, stop: () => Promise<void>, version?: string }>} start
 *   In the main process: starts what it needs. `fresh` gives the address of an empty store.
 * @property {(address: any, mode: Mode, next: () => import('../lib/messages.mjs').Note) => Promise<Client>} open
 *   In the contestant's own process.
 *
 * @typedef {object} Client
 * @property {boolean} [sync] `send` blocks and returns nothing.
 * @property {() => Promise<void> | void} send Sends one message, or one batch in a mode with batches.
 * @property {() => Promise<void>} [settle] Finishes what a send has put off; its time counts as sending.
 * @property {() => Promise<void> | void} close
 */

import { files } from './files.mjs'
import { fileArray } from './json-array.mjs'
import { mailbox } from './mailbox.mjs'
import { nats } from './nats.mjs'
import { postgres } from './postgres.mjs'
import { raw } from './raw.mjs'
import { redis } from './redis.mjs'
import { sqlite } from './sqlite.mjs'
import { swarmMail } from './swarm-mail.mjs'

/** @type {Peer[]} */
export const peers = [
  ...raw,
  ...mailbox,
  ...sqlite,
  ...files,
  ...fileArray,
  ...redis,
  ...nats,
  ...postgres,
  ...swarmMail,
]

export const peerByName = (name) => peers.find((peer) => peer.name === name)
