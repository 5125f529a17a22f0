import './sign-in.css'
import { useState } from 'preact/hooks'
import { rejection, signIn } from '../data/session.ts'
import { Command } from '../parts/small.tsx'

/** Asks for a token. */
export function SignIn() {
  const [typed, setTyped] = useState('')
  return (
    <main class="sign-in">
      <h1>Sign in</h1>
      <p class="quiet">
        {rejection.value === null
          ? 'Open the URL that the hub printed at startup. It contains your token. To print it again, run:'
          : `The hub rejected the token: ${rejection.value}. To print a URL with a valid token, run:`}
      </p>
      <Command text="mailbox serve" />
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
          placeholder="Or paste your token"
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
