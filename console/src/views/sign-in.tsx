import './sign-in.css'
import { useState } from 'preact/hooks'
import { enter, refused } from '../data/session.ts'
import { Command } from '../parts/small.tsx'

/** Without a token there is nothing to see. */
export function SignIn() {
  const [typed, setTyped] = useState('')
  return (
    <main class="sign-in">
      <h1>This console needs a token</h1>
      <p class="quiet">
        {refused.value === null
          ? 'Open the address that the hub printed when it started: the token is in it. This prints it again:'
          : `The hub did not accept the token: ${refused.value}. The address that it prints has the right one:`}
      </p>
      <Command text="mailbox serve" />
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (typed.trim() !== '') enter(typed.trim())
        }}
      >
        <input
          class="field"
          type="password"
          autoComplete="off"
          aria-label="Token"
          placeholder="or paste the token"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="button main">
          Enter
        </button>
      </form>
    </main>
  )
}
