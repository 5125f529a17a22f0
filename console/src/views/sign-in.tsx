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
          ? 'The link changes each time the hub starts, and this page still has an earlier one. Open the new link; your drafts are kept. To print it, run:'
          : rejection.value === null
            ? 'Open the link that the hub printed when it started. It contains your token. To print it again, run:'
            : `The hub rejected the token: ${rejection.value}. The link changes each time the hub starts. To print the current one, run:`}
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
          placeholder="Or paste the token from the link"
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
