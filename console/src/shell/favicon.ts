/**
 * The icon of the tab: in the colour of the space, with a dot while something needs the person. An image has no
 * stylesheet of ours, so the colours are written out.
 */
export function showFavicon(hue: number, isNeeded: boolean): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (link === null) return
  const dot = isNeeded ? '<circle cx="25" cy="7" r="6" fill="#e5484d" stroke="#fff" stroke-width="2"/>' : ''
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="2" y="2" width="28" height="28" rx="7" fill="hsl(${hue} 50% 38%)"/><path d="M7 11.5h18v10H7zM7.5 12l8.5 6 8.5-6" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round"/>${dot}</svg>`
  link.href = `data:image/svg+xml,${encodeURIComponent(svg)}`
}
