/** Short texts that come up again and again, in several versions. */
export const smallTalk = {
  standup: [
    'Morning! Three goals today: totals that match, search under 80 ms, and nobody waits for a review longer than a coffee.',
    'Good morning. The release branch is open. Small changes first, please, and speak up early if something doesn’t fit.',
    'Morning, all. Yesterday: nine merged, one rolled back. Reviews first today, then new work.',
  ],
  lunch: [
    'Halfway through: review queue is short, tests are green. Go eat something.',
    'Lunch. If you’re blocked, tell me now so I can chase it while you eat.',
  ],
  evening: [
    'That’s it for today, thanks everyone. Anything open will still be in your mailbox tomorrow.',
    'Calling it a day. Finish what you’re on and leave the rest. Nice work on the reviews.',
  ],

  reviewGood: [
    'Small, clear and tested. Approved.',
    'LGTM. I like that the edge case has its own test.',
    'Approved. Nit: one name could be shorter, but that’s taste.',
    'No objections. The comment about the race saved me ten minutes. Approved.',
  ],
  reviewFixed: [
    'Fixed as suggested, with a test that fails without it.',
    'Good catch. Fixed, and I found the same mistake in one more place.',
    'Done. I also added a comment on why the obvious way is wrong.',
  ],
  testGood: [
    'Green on all platforms. I also tried it by hand on a slow network.',
    'All checks pass, no regressions.',
    'Green. I ran it twenty times because I didn’t believe it.',
  ],
  ciFixed: [
    'Found it: the test used the real clock. Green again.',
    'That was a real bug. Fixed, thanks for catching it.',
    'Fixed. The check was right and I was wrong.',
  ],
  planGood: [
    'Good plan: small steps and a rollback. Go.',
    'Approved. Let me know when the first step is live.',
    'Go ahead. Keep the old path behind the flag for a week.',
  ],
  statusWords: [
    'The hard part is done.',
    'Slower than I hoped, but moving.',
    'About halfway. Tests next.',
    'Almost there, writing it up.',
  ],
  decisions: [
    {
      to: 'project:checkout',
      subject: 'Money is always integer cents',
      body: 'Starting today, no amount leaves a module as a float. The types are in src/money; ask me before adding one.',
    },
    {
      to: 'project:search',
      subject: 'One queue for all index writes',
      body: 'All writers go through the queue, scripts included. Otherwise a rebuild can’t replay what it missed.',
    },
    {
      to: 'project:mobile',
      subject: 'No personal data in crash reports',
      body: 'Reports contain ids only: no names, no addresses. The filter is in app/report; please don’t bypass it.',
    },
    {
      to: 'concern:performance',
      subject: 'Performance budgets are in the repo',
      body: 'Every page and query has a budget in budgets.json, and CI fails if you exceed it. If you need more, say so in the plan.',
    },
    {
      to: 'concern:security',
      subject: 'Sign the whole link in emails',
      body: 'One signature over path, parameters and expiry. There’s a helper for it; hand-rolled ones won’t pass review.',
    },
  ],
  /** Subject and body. */
  chatter: Object.entries({
    'Naming: order, sale or purchase?':
      'We use all three in three different files. I’d pick "order" and rename as we go. Objections?',
    'Local setup is faster now': 'Fixtures load in 3 s instead of 40. Pull, and delete your old volume once.',
    'Who owns the tax export?':
      'There’s no owner listed. If it’s you, or used to be, I have a quick question.',
    'Flaky: stock.test':
      'It only fails when it runs after cart.test. They share a clock; I’m separating them.',
    'Release notes': 'If customers will notice your change, add a sentence to notes.md. I’ll polish it.',
  }),
  thanks: [
    'Thanks, that helps.',
    'Got it, moving on.',
    'Thank you, that settles it.',
    'Great, that unblocks me.',
  ],
  toPerson: [
    'Understood. I’m on it and will let you know when it’s done.',
    'Thanks for letting me know. It’s at the top of my list now.',
    'Will do. I’ll finish what I’m on and take this next.',
    'Good point. I’ll discuss it with the others and get back to you.',
  ],
  back: [
    'I’m back. My process died; picking up where my mail says I was.',
    'Back after a crash. Catching up on my mail.',
  ],
} as const
