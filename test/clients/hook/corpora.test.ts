import { expect, it } from 'vitest'
import { corpora, expectWhole, parsed, sampleOf } from '../../helpers/corpora.ts'
import { Campaign, inStorm } from '../../helpers/storm.ts'
import { hookStage } from './stage.ts'

const limits = { timeout: inStorm(3_600_000, 120_000) }
const all = Number.POSITIVE_INFINITY

it('takes the corpora as its input, and fences those that come as mail', limits, async () => {
  const campaign = new Campaign('corpora', 0, 'hooks')
  const corpus = await corpora()
  const [texts, json] = [sampleOf(corpus.texts, inStorm(all, 4)), sampleOf(corpus.json, inStorm(all, 6))]
  const { client, space } = await hookStage()
  const person = await space.mailbox('user')
  for (const text of json) {
    const { code, stdout } = client.hook('PostToolUse', { input: text })
    expect(code, text).toBe(0)
    if (stdout !== '') expect(parsed(stdout)).toBeTypeOf('object')
  }
  for (const text of texts) {
    await person.send({ to: 'all', subject: text.slice(0, 400), body: text })
    const { code, text: said } = client.hook('UserPromptSubmit', {
      input: { prompt: text, tool_name: text, cwd: text },
    })
    expect(code, text).toBe(0)
    expect(expectWhole(said)).toBe(1)
  }
  campaign.end({
    'texts and documents': json.length + texts.length,
    'fences whole': texts.length,
  })
})
