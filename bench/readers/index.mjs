/**
 * Those who can be asked about a history, in one shape.
 *
 * @typedef {'handled' | 'unread' | 'expired'} Shape
 *
 * @typedef {object} Reader
 * @property {string} name
 * @property {string} title
 * @property {number} largest The longest history it is given here.
 * @property {string} [limit] Why not a longer one.
 * @property {() => Promise<string | undefined>} [missing]
 * @property {(dir: string, n: number, shape: Shape, onProgress: (share: number) => void) => Promise<void>} fill
 * @property {(dir: string, n: number, shape: Shape) => Promise<Questions>} open
 *
 * @typedef {object} Questions Each returns how much it found; a missing one is not on offer.
 * @property {(k: number) => Promise<number> | number} [inbox] The first page of 50, with texts.
 * @property {(k: number) => Promise<number> | number} [count]
 * @property {(k: number) => Promise<number> | number} [rare] Search for a word that five messages have.
 * @property {(k: number) => Promise<number> | number} [common] The newest 50 with a word that a quarter have.
 * @property {(k: number) => Promise<number> | number} [thread] A thread of ten.
 * @property {() => Promise<void> | void} close
 */
import { files } from './files.mjs'
import { jsonArray } from './json-array.mjs'
import { mailbox } from './mailbox.mjs'
import { sqlite } from './sqlite.mjs'
import { swarmMail } from './swarm-mail.mjs'

/** @type {Reader[]} */
export const readers = [mailbox, sqlite, files, jsonArray, swarmMail]

export const readerByName = (name) => readers.find((reader) => reader.name === name)
export const questions = ['inbox', 'count', 'rare', 'common', 'thread']
export const questionLabels = {
  inbox: 'inbox page of 50',
  count: 'unread count',
  rare: 'search, a rare word',
  common: 'search, a common word',
  thread: 'thread of 10',
}
