import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Played } from './play.ts'

const output = fileURLToPath(new URL('../../test-output/week/', import.meta.url))
/** How much of what went wrong in a run is printed. The rest is in its trace. */
const printedAtMost = 12
const toldAtMost = 3
const linesAtMost = 14

export interface Tally {
  messages: number
  notices: number
  false: number
  useless: number
  lost: number
  atNight: number
  faults: number
  notUnderstood: number
}

/** A thing that is wrong, and the letter or notice that its story is told by. */
interface Wrong {
  text: string
  about: string
}

function wrongsOf({ world, losses }: Played): Wrong[] {
  const { notices } = world.judge
  return [
    ...notices.flatMap(({ label, to, falsehood, uselessness, atNight, claim, message }) => [
      ...(claim === 'not understood' ? [{ text: `not understood: ${message.subject}`, about: label }] : []),
      ...(falsehood === undefined ? [] : [{ text: `false: ${label} to ${to}, ${falsehood}`, about: label }]),
      ...(falsehood !== undefined || uselessness === undefined
        ? []
        : [{ text: `useless: ${label} to ${to}, ${uselessness}`, about: label }]),
      ...(atNight === undefined ? [] : [{ text: `at night: ${label}, ${atNight}`, about: label }]),
    ]),
    ...losses.map(({ what, letter, why }) => ({
      text: `lost: ${what} ${letter.label}, ${why}`,
      about: letter.label,
    })),
    ...world.faults.map(({ sort, why, about }) => ({
      text: `${sort}: ${why} (${about})`,
      about: /#\d+/.exec(about)?.[0] ?? about,
    })),
  ]
}

export function tallyOf({ world, losses }: Played): Tally {
  const { notices } = world.judge
  const isFalse = notices.filter(({ falsehood }) => falsehood !== undefined)
  return {
    messages: world.messages,
    notices: notices.length,
    false: isFalse.length,
    useless: notices.filter((one) => one.falsehood === undefined && one.uselessness !== undefined).length,
    lost: losses.length,
    atNight: notices.filter(({ atNight }) => atNight !== undefined).length,
    faults: world.faults.length,
    notUnderstood: notices.filter(({ claim }) => claim === 'not understood').length,
  }
}

const counted = (words: readonly string[]): string => {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([word, n]) => `${n} ${word}`)
    .join('; ')
}

/** What a run was like, in a few lines, and how to play it again. Its trace goes to a file. */
export function summarize(played: Played): string {
  const { seed, mode, world, losses } = played
  const { notices } = world.judge
  const tally = tallyOf(played)
  const share = tally.notices === 0 ? 0 : (100 * (tally.false + tally.useless)) / tally.notices
  const lines = [
    `week ${seed} ${mode}: ${tally.messages} messages, ${tally.notices} notices, ${tally.false} false, ${tally.useless} useless (${share.toFixed(1)} % false or useless), ${tally.lost} lost to whoever waited, ${tally.atNight} at night, ${tally.faults} faults; ${world.judge.soonSettled} true alarms settled within the hour`,
  ]
  const add = (title: string, words: readonly string[]) => {
    if (words.length > 0) lines.push(`  ${title}: ${counted(words)}`)
  }
  add(
    'false',
    notices.flatMap(({ falsehood }) => falsehood ?? []),
  )
  add(
    'useless',
    notices.flatMap((one) => (one.falsehood === undefined ? (one.uselessness ?? []) : [])),
  )
  add(
    'lost',
    losses.map(({ what }) => what),
  )
  add(
    'at night',
    notices.flatMap(({ atNight }) => atNight ?? []),
  )
  add(
    'faults',
    world.faults.map(({ sort, why }) => `${sort}: ${why}`),
  )
  const wrongs = wrongsOf(played)
  if (wrongs.length === 0) return lines.join('\n')
  for (const [at, { text, about }] of wrongs.slice(0, printedAtMost).entries()) {
    lines.push(`  - ${text}`)
    if (at < toldAtMost)
      lines.push(
        ...world
          .storyOf(about)
          .slice(-linesAtMost)
          .map((line) => `      ${line}`),
      )
  }
  mkdirSync(output, { recursive: true })
  const trace = `${output}seed-${seed}-${mode}.log`
  writeFileSync(trace, [...world.trace, '', ...wrongs.map(({ text }) => text), ''].join('\n'))
  lines.push(
    `  ${wrongs.length} in all; the whole story is in test-output/week/seed-${seed}-${mode}.log; again: npm run storm -- --week --seed ${seed} --mode ${mode}`,
  )
  return lines.join('\n')
}
