import { showToast } from './toast.tsx'

/** Pages on plain http have no clipboard API, except on localhost. There we use the older command. */
export function copy(text: string, what = 'Copied'): void {
  const fallBack = () => {
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    showToast(done ? what : 'The browser blocked copying')
  }
  if (navigator.clipboard === undefined) fallBack()
  else navigator.clipboard.writeText(text).then(() => showToast(what), fallBack)
}
