import { sumStuck, type StuckKind } from '../database/stuck-payments.ts'
import { decisionsOf } from '../inspect/gateway-facts.ts'
import { refusalsOf } from '../inspect/refusals.ts'
import { fact, type Alert, type Fact } from './fact.ts'
import { asking, asksTooMuch, refusedShare, refusing, unverified } from './shares.ts'
import {
  answeredMinutes,
  callbacksOfDay,
  heldCharges,
  openReviews,
  recentCallbacks,
  recentDecisions,
  subscriptionsDue,
} from './sources.ts'

/** The rows of one gateway together. */
function byGateway<Row extends { readonly gateway: string }>(rows: readonly Row[]) {
  return [...Map.groupBy(rows, ({ gateway }) => gateway)].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

const window = `${refusing.minutes}m`
const answered = `sum by (job, gateway) (increase(quittance_callbacks_total[${window}]))`

const gatewayRefuses = fact({
  kind: 'gateway_refuses',
  async find({ ask, now }) {
    const found = byGateway(await ask(answeredMinutes)).flatMap(([gateway, own]) => {
      const refused = refusedShare(own, now)
      return refused === undefined ? [] : [{ gateway, ...refused }]
    })
    const counted = found.length === 0 ? [] : await ask(recentCallbacks)
    return found.map(({ gateway, refused, answered: all, since }) => {
      const [main = null] = refusalsOf(counted.filter((one) => one.gateway === gateway))
      return { gateway, refused, answered: all, share: refused / all, main, since }
    })
  },
  severity: 'warning',
  says: ({ gateway, share }) => `${gateway} refuses ${share} of its callbacks`,
  more: ({ since }, { main }) => [`for ${since}`, main === null ? '' : `mostly for ${main.reason}`],
  fix: () =>
    'Look at the reasons. After a change of a secret, set the new one beside the old one; otherwise callbacks may be forged.',
  check: 'callbacks',
  well: () => 'no gateway refuses many',
  page: ({ gateway }) => [`/refused?gateway=${encodeURIComponent(gateway)}`, 'refused'],
  alerts: [
    {
      name: 'QuittanceCallbacksRefused',
      expr: `sum by (job, gateway) (increase(quittance_callbacks_total{answer="refused"}[${window}]))
  / ${answered} > ${refusing.share}
and ${answered} >= ${refusing.fewest}`,
      for: '5m',
      docs: '5-operations.md#refused-callbacks',
    },
  ],
})

const gatewayUnverified = fact({
  kind: 'gateway_unverified',
  find: async ({ ask }) =>
    byGateway(await ask(callbacksOfDay)).flatMap(([gateway, own]) => {
      const refused = unverified(own)
      return refused === undefined ? [] : [{ gateway, refused }]
    }),
  severity: 'warning',
  says: ({ gateway }) => `every callback of ${gateway} has a wrong signature`,
  more: ({ refused }) => [`${refused} in 24 hours`],
  fix: () =>
    'Compare the secret with the one in the dashboard: it may be of another endpoint, account or mode, or was cut where it is set. If you sell nothing there, a stranger tries.',
  check: 'callbacks',
  well: () => 'no gateway refuses all of them for their signature',
  page: ({ gateway }) => [`/refused?gateway=${encodeURIComponent(gateway)}`, 'refused'],
  alerts: [
    {
      name: 'QuittanceCallbacksUnverified',
      // Few callbacks are enough: a gateway with a wrong secret may get no more in an hour.
      expr: `sum by (job, gateway) (
  increase(quittance_callbacks_refused_total{reason="signature_mismatch"}[1h])
) >= 2
unless sum by (job, gateway) (
  increase(quittance_callbacks_total{answer="accepted"}[1h])
) > 0`,
      for: '5m',
      docs: '3-gateways.md#the-three-steps',
    },
  ],
})

const decidedBy = (causes: string) => `sum by (job, gateway) (
  increase(quittance_payments_decided_total{status="paid", cause${causes}}[1h])
)`

const foundByAsking = fact({
  kind: 'found_by_asking',
  find: async ({ ask }) =>
    byGateway(await ask(recentDecisions)).flatMap(([gateway, own]) => {
      const decided = decisionsOf(own)
      const share = decided.byAsking / (decided.byAsking + decided.byCallback)
      return asksTooMuch(decided) ? [{ gateway, ...decided, share }] : []
    }),
  severity: 'warning',
  says: ({ gateway, share }) => `${share} of the payments of ${gateway} are found by asking`,
  more: ({ byAsking, byCallback }) => [`${byAsking} by asking and ${byCallback} by callbacks`],
  fix: () =>
    "Callbacks do not come, and payers wait for minutes. Check the callback URL in the gateway's dashboard, and what stands in front of the service.",
  check: 'callbacks',
  well: () => 'payments become known by them',
  page: ({ gateway }) => [`/gateways/${encodeURIComponent(gateway)}`, 'check the registration'],
  alerts: [
    {
      name: 'QuittancePaymentsFoundByPoll',
      // Paid ones alone: that nobody paid is often found by polls, because no callback says so.
      expr: `${decidedBy('="poll"')}
  / ${decidedBy('=~"call|poll"')} > ${asking.share}
and ${decidedBy('=~"call|poll"')} >= ${asking.fewest}`,
      for: '5m',
      docs: '5-operations.md#reconciliation',
    },
  ],
})

/** What is stuck, in the plural. */
export const stuckWords: Readonly<Record<StuckKind, string>> = {
  checkout_unknown: 'checkouts without an answer of the provider for over an hour',
  poll_overdue: 'payments whose provider should have been asked 15 minutes ago',
  refund_pending: 'refunds under way for over a day',
  dispute_open: 'open disputes: the bank of a payer takes the money back',
}

interface Stuck<Kind extends StuckKind> {
  readonly stuck: Kind
  readonly severity: 'warning' | 'info'
  readonly check: string
  readonly fix: string
  readonly well: string
  readonly gauge?: Fact['gauge'] & object
  readonly alerts?: readonly Alert[]
}

const stuckMoney = <Kind extends StuckKind>({ stuck, severity, fix, well, ...row }: Stuck<Kind>) =>
  fact({
    kind: 'stuck',
    async find({ ask, gateways }) {
      const sum = await ask((db) => sumStuck(db, { stuck, gateways }))
      return [{ stuck, ...sum }]
    },
    value: 'count',
    severity: { [severity]: 0 },
    says: ({ count }) => `${stuckWords[stuck]}: ${count}`,
    more: ({ oldest }) => [oldest && `the oldest for ${oldest}`],
    fix: () => fix,
    well: () => well,
    page: () => [`/payments?stuck=${stuck}`, 'payments'],
    ...row,
  } as Fact<'stuck', { stuck: Kind; count: number; oldest: Date | null }>)

const stuck = [
  stuckMoney({
    stuck: 'checkout_unknown',
    severity: 'warning',
    check: 'reconcile',
    fix: 'Find out why: quittance poll ID',
    well: 'every checkout is known',
    gauge: {
      name: 'checkouts_unknown',
      help: 'Pending payments whose provider has not said for an hour whether it opened a checkout, up to 10001.',
    },
    alerts: [
      { name: 'QuittanceCheckoutsUnknown', for: '5m', docs: '7-money.md#states-of-a-checkout' },
    ],
  }),
  stuckMoney({
    stuck: 'poll_overdue',
    severity: 'warning',
    check: 'reconcile',
    fix: "Check the gateway's API key. Keep a service or a worker running: it asks; by hand: quittance reconcile",
    well: 'no payment is overdue',
    gauge: {
      name: 'polls_overdue',
      help: 'Payments whose provider should have been asked 15 minutes ago, up to 10001.',
    },
    alerts: [{ name: 'QuittancePollsOverdue', for: '10m', docs: '5-operations.md#reconciliation' }],
  }),
  stuckMoney({
    stuck: 'refund_pending',
    severity: 'info',
    check: 'reconcile',
    fix: "Look for them in the provider's dashboard",
    well: 'no refund takes long',
  }),
  stuckMoney({
    stuck: 'dispute_open',
    severity: 'info',
    check: 'review',
    fix: "Answer them in the provider's dashboard",
    well: 'no dispute is open',
  }),
] as const

const reviewsOpen = fact({
  kind: 'reviews_open',
  find: ({ ask }) => ask(openReviews),
  value: 'count',
  severity: { info: 0 },
  says: ({ count }) => `what a person must look at: ${count}`,
  more: ({ oldest }) => [oldest && `the oldest for ${oldest}`],
  fix: () => 'List them: quittance reviews list --state open',
  check: 'review',
  well: () => 'no review is open',
  page: () => ['/reviews', 'reviews'],
  gauge: { name: 'reviews_open', help: 'What a person must look at, up to 10001.' },
  alerts: [
    // Never none for a day. They need not be the same ones.
    { name: 'QuittanceReviewsOpen', for: '1d', docs: '5-operations.md#calls-that-need-a-person' },
  ],
})

const subscriptionDue = fact({
  kind: 'subscription_due',
  find: ({ ask }) => ask(subscriptionsDue),
  value: 'dueSeconds',
  severity: { warning: 15 * 60 },
  says: ({ dueSeconds }) => `a subscription has been due for ${dueSeconds}: is a worker running?`,
  fix: () => 'Keep a service or a worker running; by hand: quittance subscriptions run',
  check: 'subscriptions',
  well: () => 'none is overdue',
  page: () => ['/subscriptions', 'subscriptions'],
  isReadiness: true,
})

const chargesHeld = fact({
  kind: 'charges_held',
  find: ({ ask }) => ask(heldCharges),
  severity: 'warning',
  says: ({ gateway, until }) =>
    `no period${gateway && ` of ${gateway}`} is charged ${until ? `before ${until}` : 'until it is released'}`,
  // An operator's own words.
  more: ({ reason }) => [reason],
  fix: () => 'Mend what the reason says; to charge again at once: quittance subscriptions release',
  check: 'subscriptions',
  well: () => 'charges are not held',
  page: () => ['/subscriptions', 'subscriptions'],
  isReadiness: true,
})

/** What gateways refuse or do not send, and money that does not move. */
export const moneyFacts = [
  gatewayRefuses,
  gatewayUnverified,
  foundByAsking,
  ...stuck,
  reviewsOpen,
  subscriptionDue,
  chargesHeld,
] as const
