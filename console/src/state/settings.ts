import type { Connections } from '../../../src/api/reading.ts'
import { get } from '../data/api.ts'
import { type Resource, useResource } from '../data/resource.ts'

export interface Setting {
  key: string
  about: string
  value: unknown
  default: unknown
}

export interface SettingRows extends Connections {
  dir: string
  settings: Setting[]
}

/** The settings of the space, with what each does. */
export const useSettings = (): Resource<SettingRows> =>
  useResource('settings', () => ({
    load: (_: unknown, signal: AbortSignal) => get<SettingRows>('/api/settings', {}, signal),
  }))
