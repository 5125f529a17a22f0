import { say } from './toast.tsx'

/** A page on plain http off loopback has no clipboard; then the text is selected for the person to copy. */
export function copy(text: string, what = 'Copied'): void {
  const fallBack = () => {
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    say(done ? what : 'The browser does not let this page copy')
  }
  if (navigator.clipboard === undefined) fallBack()
  else navigator.clipboard.writeText(text).then(() => say(what), fallBack)
}
