import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Expects that no element reaches beyond the window, unless it stands in something that scrolls or cuts it off on purpose. */
export async function expectNothingClipped(page: Page): Promise<void> {
  const found = await page.evaluate(() => {
    const isCut = (element: Element): boolean => {
      for (
        let at: Element | null = element.parentElement;
        at !== null && at.id !== 'app';
        at = at.parentElement
      )
        if (at.matches('.nav, .hidden') || /auto|scroll|hidden|clip/.test(getComputedStyle(at).overflowX))
          return true
      return false
    }
    return [...document.querySelectorAll('#app *, dialog *')]
      .filter(
        (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest('.nav, svg'),
      )
      .filter((element) => {
        const { left, right, width } = element.getBoundingClientRect()
        return width > 0 && (right > innerWidth + 1 || left < -1) && !isCut(element)
      })
      .map((element) => `${element.tagName}.${element.className} ${element.textContent?.slice(0, 40)}`)
      .slice(0, 5)
  })
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll('.list-pane, .reading, .page, dialog')].flatMap((pane) => {
      const edge = pane.getBoundingClientRect()
      const scrolls = (element: Element): boolean => {
        for (let at = element.parentElement; at !== null && at !== pane; at = at.parentElement)
          if (/auto|scroll|hidden|clip/.test(getComputedStyle(at).overflowX)) return true
        return false
      }
      return [...pane.querySelectorAll('button, a, input, select, textarea')]
        .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !scrolls(element))
        .filter((element) => element.getBoundingClientRect().right > edge.right + 1)
        .map((element) => `${element.tagName}.${element.className} ${element.textContent?.slice(0, 40)}`)
    }),
  )
  expect(cut, `beyond their pane at ${page.viewportSize()?.width} px`).toEqual([])
  expect(found, `beyond the window at ${page.viewportSize()?.width} px`).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
    page.viewportSize()!.width,
  )
}

/** Expects that a finger can hit what can be pressed (chips have an area around them), and that no field makes the phone zoom in. */
export async function expectTargets(page: Page): Promise<void> {
  const found = await page.evaluate(() => {
    const least = 43.5
    const all = [
      ...document.querySelectorAll<HTMLElement>(
        'main button:not(.chip), main .button, main select, dialog button',
      ),
    ]
    const small = all
      .filter(
        (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest('.chart'),
      )
      .filter((element) => element.getBoundingClientRect().height < least)
      .map((element) => `small: ${element.className} ${element.textContent?.slice(0, 40)}`)
    const fields = [
      ...document.querySelectorAll<HTMLElement>('input:not([type=checkbox], [type=range]), textarea, select'),
    ]
    const zooming = fields
      .filter((field) => field.checkVisibility() && Number.parseFloat(getComputedStyle(field).fontSize) < 16)
      .map((field) => `zooms: ${field.outerHTML.slice(0, 80)}`)
    return [...small, ...zooming].slice(0, 8)
  })
  expect(found).toEqual([])
}
