/**
 * What we know of programs. Only those that are talked to get the text of a message; whatever takes commands
 * (a shell, an interpreter, ssh, anything unknown) is told in words of ours that mail is there. A body that
 * is typed into a shell is a command, and nobody can tell what is at the other end of ssh.
 */
export interface Program {
  /** `talk`: reads what is typed as words. `commands`: runs it. */
  takes: 'talk' | 'commands'
  /** What the line up to the cursor looks like when nothing is typed yet. */
  prompt: RegExp
  /** How a comment begins there; for a program that is talked to, in the shells that it was started from. */
  comment: string
  /** A line that stands on the screen of a program that hides the cursor, and only while nothing is typed. */
  emptyInput?: RegExp
  /** What it shows in place of a long paste, at the end of what is typed. */
  folded?: RegExp
  /** An Enter that comes sooner after a paste is taken for a part of it. */
  pauseMs: number
  /** Its input stays on the screen while it works, so it can be seen there whether an Enter was taken. */
  keepsInput?: boolean
}

// A prompt's sign must be the first of its line: `~$ sort > ` is half a command. A number before % is progress.
const shellPrompt = /^[^$#%❯➜λ]*(?:[$#❯➜λ]|(?<!\d)%) ?$/u
const talkPrompt = /^[^>❯›»$#%]*(?:[>❯›»$#]|(?<!\d)%) ?$/u

const shell: Program = { takes: 'commands', prompt: shellPrompt, comment: ' # ', pauseMs: 0 }
// `> ` is how the other shells ask for the rest of a command, so it counts only where they do not.
const arrowShell: Program = { ...shell, prompt: /^[^>]*> ?$/ }
// Their comments are commands, too, when typed; `:` does nothing, whatever follows.
const colonShell: Program = { ...shell, comment: ' : ' }
const talk: Program = { takes: 'talk', prompt: talkPrompt, comment: '# ', pauseMs: 100 }
const fullScreen: Program = { ...talk, pauseMs: 400, keepsInput: true }

const programs: Record<string, Program> = {
  sh: shell,
  bash: shell,
  dash: shell,
  ash: shell,
  ksh: shell,
  mksh: shell,
  busybox: shell,
  fish: arrowShell,
  pwsh: { ...shell, prompt: /^PS [^>]*> ?$/ },
  nu: arrowShell,
  zsh: colonShell,
  csh: { ...colonShell, prompt: /^[^%>#]*[%>#] ?$/ },
  tcsh: { ...colonShell, prompt: /^[^%>#]*[%>#] ?$/ },
  python: { ...shell, prompt: /^>>> ?$/, comment: '# ' },
  ipython: { ...shell, prompt: /^In \[\d+\]: ?$/, comment: '# ' },
  irb: { ...shell, prompt: /^irb\([^)]*\):\d+(:0)?[>*] ?$/, comment: '# ' },
  node: { ...shell, prompt: /^> ?$/, comment: '// ' },
  deno: { ...shell, prompt: /^> ?$/, comment: '// ' },
  psql: { ...shell, prompt: /^\w*=[#>] ?$/, comment: '-- ' },
  sqlite3: { ...shell, prompt: /^sqlite> ?$/, comment: '-- ' },
  mysql: { ...shell, prompt: /^mysql> ?$/, comment: '-- ' },
  // `> `, or the chat mode before it: `ask> `, `architect multi> `.
  aider: { ...talk, prompt: /^[a-z -]*> ?$/ },
  // To Claude Code a # at the beginning has a meaning of its own.
  claude: { ...fullScreen, comment: '', prompt: /^\W*[>❯]\s?$/u, folded: /\[Pasted text #\d+[^\]]*\]\s*$/ },
  codex: {
    ...fullScreen,
    prompt: /^\W*[>›▌]\s?$/u,
    emptyInput: /^[>›▌]\s+Ask Codex to do/u,
    folded: /\[Pasted Content \d+[^\]]*\]\s*$/,
  },
  gemini: {
    ...fullScreen,
    emptyInput: /^\W*[>❯*!]\s+Type your message/u,
    folded: /\[Pasted Text: \d+[^\]]*\]\s*$/,
  },
  opencode: { ...talk, pauseMs: 400 },
  goose: talk,
  'cursor-agent': talk,
  llm: talk,
  ollama: { ...talk, prompt: /^>>> ?$/, emptyInput: /^>>> Send a message/ },
}

/** What to make of a program. One that we do not know is talked to if its user says so; no shell ever is. */
export function programFor(name: string, isNamed: boolean): Program {
  const plain = name.replace(/^(python|ruby|node)[\d.]+$/, '$1')
  if (Object.hasOwn(programs, plain)) return programs[plain]!
  return isNamed ? talk : shell
}
