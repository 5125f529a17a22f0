/** Short things that are said again and again, many ways. */
export const smallTalk = {
  standup: [
    'Morning. Three things today: totals that agree, a search that answers in 80 ms, and nobody waits for a review longer than a coffee.',
    'Good morning. The release branch is open. Small changes first, please; say early when something does not fit.',
    'Morning, all. Yesterday: nine merged, one rolled back. Today the reviews come first, then the new work.',
  ],
  lunch: [
    'Half of the day is over: reviews are short, tests are green. Eat something.',
    'Lunch. Whoever is blocked, say so before, so that I can chase it while you eat.',
  ],
  evening: [
    'That is it for today. Thank you. What is open stays in your mailbox; it will be there tomorrow.',
    'Closing time. Finish what is in your hands, leave the rest. Good work on the reviews.',
  ],
  take: ['Taking it.', 'On it.', 'Mine. I start right away.', 'Got it; I read it through first.'],
  reviewGood: [
    'Read it twice. Clear, small, tested. Approved.',
    'Good. I like that the odd case has a test of its own. Approved.',
    'Approved. One name could be shorter, but that is taste.',
    'No objections. The comment on the race saved me ten minutes.',
  ],
  reviewFixed: [
    'Fixed as you said, with a test that fails without it.',
    'You were right. Changed, and I looked for the same mistake elsewhere: one more found.',
    'Done. I also wrote down why it was so tempting to do it wrong.',
  ],
  testGood: [
    'Green on all platforms; I also tried it by hand with a slow network.',
    'All checks pass. Nothing else moved.',
    'Green. I ran it twenty times because I did not believe it.',
  ],
  ciFixed: [
    'Found it: a clock in the test. Green again.',
    'A real bug, and it is fixed. Thanks for catching it.',
    'Fixed; the check was right and I was not.',
  ],
  planGood: [
    'Good plan. Small steps, a way back. Go.',
    'Approved. Tell me when the first step is live.',
    'Go ahead. Keep the old way behind the flag for a week.',
  ],
  statusWords: [
    'The hard part is behind me.',
    'Slower than I hoped, but moving.',
    'Halfway. Tests next.',
    'Almost there; writing it up.',
  ],
  decisions: [
    {
      to: 'project:checkout',
      subject: 'Money is always whole cents',
      body: 'From today no amount leaves a module as a float. Types are in src/money; ask me before you add one.',
    },
    {
      to: 'project:search',
      subject: 'One queue for all index writes',
      body: 'Writers go through the queue, also the scripts. It is the only way that a rebuild can replay what it missed.',
    },
    {
      to: 'project:mobile',
      subject: 'Nothing personal in crash reports',
      body: 'Reports carry ids, no names, no addresses. The filter is in app/report; please do not go around it.',
    },
    {
      to: 'concern:performance',
      subject: 'Budgets are in the repository',
      body: 'Every page and query has a budget in budgets.json. The check fails when one is broken, so say it in the plan.',
    },
    {
      to: 'concern:security',
      subject: 'Links that we mail are signed as a whole',
      body: 'Path, parameters and expiry: one signature over all of it. There is a helper; hand-made ones do not pass review.',
    },
  ],
  chatter: [
    {
      subject: 'A small thing about names',
      body: 'We call it order, sale and purchase in three files. I would pick order and rename as we go. Objections?',
    },
    {
      subject: 'Local set-up is faster now',
      body: 'The fixtures load in 3 s instead of 40. Pull, and delete your old volume once.',
    },
    {
      subject: 'Who knows the tax export?',
      body: 'It has no owner in the file. If it is you, or was you, I have one question.',
    },
    {
      subject: 'A test that passes alone',
      body: 'stock.test fails only when it runs after cart.test. They share a clock; I am separating them.',
    },
    {
      subject: 'Release notes',
      body: 'If your change is one a customer would notice, write one sentence into notes.md. I make it nice.',
    },
  ],
  thanks: [
    'Thanks, that helps.',
    'Clear. Going on.',
    'Thank you, that settles it.',
    'Good, then I know what to do.',
  ],
  toPerson: [
    'Understood. I see to it now and tell you when it is done.',
    'Thanks for the word. I put it at the top of my list.',
    'Yes. I finish what is in my hands and take this next.',
    'Good point. I take it up with the others and come back to you.',
  ],
  back: [
    'I am back. My process had ended; I pick up where the mail says I was.',
    'Here again, after a crash. Reading what came in meanwhile.',
  ],
} as const
