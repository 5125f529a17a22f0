// For `npm run mutate`: sentences for people are not mutated. A test that repeats a sentence proves nothing.
// Only literals without anything to compute in them, and only where the code says that they are sentences.
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin'

/** Properties that hold sentences. */
const sentences = ['hint', 'about', 'summary', 'description', 'examples', 'sentence', 'mcp', 'tip']
/** Calls, with the arguments that are sentences. */
const calls = {
  MailboxError: [1],
  invalid: [0, 1],
  refuse: [0, 1],
  setting: [2],
  needed: [1],
  option: [2],
}

const isText = ({ node }) =>
  node.type === 'StringLiteral' || (node.type === 'TemplateLiteral' && node.expressions.length === 0)

function isSentence(path) {
  const { parent, parentPath, node } = path
  if (parent.type === 'ObjectProperty' && parent.value === node) return sentences.includes(parent.key.name)
  if (parent.type === 'ArrayExpression') {
    const owner = parentPath.parent
    if (owner.type !== 'ObjectProperty') return false
    if (owner.key.name === 'cli') return parent.elements.indexOf(node) === 1
    return sentences.includes(owner.key.name)
  }
  if (parent.type === 'NewExpression' || parent.type === 'CallExpression')
    return calls[parent.callee.name]?.includes(parent.arguments.indexOf(node)) ?? false
  if (parent.type === 'ConditionalExpression') return isSentence(parentPath)
  return parent.type === 'VariableDeclarator' && parent.id.name === 'hint'
}

export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'texts', {
    shouldIgnore: (path) => (isText(path) && isSentence(path) ? 'a sentence for people' : undefined),
  }),
]
