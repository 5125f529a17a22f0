/** What agents ask the person, and how each answer turns the story. */
export interface Ask {
  /** Who asks: somebody with this role. */
  role: string
  kind: 'help' | 'question' | 'escalation'
  subject: string
  body: string
  /** The first whose words are in the answer tells the team what comes of it. */
  turns: readonly { words: RegExp; to: string; subject: string; body: string }[]
  /** For every other answer. */
  otherwise: { to: string; subject: string; body: string }
}

export const asks: readonly Ask[] = [
  {
    role: 'oncall',
    kind: 'help',
    subject: 'May I restart the payment worker?',
    body: 'Its queue stands since a few minutes: 214 payments wait. A restart clears it in a minute, but the 3 payments in its hands will be tried again. Yes or no?',
    turns: [
      {
        words: /\b(yes|ok|okay|go|do it|restart|sure|approved?)\b/i,
        to: 'concern:reliability',
        subject: 'Payment worker restarted',
        body: 'Restarted with the owner’s word. The queue is at zero; the three in its hands went through once each.',
      },
      {
        words: /\b(no|don'?t|wait|stop|hold)\b/i,
        to: 'concern:reliability',
        subject: 'Payment worker: we wait',
        body: 'The owner does not want a restart. I let it drain: about 20 minutes. Support knows.',
      },
    ],
    otherwise: {
      to: 'concern:reliability',
      subject: 'Payment worker: a word from the owner',
      body: 'The owner has answered; I go by that and keep the queue in sight.',
    },
  },
  {
    role: 'lead',
    kind: 'question',
    subject: 'Ship the release today or tomorrow?',
    body: 'Everything is green but the large-text pages. Today means without them, tomorrow means with them. Your choice: "today" or "tomorrow".',
    turns: [
      {
        words: /\btoday\b/i,
        to: 'all',
        subject: 'We ship today',
        body: 'The owner has decided: today, without the large-text pages. Freeze in half an hour; only fixes from then on.',
      },
      {
        words: /\b(tomorrow|later|wait)\b/i,
        to: 'all',
        subject: 'We ship tomorrow',
        body: 'The owner has decided: tomorrow, complete. Nobody needs to hurry tonight. The freeze is at ten.',
      },
    ],
    otherwise: {
      to: 'all',
      subject: 'About the release',
      body: 'The owner has answered without a date. I plan for tomorrow until I hear otherwise.',
    },
  },
  {
    role: 'docs',
    kind: 'question',
    subject: 'Do we say "basket" or "cart"?',
    body: 'The app says basket, the web says cart, the help says both. I would like one word before I touch 40 pages.',
    turns: [
      {
        words: /\bbasket\b/i,
        to: 'all',
        subject: 'It is a basket',
        body: 'One word from now on: basket. I change the help today; please change the web as you touch it.',
      },
      {
        words: /\bcart\b/i,
        to: 'all',
        subject: 'It is a cart',
        body: 'One word from now on: cart. I change the help today; please change the app as you touch it.',
      },
    ],
    otherwise: {
      to: 'role:lead',
      subject: 'Basket or cart: still open',
      body: 'I had an answer, but neither word was in it. I leave the pages as they are.',
    },
  },
  {
    role: 'tester',
    kind: 'help',
    subject: 'The device lab wants a new lease',
    body: 'The lease of the phone rack ends tonight: 240 a month. Without it the device checks stop. Shall I prolong it?',
    turns: [
      {
        words: /\b(yes|ok|okay|prolong|renew|sure|go)\b/i,
        to: 'project:mobile',
        subject: 'The phone rack stays',
        body: 'Prolonged by a month. Device checks go on as before.',
      },
      {
        words: /\b(no|not|cancel)\b/i,
        to: 'project:mobile',
        subject: 'The phone rack goes tonight',
        body: 'No new lease. From tomorrow device checks run on two phones on my desk; expect them to take an hour.',
      },
    ],
    otherwise: {
      to: 'project:mobile',
      subject: 'About the phone rack',
      body: 'I have an answer from the owner and sort it out with the lab.',
    },
  },
  {
    role: 'lead',
    kind: 'escalation',
    subject: 'Two teams want the same week of the database',
    body: 'Checkout wants the ledger correction and search the rebuild, both on the weekend, both lock the same tables. I need to know which comes first: checkout or search.',
    turns: [
      {
        words: /\bcheckout\b|\bledger\b/i,
        to: 'project:checkout',
        subject: 'The weekend is yours',
        body: 'The owner gives the window to the ledger correction. Search moves by a week.',
      },
      {
        words: /\bsearch\b|\brebuild\b/i,
        to: 'project:search',
        subject: 'The weekend is yours',
        body: 'The owner gives the window to the rebuild. The ledger correction moves by a week.',
      },
    ],
    otherwise: {
      to: 'role:architect',
      subject: 'The database window',
      body: 'The owner leaves it to us. Could you look whether both fit behind each other?',
    },
  },
  {
    role: 'worker',
    kind: 'help',
    subject: 'I need to see one real order',
    body: 'The bug shows with one customer’s data only. May I look at that order, with the name and address blacked out?',
    turns: [
      {
        words: /\b(yes|ok|okay|sure|go|may)\b/i,
        to: 'concern:security',
        subject: 'Looking at one order, with the owner’s word',
        body: 'For the record: one order, blacked out, for an hour. I delete my copy and say so here.',
      },
      {
        words: /\b(no|not|never)\b/i,
        to: 'concern:security',
        subject: 'No look at real orders',
        body: 'The owner said no. I build the case by hand; it takes me the afternoon.',
      },
    ],
    otherwise: {
      to: 'role:lead',
      subject: 'About that order',
      body: 'I have an answer from the owner, and try it without the data first.',
    },
  },
]
