/**
 * What we know about programs. Only programs that read messages get the text of a message. Anything that runs
 * commands (a shell, an interpreter, ssh, anything unknown) gets a notice that there is mail. Text typed into a shell
 * is a command, and we cannot know what is at the other end of ssh.
 */
export interface Program {
  /** `talk`: reads what is typed as a message. `commands`: runs it. */
  takes: 'talk' | 'commands'
  /** What the line up to the cursor looks like when nothing is typed. */
  prompt: RegExp
  /** How a comment starts there; for a program that reads messages, in the shell it was started from. */
  comment: string
  /** For a program that hides the cursor: a line that is on the screen only while nothing is typed. */
  emptyInput?: RegExp
  /** What it shows instead of a long paste, at the end of the input. */
  folded?: RegExp
  /** It takes an Enter that comes sooner after a paste for a part of the paste. */
  pauseMs: number
  /** Its input stays on the screen while it works, so we can see whether it accepted Enter. */
  keepsInput?: boolean
}

// The prompt character must be the first of its kind: `~$ sort > ` is half a command. A number before % is progress.
const shellPrompt = /^[^$#%❯➜λ]*(?:[$#❯➜λ]|(?<!\d)%) ?$/u
const talkPrompt = /^[^>❯›»$#%]*(?:[>❯›»$#]|(?<!\d)%) ?$/u

const shell: Program = { takes: 'commands', prompt: shellPrompt, comment: ' # ', pauseMs: 0 }
// At their prompts a comment is a command too; `:` does nothing, whatever follows.
const colonShell: Program = { ...shell, comment: ' : ' }
const talk: Program = { takes: 'talk', prompt: talkPrompt, comment: '# ', pauseMs: 100 }
const fullScreen: Program = { ...talk, pauseMs: 400, keepsInput: true }

const byNames: Record<string, Program> = {
  'sh bash dash ash ksh mksh busybox': shell,
  // Other shells use `> ` to ask for the rest of a command, so it counts only for these.
  'fish nu': { ...shell, prompt: /^[^>]*> ?$/ },
  pwsh: { ...shell, prompt: /^PS [^>]*> ?$/ },
  zsh: colonShell,
  'csh tcsh': { ...colonShell, prompt: /^[^%>#]*[%>#] ?$/ },
  python: { ...shell, prompt: /^>>> ?$/, comment: '# ' },
  ipython: { ...shell, prompt: /^In \[\d+\]: ?$/, comment: '# ' },
  irb: { ...shell, prompt: /^irb\([^)]*\):\d+(:0)?[>*] ?$/, comment: '# ' },
  'node deno': { ...shell, prompt: /^> ?$/, comment: '// ' },
  psql: { ...shell, prompt: /^\w*=[#>] ?$/, comment: '-- ' },
  sqlite3: { ...shell, prompt: /^sqlite> ?$/, comment: '-- ' },
  mysql: { ...shell, prompt: /^mysql> ?$/, comment: '-- ' },
  // `> `, or the chat mode before it: `ask> `, `architect multi> `.
  aider: { ...talk, prompt: /^[a-z -]*> ?$/ },
  // A leading # has a special meaning in Claude Code.
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
  'goose cursor-agent llm': talk,
  ollama: { ...talk, prompt: /^>>> ?$/, emptyInput: /^>>> Send a message/ },
}

const programs = new Map(
  Object.entries(byNames).flatMap(([names, program]) =>
    names.split(' ').map((name) => [name, program] as const),
  ),
)

/** How to treat a program. An unknown one gets messages if the user names it; a shell never does. */
export function programFor(name: string, isNamed: boolean): Program {
  const plain = name.replace(/^(python|ruby|node)[\d.]+$/, '$1')
  return programs.get(plain) ?? (isNamed ? talk : shell)
}
