import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import {
  identifyByProc,
  identifyProcess,
  localProcess,
  pidExists,
  processState,
  readProcStat,
  startTimeOf,
} from '../../src/base/process.ts'

test('a process is running until it has ended, and a reused pid is another process', async () => {
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const identity = identifyProcess(child.pid!)
  expect(processState(identity)).toBe('running')
  expect(processState(localProcess(child.pid!, '1'))).toBe('gone')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(processState(identity)).toBe('gone')
  expect(pidExists(child.pid!)).toBe(false)
  expect(() => identifyProcess(child.pid!)).toThrow(/there is no process/)
})

test('another machine or container cannot be told; an earlier boot is gone', () => {
  const own = identifyProcess(process.pid)
  const [boot, rest] = [own.pidStart.split('.')[0], own.pidStart.split('.')[1]]
  expect(processState({ ...own, host: 'elsewhere' })).toBe('unknown')
  expect(processState({ ...own, pidStart: `${boot}.1/${startTimeOf(own)}` })).toBe('unknown')
  expect(processState({ ...own, pidStart: `00000000.${rest}` })).toBe('gone')
  expect(processState({ pid: process.pid })).toBe('unknown')
})

test.runIf(process.platform === 'linux')('hook.sh and Node tell the same start time', () => {
  const own = identifyByProc(process.pid)
  expect(own).toEqual(identifyProcess(process.pid))
  expect(readProcStat(process.pid)).toMatchObject({ parentPid: process.ppid, startTime: startTimeOf(own) })
  // hook.sh says 0 of a process that it cannot see.
  expect(startTimeOf(identifyByProc(2 ** 22 + 1))).toBe('0')
  expect(processState(identifyByProc(2 ** 22 + 1))).toBe('gone')
})
