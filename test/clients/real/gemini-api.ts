import { type Dialect, events, sendJson, type Turn, wordsIn } from './scripted-model.ts'

interface GenerateRequest {
  systemInstruction?: unknown
  contents?: { role: string; parts?: { functionCall?: unknown; functionResponse?: unknown }[] }[]
  tools?: { functionDeclarations?: { name: string }[] }[]
  generationConfig?: { responseMimeType?: string; responseJsonSchema?: unknown }
}

/** The Gemini API, as Gemini CLI speaks it. */
export const geminiApi: Dialect = {
  read(path, body) {
    if (!/:(stream)?generateContent$/i.test(path)) return undefined
    const { systemInstruction, contents = [], tools = [] } = body as GenerateRequest
    const said = contents.map(({ role, parts = [] }) => {
      const answers = parts.map(
        ({ functionResponse }) => wordsIn(functionResponse) || jsonOf(functionResponse),
      )
      return `${role}: ${wordsIn(parts)}\n${answers.join('\n')}`
    })
    return {
      text: [wordsIn(systemInstruction), ...said].join('\n'),
      tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
      turns: contents.filter(({ role }) => role === 'model').length,
      body,
    }
  },
  reply(response, body, turn, path) {
    if (turn === undefined) return sendJson(response, 200, { totalTokens: 100 })
    const answer = {
      candidates: [
        {
          content: { role: 'model', parts: partsOf(turn, body as GenerateRequest) },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
    }
    if (!path.includes(':stream')) return sendJson(response, 200, answer)
    events(response)(undefined, answer)
    response.end()
  },
}

const jsonOf = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value))

/** Beside the conversation it asks for verdicts in JSON: who speaks next, which model to take. */
function partsOf({ text, calls = [] }: Turn, { generationConfig }: GenerateRequest): object[] {
  const wantsJson =
    generationConfig?.responseMimeType === 'application/json' || generationConfig?.responseJsonSchema
  if (wantsJson) return [{ text: '{"reasoning":"-","next_speaker":"user","model_choice":"flash"}' }]
  return [
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ name, input }) => ({ functionCall: { name, args: input } })),
  ]
}
