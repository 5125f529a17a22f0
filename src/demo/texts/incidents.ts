/** What wakes the one on call. */
export interface Incident {
  subject: string
  alert: string
  /** Whom the team around it is called. */
  concern: string
  /** What is taken to the lead, and what the lead says. */
  reason: string
  verdict: string
  end: string
}

export const incidents: readonly Incident[] = [
  {
    subject: 'Error rate of checkout above 2 %',
    alert:
      'Since four minutes: 2.6 % of checkouts end in an error, all with one payment method. Graphs point at the provider’s new certificate.',
    concern: 'concern:reliability',
    reason:
      'The provider changed its certificate; we pin the old one. A fix is a line, but it is a line in payments.',
    verdict:
      'Take the line out behind a flag, have it read by one of the reviewers, ship it. I tell support.',
    end: 'Back at 0.1 %. The pin is gone; a calendar entry for the next change is made.',
  },
  {
    subject: 'Search node 3 is out of disk',
    alert: 'Node 3 has 1 % left. Two old indexes from last week were never removed.',
    concern: 'concern:performance',
    reason: 'I can delete the two old indexes now, but then there is no way back to Tuesday.',
    verdict: 'Delete the older one, keep Tuesday’s until tomorrow. Then let us automate this.',
    end: 'Node 3 has 38 % free. A job removes indexes after seven days from now on.',
  },
  {
    subject: 'Somebody tries passwords from a list',
    alert: '14,000 sign-ins in ten minutes from 600 addresses, 11 successful. Those eleven are locked.',
    concern: 'concern:security',
    reason: 'The eleven customers have to be told today. It needs somebody who may sign that mail.',
    verdict: 'I sign it. Please send me the list and the text; and slow down sign-ins from those networks.',
    end: 'Blocked and slowed. Eleven customers have a mail and a new password.',
  },
  {
    subject: 'Night job has not run',
    alert: 'The stock import of 02:00 did not start. Numbers are from yesterday.',
    concern: 'concern:reliability',
    reason:
      'The scheduler lost its clock after the host moved. I can run the import by hand, it takes 12 minutes of load.',
    verdict: 'Run it now, before the lunch traffic. Put a check on the age of the stock numbers.',
    end: 'Imported: 48,210 articles. The age of the numbers is on the board now.',
  },
]
