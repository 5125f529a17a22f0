// The stories of the command line through a hub: the same files, with boxes that get an address and a token.
import '../helpers/over-hub.ts'
import { isStorm } from '../helpers/storm.ts'
import './story.test.ts'

if (isStorm) {
  await import('./json.test.ts')
  await import('./exit.test.ts')
  await import('./stream.test.ts')
  await import('./text.test.ts')
  await import('./words.test.ts')
  await import('./fence.test.ts')
  await import('./route.test.ts')
  await import('./graph.test.ts')
}
