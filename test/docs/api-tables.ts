import { eventsQuery } from '../../src/http/api/events.ts'
import { routes } from '../../src/http/api/management-api.ts'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { errorCatalogue } from '../../src/kernel/errors.ts'
import { nextPoll } from '../../src/money/poll-schedule.ts'
import { pendingPayment } from '../support/pending-payment.ts'
import { filesIn } from '../tidy/source-files.ts'
import { code, type Table } from './table.ts'

/** Every status that an answer of ours has. */
function statuses(): readonly string[] {
  const sources = ['http', 'intake'].flatMap((folder) => filesIn(`src/${folder}`, /\.ts$/))
  const patterns = [/\bmessage\((\d{3}),/g, /^ {2}\w+: ([45]\d\d),$/gm]
  const found = sources.flatMap(({ text }) =>
    patterns.flatMap((pattern) => Array.from(text.matchAll(pattern), ([, status = '']) => status)),
  )
  return [...new Set(found)].toSorted()
}

/** Parameters of the list of events that the feed has no use for. */
const ofList = new Set(['cursor', 'payment_id', 'subscription_id'])

/** How long after it was handed over, and what is polled from then on. */
const ages = [
  ['up to 1 hour', minutes(5)],
  ['up to 6 hours', hours(1)],
  ['up to a day', hours(6)],
  ['after that', days(1), ', until the end'],
  ['after the end', days(6), ', while it is undecided (a bank debit)'],
] as const

function everyWait(age: number): string {
  const payment = pendingPayment({
    gateway: 'fake',
    handedAt: new Date(0),
    expiresAt: new Date(days(2)),
  })
  const asked = { payment, retryWindow: days(3), isUndecided: false, now: new Date(age) }
  const inHours = (nextPoll(asked) ?? 0) / hours(1)
  if (inHours < 1) return `every ${inHours * 60} minutes`
  return inHours < 24 ? `every ${inHours} hours` : 'every day'
}

export const apiTables: readonly Table[] = [
  {
    page: 'docs/errors.md',
    under: 'Errors',
    rows: [
      ['Code', 'Means', 'Fix'],
      ...Object.entries(errorCatalogue).map(([name, fix]) => [code(name), undefined, fix]),
    ],
  },
  {
    page: 'docs/errors.md',
    under: 'HTTP answers',
    rows: [['Status', 'Means'], ...statuses().map((status) => [status, undefined])],
  },
  {
    page: 'docs/10-library.md',
    under: 'Management API',
    rows: [
      ['Request', 'Does'],
      ...routes.map(({ method, path }) => [
        code(`${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
        undefined,
      ]),
    ],
  },
  {
    page: 'docs/17-feed.md',
    under: 'Read',
    rows: [
      ['Parameter', 'Means'],
      ...Object.keys(eventsQuery.shape)
        .filter((name) => !ofList.has(name))
        .map((name) => [code(name), undefined]),
    ],
  },
  {
    page: 'docs/7-money.md',
    under: 'Lost callbacks',
    rows: [
      ['Since it was handed over', 'Polled'],
      ['5 minutes', 'for the first time'],
      ...ages.map(([since, age, more = '']) => [since, `${everyWait(age)}${more}`]),
    ],
  },
]
