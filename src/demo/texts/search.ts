import type { Project } from './work-item.ts'

export const search: Project = {
  'SEA-18': {
    title: 'Handle misspelled searches',
    brief: '"Exspresso" finds nothing. 8 % of all searches are off by a letter or two.',
    files: ['src/query/fuzzy.ts', 'src/query/rank.ts'],
    question: 'Correct the word silently, or offer "did you mean"?',
    answer:
      'Silently if there’s one good candidate and no exact match, otherwise offer it. Never replace a word that matches.',
    comment:
      'src/query/fuzzy.ts:64 Part numbers must not be corrected. K-4411 and K-4417 are two different pumps.',
    trouble: 'With two edits "tent" finds "test", "tenth" and a brand of toothpaste.',
    check: 'quality / search',
    log: 'precision@5 dropped from 0.81 to 0.64 on the brand set',
    result: 'Searches that fail because of a typo are down from 8 % to 1.4 % on last month’s log.',
    doc: 'How spelling correction works, and how to exempt a word.',
  },
  'SEA-21': {
    title: 'Rebuild the index without downtime',
    brief:
      'The nightly rebuild leaves search empty for 90 seconds. Build next to the old index, then switch.',
    files: ['src/index/build.ts', 'src/index/alias.ts', 'ops/reindex.sh'],
    plan: 'Build a new index, replay changes from the queue, compare counts, switch the alias, and keep the old index for a day.',
    doubt: 'Counts can match while contents differ. Please compare a sample of documents as well.',
    revised:
      'Before the switch we now also compare 1,000 random documents field by field; any difference aborts it.',
    comment:
      'ops/reindex.sh:27 If this line fails, the next one deletes the good index. Please use set -e or check the result.',
    trouble: 'The search node has disk space for one and a half indexes. Two don’t fit.',
    check: 'ops / dry-run',
    log: 'alias still points at products-v17 after 600 s',
    result: 'Three rebuilds under load without a single failed query.',
    doc: 'Runbook: rebuilding the index and rolling back.',
  },
  'SEA-24': {
    title: 'Rank by what people buy, not by what they click',
    brief: 'Clicks favor pretty pictures. Use orders from the last 60 days, with decay.',
    files: ['src/rank/signals.ts', 'jobs/collect-signals.ts'],
    plan: 'A nightly job sums orders per product with a half-life of 14 days, ranking weighs it at 30 %, and we run an A/B test on 10 % of visitors for a week.',
    doubt: 'New products have no orders, so they would never rank. How do they get a chance?',
    revised: 'New products get their category’s median for 21 days. After that their own orders count.',
    byPerson: true,
    comment:
      'jobs/collect-signals.ts:90 Returns count as sales here. The cheap drill that everyone sends back would rank first.',
    trouble: 'Partner orders from before the 12th have no product id, so half the signal is missing.',
    check: 'unit / rank',
    log: 'product without orders has rank NaN',
    result: 'The A/B test is live for 10 % of visitors. First numbers on Thursday.',
    doc: 'What goes into the ranking and who can change the weights.',
  },
  'SEA-27': {
    title: 'Show counts in the filters',
    brief: 'People filter their way into empty lists. Show counts, and hide filters without results.',
    files: ['web/search/Filters.tsx', 'src/query/facets.ts'],
    question: 'Exact counts cost 40 ms in big categories. Is "about 2,300" good enough?',
    answer: 'Exact up to 1,000, rounded above. Nobody cares whether it is 2,312.',
    comment:
      'web/search/Filters.tsx:120 A screen reader says "Blue 14" without explaining the 14. Please add a label.',
    trouble: 'Hiding empty filters makes the list jump while people tap on phones.',
    check: 'e2e / filters',
    log: 'count is 14, list has 13 (one sold out in between)',
    result: 'Empty results after filtering dropped from 11 % to under 1 % in the replayed sessions.',
    doc: 'Filters and counts, with the rounding rule.',
  },
  'SEA-30': {
    title: 'Get search p95 under 80 ms',
    brief: 'We’ve been at 210 ms since spring. The budget is 80 ms. Find out where the time goes.',
    files: ['src/query/plan.ts', 'src/cache/hot-terms.ts'],
    question: 'Half of it is highlighting. Can we highlight only the first page?',
    answer: 'Yes. And cache the 500 most common terms for a minute; they’re 38 % of the traffic.',
    comment:
      'src/cache/hot-terms.ts:22 When an entry expires under load, 40 requests rebuild it at once. Only one should; the rest should wait.',
    trouble: 'It’s 60 ms on my laptop and 190 on the server. The difference is TLS between search and cache.',
    check: 'bench / p95',
    log: 'p95 is 96 ms (budget 80) with a cold cache',
    result: 'p95 is 71 ms, p99 140 ms. Only the first page is highlighted now.',
    doc: 'Where search time goes, and the budget of each step.',
  },
  'SEA-33': {
    title: 'Let shops hide a product immediately',
    brief: 'Recalled products must disappear from search within a minute, not overnight.',
    files: ['src/index/block-list.ts', 'src/api/recall.ts'],
    plan: 'Keep a block list next to the index, check it after every query, and let the API and support add to it. Entries expire once the index has dropped the product.',
    doubt: 'If we filter after the query, a page may have 9 results instead of 10. Fetch more than you need.',
    revised: 'The query fetches ten extra results to fill the page. Measured cost: 1 ms.',
    comment:
      'src/api/recall.ts:35 Anyone with a shop key can block any shop’s products. Please check ownership.',
    trouble: 'Suggestions use a different index and still show the recalled heater.',
    check: 'e2e / recall',
    log: 'product 88123 still in suggestions after 60 s',
    result: 'Recalled products disappear everywhere within 20 seconds, including suggestions.',
    doc: 'Recalls: who can do them, how fast they work, and how to verify them.',
  },
}
