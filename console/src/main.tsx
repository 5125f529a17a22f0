import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { openSession } from './data/session.ts'
import { listenToKeys } from './keys/keyboard.ts'
import { followLinks } from './lib/go.ts'

followLinks()
listenToKeys()
await openSession()
render(<App />, document.getElementById('app')!)
