import axe, { type RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Which rules to check. A theme changes only colours, and a narrow screen everything else. */
export type AxeRules = 'all' | 'colours' | 'all but colours'

export interface AxeOptions {
  /** WCAG A and AA and axe's best practices. @default 'all' */
  rules?: AxeRules
  /** A part of the page to leave out. */
  exclude?: string | undefined
}

const colourRules = ['color-contrast', 'link-in-text-block']
const ruleOptions: Record<AxeRules, RunOptions> = {
  all: {},
  colours: { runOnly: colourRules },
  'all but colours': { rules: Object.fromEntries(colourRules.map((rule) => [rule, { enabled: false }])) },
}

/** Expects that axe finds no violations in the page. */
export async function expectAccessible(
  page: Page,
  { rules = 'all', exclude }: AxeOptions = {},
): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const found = await page.evaluate(
    async ({ options, exclude }) => {
      const { run } = (window as unknown as { axe: typeof axe }).axe
      const context = exclude === undefined ? document : { exclude: [exclude] }
      const { violations } = await run(context, options)
      return violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
      )
    },
    // Details of what passes take longer to collect than to check.
    { options: { ...ruleOptions[rules], resultTypes: ['violations' as const], preload: false }, exclude },
  )
  expect(found).toEqual([])
}
