import type { Project } from './work-item.ts'

export const checkout: Project = {
  'CHK-41': {
    title: 'Round totals the same way everywhere',
    brief:
      'The cart rounds each line, the invoice rounds the sum, so customers see a one-cent difference. We need one rule in one place.',
    files: ['src/money/round.ts', 'src/cart/total.ts', 'src/invoice/lines.ts'],
    question: 'Do we round per line or on the sum? Tax wants per line, the cart team wants the sum.',
    answer:
      'Per line, half to even, and the total adds up the rounded lines. The tax office decides this one for us.',
    comment:
      'src/money/round.ts:18 Negative amounts (refunds) round the other way here. Please add a refund to the tests.',
    trouble: 'The old fixtures have the wrong cents baked in; 40 tests fail for the right reason.',
    check: 'unit / money',
    log: 'expected 1999 but got 2000 in refund of a split line',
    result: 'All totals go through roundLine(). No differences left in last week’s 2,000 orders.',
    doc: 'How totals are rounded, with three worked examples.',
  },
  'CHK-44': {
    title: 'Keep the cart when a session ends',
    brief: 'People lose their cart overnight. Keep it for 30 days, and across devices once they sign in.',
    files: ['src/cart/store.ts', 'migrations/0071_saved_carts.sql'],
    plan: '1. A saved_carts table keyed by customer. 2. Write on every change, at most once every 5 s. 3. Merge on sign-in: the newer line wins.',
    doubt:
      '"Newer wins" can drop something a customer added on their phone a minute ago. Please merge by adding.',
    revised:
      'Quantities are now added up on sign-in, capped at stock. Only the delivery option comes from the newer cart.',
    comment:
      'migrations/0071_saved_carts.sql:9 This index locks the table while it builds. Create it concurrently.',
    trouble:
      'The session service in staging has been down since this morning, so I have nothing to test against.',
    check: 'integration / cart',
    log: 'timeout after 30 s: waiting for saved cart of guest-117',
    result: 'Carts are kept for 30 days and merged on sign-in, behind the saved-carts flag.',
    doc: 'What happens to a cart over time, for support.',
  },
  'CHK-47': {
    title: 'Retry a payment that timed out',
    brief:
      'One in 900 payments times out at the provider. We show an error, although most of them went through.',
    files: ['src/payment/charge.ts', 'src/payment/outbox.ts'],
    plan: 'Send each charge with an idempotency key from the outbox. After a timeout, query the provider for its status, then retry twice, after 2 s and 8 s.',
    doubt: 'What does the customer see during those ten seconds? Please add that to the plan.',
    revised:
      'The page says "We are checking with your bank" and polls. After 15 s it offers to email the customer once it’s settled.',
    byPerson: true,
    comment:
      'src/payment/outbox.ts:52 If we crash between the charge and this write, the key is lost. Write first, charge second.',
    trouble: 'The provider’s sandbox rejects every key as "duplicate". Their status page confirms it.',
    check: 'contract / payments',
    log: 'key 7f3a was charged twice when the response took 2.1 s',
    result: 'After a timeout we check the status before retrying. 300 forced timeouts, no double charges.',
    doc: 'What a customer sees while a payment is being checked.',
  },
  'CHK-52': {
    title: 'Show delivery dates before the address',
    brief: 'Half of all drop-offs happen at the address form. Show a delivery date from the postcode alone.',
    files: ['src/delivery/estimate.ts', 'web/cart/DeliveryHint.tsx'],
    question:
      'Can I call the carrier’s API on every page view, or do we need our own table of transit times?',
    answer:
      'Our own table, refreshed nightly. The carrier allows 50 calls a minute and we get 400 carts a minute.',
    comment:
      'src/delivery/estimate.ts:31 Public holidays are missing. On 1 November this promises a date we can’t keep.',
    trouble: 'The carrier changed the column order of its export, so now everything arrives on a Sunday.',
    check: 'e2e / cart',
    log: 'DeliveryHint: expected "Thu 14" but the page says "Invalid Date"',
    result: 'The cart shows "with you by Thursday" as soon as we have a postcode, in 4 ms.',
    doc: 'Where delivery dates come from and how to correct them.',
  },
  'CHK-55': {
    title: 'Book vouchers as payment, not as a discount',
    brief:
      'Vouchers are booked as a discount, so revenue looks lower than it is. Book them as a payment method.',
    files: ['src/voucher/book.ts', 'src/ledger/accounts.ts'],
    plan: 'Add a ledger account for vouchers, book them at redemption, and run a one-off correction for this quarter, with a dry run first.',
    doubt: 'Finance needs to see the dry run before we correct a whole quarter.',
    revised: 'Added a step: the dry run goes to finance as a CSV, and nothing is booked until they sign off.',
    byPerson: true,
    comment:
      'src/ledger/accounts.ts:77 Expired vouchers stay in this account forever. Who writes them off, and when?',
    trouble:
      'Vouchers from before March have no issue date, so the correction cannot tell which quarter they belong to.',
    check: 'unit / ledger',
    log: 'sum of accounts is 12.50 instead of 0.00 after partial redemption',
    result: 'Vouchers are booked as payments. The sample day’s books balance to the cent.',
    doc: 'How vouchers appear in the ledger export.',
  },
  'CHK-58': {
    title: 'Let guests track their orders',
    brief:
      'We get 60 support emails a day from guests asking where their parcel is. Give them a tracking link.',
    files: ['src/order/guest-link.ts', 'web/order/Track.tsx'],
    question: 'How long should such a link be valid, and may it show the address?',
    answer:
      'Ninety days, signed, and only the town, not the address. These links end up in forwarded emails.',
    comment:
      'src/order/guest-link.ts:12 The signature covers the order but not the expiry, so anyone can extend a link.',
    trouble: 'The email template service rejects links with a plus sign, and base64 is full of them.',
    check: 'security / links',
    log: 'link with a modified expiry was accepted',
    result: 'Every confirmation email has a signed link. Support has a button to issue a new one.',
    doc: 'The tracking link: what it shows, how long, how to revoke it.',
  },
  'CHK-61': {
    title: 'Stop overselling',
    brief:
      'Two warehouses report stock every 15 minutes. During sales we oversell by 3 %. Reserve stock at checkout.',
    files: ['src/stock/reserve.ts', 'src/stock/release.ts'],
    plan: 'Reserve for 10 minutes when checkout starts, release on timeout, and reconcile with the warehouse reports.',
    doubt: 'Ten minutes is long during a sale. What about people who open checkout and leave?',
    revised: 'Four minutes, extended by activity, and at most three reservations per visitor.',
    comment:
      'src/stock/reserve.ts:40 Two reservations in the same millisecond both see a stock of 1. This needs a conditional update.',
    trouble: 'The load test reserves everything, so the other tests find nothing to buy.',
    check: 'race / stock',
    log: '2 of 500 runs: stock is -1 after parallel reservations',
    result: 'No overselling in a replay of the spring sale: 11,400 orders, stock never below zero.',
    doc: 'What "reserved" means and how to release stock manually.',
  },
}
