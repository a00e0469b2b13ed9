/** What each act shows, and the timeline that it leaves. */
export const timelines = {
  trial: {
    what: 'a trial announces its end and converts',
    text: `
2027-01-01 00:00  status  trialing
                  free    trial, 2027-01-01 - 2027-01-15
                  event   SubscriptionCreated
                  access  yes
2027-01-12 00:00  event   TrialWillEnd                 mail: the trial ends on 2027-01-15; then the card is charged
2027-01-15 00:00  charge  199.00 UAH for 2027-01-15 - 2027-02-15: paid
                  status  trialing -> active (paid)
                  event   TrialEnded
                  event   SubscriptionRenewed          mail: thank you for staying, with a receipt
`,
  },
  soft: {
    what: 'soft declines are tried again as the settings say, and end the subscription',
    text: `
2027-01-01 00:00  status  incomplete
                  charge  199.00 UAH for 2027-01-01 - 2027-02-01: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: declined, insufficient_funds
                  status  active -> past_due (declined)
                  event   SubscriptionPaymentFailed    mail: the card was declined; we try again on 2027-02-02, or pay now (pay page)
                  event   SubscriptionAccessSuspended  mail: there is no access until it is paid
                  access  no
2027-02-02 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: declined, insufficient_funds
                  event   SubscriptionPaymentFailed    mail: the card was declined; we try again on 2027-02-05, or pay now (pay page)
2027-02-05 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: declined, insufficient_funds
                  status  past_due -> canceled (payment_failed)
                  event   SubscriptionCancelled        mail: it has ended, for it was not paid
`,
  },
  hard: {
    what: 'after a hard decline another card is charged at once',
    text: `
2027-01-01 00:00  status  incomplete
                  charge  199.00 UAH for 2027-01-01 - 2027-02-01: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: declined, stolen_card
                  status  active -> past_due (declined)
                  event   SubscriptionPaymentFailed    mail: the card cannot be charged: put in another one (pay page)
2027-02-02 12:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: paid
                  status  past_due -> active (paid)
                  event   SubscriptionRenewed          mail: all is well again, with a receipt
`,
  },
  shortMonths: {
    what: 'a period that begins on a 31st ends with the shorter month and comes back',
    text: `
2027-01-31 12:00  status  incomplete
                  charge  199.00 UAH for 2027-01-31 12:00 - 2027-02-28 12:00: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-28 12:00  charge  199.00 UAH for 2027-02-28 12:00 - 2027-03-31 12:00: paid
                  event   SubscriptionRenewed          mail: a receipt
2027-03-31 12:00  charge  199.00 UAH for 2027-03-31 12:00 - 2027-04-30 12:00: paid
                  event   SubscriptionRenewed          mail: a receipt
2027-04-30 12:00  charge  199.00 UAH for 2027-04-30 12:00 - 2027-05-31 12:00: paid
                  event   SubscriptionRenewed          mail: a receipt
`,
  },
  zone: {
    what: 'periods begin at the same time of day in the customer’s zone, in summer and winter',
    text: `
2027-02-28 22:00  status  incomplete
                  charge  199.00 UAH for 2027-02-28 22:00 - 2027-03-31 21:00: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-03-31 21:00  charge  199.00 UAH for 2027-03-31 21:00 - 2027-04-30 21:00: paid
                  event   SubscriptionRenewed          mail: a receipt
`,
  },
  pause: {
    what: 'a pause begins with the end of what is paid, and a resumption begins a new period',
    text: `
2027-01-01 00:00  status  incomplete
                  charge  199.00 UAH for 2027-01-01 - 2027-02-01: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:00  status  active -> paused (requested)
                  event   SubscriptionPaused           mail: it is paused until 2027-03-10
                  access  no
2027-03-10 00:00  charge  199.00 UAH for 2027-03-10 - 2027-04-10: paid
                  status  paused -> active (paid)
                  event   SubscriptionResumed          mail: it goes on
                  event   SubscriptionRenewed          mail: a receipt
                  access  yes
2027-04-10 00:00  charge  199.00 UAH for 2027-04-10 - 2027-05-10: paid
                  event   SubscriptionRenewed          mail: a receipt
`,
  },
  confirm: {
    what: 'a charge that the bank wants confirmed is confirmed by the payer, and paid once',
    text: `
2027-01-01 00:00  status  incomplete
                  charge  199.00 UAH for 2027-01-01 - 2027-02-01: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: paid on 2027-02-01 05:00
                  status  active -> past_due (needs_confirmation)
                  event   SubscriptionPaymentFailed    mail: confirm the payment (pay page); we try again on 2027-02-02
2027-02-01 05:00  status  past_due -> active (paid)
                  event   SubscriptionRenewed          mail: all is well again, with a receipt
2027-03-01 00:00  charge  199.00 UAH for 2027-03-01 - 2027-04-01: paid
                  event   SubscriptionRenewed          mail: a receipt
`,
  },
  unanswered: {
    what: 'a charge without an answer touches no customer, and is paid once the provider tells',
    text: `
2027-01-01 00:00  status  incomplete
                  charge  199.00 UAH for 2027-01-01 - 2027-02-01: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:00  charge  199.00 UAH for 2027-02-01 - 2027-03-01: paid on 2027-02-01 00:05
2027-02-01 00:05  event   SubscriptionRenewed          mail: a receipt
`,
  },
  page: {
    what: 'the payer’s page saves the card that is charged from then on',
    text: `
2027-01-01 00:00  status  incomplete
                  page    199.00 UAH for 2027-01-01 00:30 - 2027-02-01 00:30: paid on 2027-01-01 00:30
                  access  no
2027-01-01 00:30  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-02-01 00:30  charge  199.00 UAH for 2027-02-01 00:30 - 2027-03-01 00:30: declined, no_such_card
                  status  active -> past_due (declined)
                  event   SubscriptionPaymentFailed    mail: the card cannot be charged: put in another one (pay page)
`,
  },
  downtime: {
    what: 'after a week of downtime whole periods that went by are skipped, not charged',
    text: `
2027-06-29 00:00  status  incomplete
                  charge  199.00 UAH for 2027-06-29 - 2027-07-01: paid
                  status  incomplete -> active (paid)
                  event   SubscriptionRenewed          mail: welcome, with a receipt
                  access  yes
2027-07-07 00:00  charge  199.00 UAH for 2027-07-07 - 2027-07-09: paid; 3 before it skipped
                  event   SubscriptionRenewed          mail: a receipt
`,
  },
} as const

export type What = keyof typeof timelines
