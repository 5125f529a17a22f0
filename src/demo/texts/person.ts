/** What an agent asks the person, and what the team is told after each answer. */
export interface Ask {
  /** The role of the agent that asks. */
  role: string
  kind: 'help' | 'question' | 'escalation'
  /** Who is told. */
  to: string
  subject: string
  body: string
  /** The first whose words are in the answer is sent; the last fits any answer. */
  turns: readonly { words?: RegExp; to?: string; subject: string; body: string }[]
}

const yes = /\b(yes|ok|okay|go|do it|restart|prolong|renew|sure|may|approved?)\b/i
const no = /\b(no|not|never|don'?t|wait|stop|hold|cancel)\b/i

export const asks: readonly Ask[] = [
  {
    role: 'oncall',
    kind: 'help',
    to: 'concern:reliability',
    subject: 'May I restart the payment worker?',
    body: 'Its queue has been stuck for a few minutes: 214 payments are waiting. A restart clears it within a minute, but the 3 payments in flight will be retried. Yes or no?',
    turns: [
      {
        words: yes,
        subject: 'Payment worker restarted',
        body: 'Restarted with the owner’s approval. The queue is empty, and the three payments in flight went through exactly once.',
      },
      {
        words: no,
        subject: 'Payment worker: no restart',
        body: 'The owner doesn’t want a restart, so I’m letting it drain. That takes about 20 minutes. Support knows.',
      },
      {
        subject: 'Payment worker: answer from the owner',
        body: 'The owner replied. I’ll follow that and keep an eye on the queue.',
      },
    ],
  },
  {
    role: 'lead',
    kind: 'question',
    to: 'all',
    subject: 'Ship the release today or tomorrow?',
    body: 'Everything is green except the large-text pages. If we ship today, they’re not in; if we ship tomorrow, they are. Your call: "today" or "tomorrow"?',
    turns: [
      {
        words: /\btoday\b/i,
        subject: 'We ship today',
        body: 'The owner decided: we ship today, without the large-text pages. Code freeze in half an hour; only fixes after that.',
      },
      {
        words: /\b(tomorrow|later|wait)\b/i,
        subject: 'We ship tomorrow',
        body: 'The owner decided: we ship tomorrow, with everything. No rush tonight. Code freeze is at ten.',
      },
      {
        subject: 'About the release',
        body: 'The owner replied without naming a date. I’m planning for tomorrow unless I hear otherwise.',
      },
    ],
  },
  {
    role: 'docs',
    kind: 'question',
    to: 'all',
    subject: 'Do we say "basket" or "cart"?',
    body: 'The app says basket, the web says cart, and the help pages say both. I’d like to settle on one before I edit 40 pages.',
    turns: [
      {
        words: /\bbasket\b/i,
        subject: 'We say "basket"',
        body: 'It’s "basket" everywhere from now on. I’m updating the help pages today; please update the web as you touch it.',
      },
      {
        words: /\bcart\b/i,
        subject: 'We say "cart"',
        body: 'It’s "cart" everywhere from now on. I’m updating the help pages today; please update the app as you touch it.',
      },
      {
        to: 'role:lead',
        subject: 'Basket or cart: still open',
        body: 'I got an answer, but it didn’t pick either word. I’m leaving the pages as they are.',
      },
    ],
  },
  {
    role: 'tester',
    kind: 'help',
    to: 'project:mobile',
    subject: 'Renew the device lab?',
    body: 'Our lease on the phone rack ends tonight. It’s 240 a month, and without it the device checks stop. Should I renew it?',
    turns: [
      {
        words: yes,
        subject: 'The phone rack stays',
        body: 'Renewed for a month. Device checks continue as before.',
      },
      {
        words: no,
        subject: 'The phone rack goes tonight',
        body: 'We’re not renewing. Starting tomorrow, device checks run on two phones on my desk; expect them to take an hour.',
      },
      {
        subject: 'About the phone rack',
        body: 'I got an answer from the owner and will sort it out with the lab.',
      },
    ],
  },
  {
    role: 'lead',
    kind: 'escalation',
    to: 'project:checkout',
    subject: 'Two teams need the same database window',
    body: 'Checkout wants to run the ledger correction and search wants to rebuild its index, both this weekend, and both lock the same tables. Which goes first: checkout or search?',
    turns: [
      {
        words: /\bcheckout\b|\bledger\b/i,
        subject: 'The weekend is yours',
        body: 'The owner gave the window to the ledger correction. Search moves back a week.',
      },
      {
        words: /\bsearch\b|\brebuild\b/i,
        to: 'project:search',
        subject: 'The weekend is yours',
        body: 'The owner gave the window to the rebuild. The ledger correction moves back a week.',
      },
      {
        to: 'role:architect',
        subject: 'The database window',
        body: 'The owner left it to us. Could you check whether we can run them back to back?',
      },
    ],
  },
  {
    role: 'worker',
    kind: 'help',
    to: 'concern:security',
    subject: 'I need to see one real order',
    body: 'The bug only shows up with one customer’s data. May I look at that order, with the name and address redacted?',
    turns: [
      {
        words: yes,
        subject: 'Looking at one order, approved by the owner',
        body: 'For the record: one order, redacted, for an hour. I’ll delete my copy and confirm here.',
      },
      {
        words: no,
        subject: 'No access to real orders',
        body: 'The owner said no. I’ll build a test case by hand; that takes the afternoon.',
      },
      {
        to: 'role:lead',
        subject: 'About that order',
        body: 'I got an answer from the owner. I’ll try without the data first.',
      },
    ],
  },
]
