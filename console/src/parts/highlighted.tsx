import { partsOf } from '../lib/highlight.ts'

/** Text in which the words of a search stand out. */
export const Highlighted = ({
  text,
  words = [],
}: {
  text: string
  words?: readonly string[] | undefined
}) => (
  <>
    {words.length === 0
      ? text
      : partsOf(text, words).map(({ text: part, isMatch }, n) =>
          isMatch ? <mark key={n}>{part}</mark> : part,
        )}
  </>
)
