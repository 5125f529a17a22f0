/**
 * What breaks: the on-call agent sends the alert to the concern and the reason to the lead, gets the verdict,
 * and reports the end.
 */
export const incidents = [
  {
    subject: 'Checkout error rate above 2 %',
    alert:
      '2.6 % of checkouts have been failing for four minutes, all with one payment method. The graphs point to the provider’s new certificate.',
    concern: 'concern:reliability',
    reason:
      'The provider rotated its certificate and we pin the old one. It’s a one-line fix, but in payments.',
    verdict: 'Put it behind a flag, get one of the reviewers to look at it, then ship. I’ll tell support.',
    end: 'Back to 0.1 %. The pin is gone, and there’s a calendar reminder for the next rotation.',
  },
  {
    subject: 'Search node 3 is out of disk',
    alert: 'Node 3 has 1 % disk left. Two indexes from last week were never cleaned up.',
    concern: 'concern:performance',
    reason: 'I can delete the two old indexes now, but then we can’t roll back to Tuesday.',
    verdict: 'Delete the older one and keep Tuesday’s until tomorrow. Then let’s automate this.',
    end: 'Node 3 has 38 % free. A job now removes indexes after seven days.',
  },
  {
    subject: 'Credential stuffing on sign-in',
    alert:
      '14,000 sign-in attempts in ten minutes from 600 IPs, 11 successful. Those 11 accounts are locked.',
    concern: 'concern:security',
    reason: 'We have to notify the 11 customers today, and someone has to sign off on that email.',
    verdict: 'I’ll sign off. Send me the list and the draft, and rate-limit sign-ins from those networks.',
    end: 'Attack blocked and rate limit in place. All 11 customers got an email and a password reset.',
  },
  {
    subject: 'Nightly stock import did not run',
    alert: 'The 02:00 stock import never started. Stock numbers are from yesterday.',
    concern: 'concern:reliability',
    reason:
      'The scheduler’s clock was off after the host migration. I can run the import manually; that’s 12 minutes of load.',
    verdict: 'Run it now, before lunch traffic. And add an alert on the age of the stock data.',
    end: 'Imported 48,210 products. The age of the stock data is on the dashboard now.',
  },
]
