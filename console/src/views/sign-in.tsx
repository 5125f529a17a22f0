import './sign-in.css'
import { useState } from 'preact/hooks'
import { rejection, signIn, wasAccepted } from '../data/session.ts'
import { Command } from '../parts/small.tsx'

/** Asks for a token. */
export function SignIn() {
  const [typed, setTyped] = useState('')
  const isRestarted = rejection.value !== null && wasAccepted.value
  return (
    <main class="sign-in">
      <h1>{isRestarted ? 'The hub was restarted' : 'Sign in'}</h1>
      <p class="quiet">
        {isRestarted
          ? 'Each start of the hub has its own link, and this page was opened with an earlier one. Open the new one; what you were writing is kept. To print it, run:'
          : rejection.value === null
            ? 'Open the link that the hub printed at startup. It contains your token. To print it again, run:'
            : `The hub rejected the token: ${rejection.value}. Each start of the hub has its own link. To print it, run:`}
      </p>
      <Command text="mailbox token user --link" />
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (typed.trim() !== '') signIn(typed.trim())
        }}
      >
        <input
          class="field"
          type="password"
          autoComplete="off"
          aria-label="Token"
          placeholder="Or paste the token of the link"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="button main">
          Sign in
        </button>
      </form>
    </main>
  )
}
