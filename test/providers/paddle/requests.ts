import { z } from 'zod'
import type { AskedRequest, StandInReply } from '../../support/stand-in.ts'
import type { Asking, Understood } from '../provider-stand-in.ts'
import {
  cancelTransaction,
  openTransaction,
  requestRefund,
  strangeRefund,
  stranger,
  type Account,
  type Endpoint,
} from './account.ts'
import { renderAdjustment, renderTransaction, type HeldTransaction } from './entities.ts'
import { entity, page, problem } from './replies.ts'
import {
  cancelation,
  cancelWish,
  changedEndpoint,
  newAdjustment,
  newEndpoint,
  newTransaction,
  pauseWish,
  resumeWish,
  takingBack,
} from './schemas.ts'
import { noSubscription, replyOf, strangeSubscription } from './subscriptions.ts'
import { cancelWished, pauseWished, resumeWished, takenBack } from './wishes.ts'

/** A request in its parts. */
interface Parts {
  readonly account: Account
  readonly asked: AskedRequest
  /** Method and path, ids left out, e.g. `GET /transactions/id`. */
  readonly label: string
  readonly id: string | undefined
  readonly url: string
  readonly query: URLSearchParams
}

/** Reads a request; what is not as Paddle documents it goes to the account's faults. */
export function understand(account: Account, asked: AskedRequest): Understood | undefined {
  const target = new URL(asked.target, `http://${asked.headers.host}`)
  const [, collection = '', id, part, partId] = target.pathname.split('/')
  const whose = id === undefined ? '' : '/id'
  const what = part === undefined ? '' : `/${part}${partId === undefined ? '' : '/id'}`
  const label = `${asked.method} /${collection}${whose}${what}`
  const url = `${target.origin}${target.pathname}`
  const found = routes[label]
  if (found !== undefined) {
    return found({ account, asked, label, id, url, query: target.searchParams })
  }
  account.faults.push(`${asked.method} ${asked.target}: there is no such request`)
  return undefined
}

type Rest = Partial<Omit<Understood, 'asking'>>

const forbidden = problem(403, 'forbidden')
const notFound = problem(404, 'not_found')

function understood(asking: Asking, perform: () => StandInReply, rest: Rest = {}): Understood {
  return { asking, perform, refusal: forbidden, ...rest }
}

function withBody<Body>(
  { account, asked, label }: Parts,
  schema: z.ZodType<Body>,
  perform: (body: Body) => StandInReply,
): StandInReply {
  const parsed = schema.safeParse(jsonOf(asked))
  if (parsed.success) return perform(parsed.data)
  account.faults.push(`${label}: ${z.prettifyError(parsed.error)}`)
  return problem(400, 'invalid_field')
}

function jsonOf({ body }: AskedRequest): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

interface ListRules {
  readonly most: number
  /** Query parameters besides those of every list. */
  readonly also?: readonly string[]
  readonly idField?: string
}

function listed(parts: Parts, entities: readonly object[], rules: ListRules): StandInReply {
  const { account, label, url, query } = parts
  const { most, also = [], ...more } = rules
  const known = new Set(['after', 'order_by', 'per_page', ...also])
  const strange = [...query.keys()].filter((name) => !known.has(name))
  if (strange.length > 0) account.faults.push(`${label}: there is no ${strange.join(', ')}`)
  if (Number(query.get('per_page') ?? 1) > most) {
    account.faults.push(`${label}: a page has ${most} at most`)
  }
  const mostPerPage = Math.min(most, account.pageLimit)
  return page(entities, { url, query, mostPerPage, ...more })
}

const anothers = ({ account }: Parts): Rest => ({
  wrong: () => entity(renderTransaction(stranger(account))),
})

const routes: Readonly<Record<string, (parts: Parts) => Understood>> = {
  'POST /transactions': (parts) =>
    understood(
      'checkout',
      () => withBody(parts, newTransaction, (body) => openTransaction(parts.account, body)),
      { ...anothers(parts), refusal: problem(400, 'transaction_default_checkout_url_not_set') },
    ),
  'GET /transactions/id': (parts) =>
    understood(
      'poll',
      () => {
        const found = parts.account.transactions.find(({ id }) => id === parts.id)
        return found === undefined ? notFound : entity(renderTransaction(found))
      },
      anothers(parts),
    ),
  'GET /transactions': (parts) => {
    const also = ['created_at[GTE]', 'created_at[LTE]', 'id', 'origin', 'subscription_id']
    const rules = { most: 30, also }
    const isOfSubscription = parts.query.has('subscription_id')
    const namesThem = isOfSubscription || parts.query.has('id')
    return understood(
      isOfSubscription ? 'subscription' : 'poll',
      () => {
        const found = parts.account.transactions.filter(isAskedFor(parts.query))
        return listed(parts, found.map(renderTransaction), rules)
      },
      namesThem
        ? { wrong: () => listed(parts, [renderTransaction(stranger(parts.account))], rules) }
        : {},
    )
  },
  'PATCH /transactions/id': (parts) =>
    understood(
      'close',
      () => withBody(parts, cancelation, () => cancelTransaction(parts.account, parts.id)),
      anothers(parts),
    ),
  'POST /adjustments': (parts) =>
    understood(
      'refund',
      () => withBody(parts, newAdjustment, (body) => requestRefund(parts.account, body)),
      {
        wrong: () => entity(renderAdjustment(strangeRefund(parts.account))),
        refusal: problem(400, 'adjustment_pending_refund_request'),
      },
    ),
  'GET /adjustments': (parts) => {
    const id = parts.query.get('transaction_id')
    const rules = { most: 50, also: ['transaction_id'] }
    const all = () => parts.account.adjustments.filter(({ transaction }) => transaction.id === id)
    return understood('poll', () => listed(parts, all().map(renderAdjustment), rules), {
      wrong: () => listed(parts, [renderAdjustment(strangeRefund(parts.account))], rules),
    })
  },
  'GET /events': (parts) => {
    const types = parts.query.get('event_type')?.split(',')
    const rules = { most: 200, also: ['event_type'], idField: 'event_id' }
    return understood('events', () => {
      const all = parts.account.events.filter((one) => types?.includes(one.event_type) ?? true)
      return listed(parts, all, rules)
    })
  },
  'GET /notification-settings': (parts) =>
    understood('endpoints', () => {
      const all = [...parts.account.endpoints.values()]
      return listed(parts, all.map(renderEndpoint), { most: 200 })
    }),
  'POST /notification-settings': (parts) =>
    understood('endpoints', () =>
      withBody(parts, newEndpoint, (made) => {
        const { endpoints, newId } = parts.account
        const active = [...endpoints.values()].filter((one) => one.active)
        if (active.length >= 10) return problem(400, 'notification_maximum_active_settings_reached')
        const id = newId('ntfset')
        const endpoint_secret_key = `pdl_${id}_s+c/t`
        return saved(parts.account, { ...made, id, active: true, endpoint_secret_key }, 201)
      }),
    ),
  'PATCH /notification-settings/id': (parts) =>
    understood('endpoints', () =>
      withBody(parts, changedEndpoint, (changes) => {
        const found = parts.account.endpoints.get(parts.id ?? '')
        if (found === undefined) return notFound
        const given = Object.entries(changes).filter(([, value]) => value !== undefined)
        return saved(parts.account, { ...found, ...Object.fromEntries(given) })
      }),
    ),
  'DELETE /notification-settings/id': (parts) =>
    understood('endpoints', () => {
      const isGone = parts.account.endpoints.delete(parts.id ?? '')
      return isGone ? { status: 204, body: '' } : notFound
    }),
  'DELETE /customers/id/payment-methods/id': ({ account, url }) =>
    understood('remove', () => {
      const [, , customer = '', , method = ''] = new URL(url).pathname.split('/')
      const isGone = account.removed.has(method)
      if (isGone || !customer.startsWith('ctm_') || !method.startsWith('paymtd_')) return notFound
      account.removed.add(method)
      return { status: 204, body: '' }
    }),
  'GET /subscriptions/id': (parts) => {
    const includes = parts.query.get('include')
    return understood(
      includes === null ? 'look_up' : 'subscription',
      () => {
        const held = parts.account.subscriptions.find(({ id }) => id === parts.id)
        return held === undefined ? noSubscription : replyOf(held, includes)
      },
      anotherSubscription(parts),
    )
  },
  'PATCH /subscriptions/id': (parts) =>
    understood(
      'wish',
      () => withBody(parts, takingBack, () => takenBack(parts.account, parts.id)),
      anotherSubscription(parts),
    ),
  'POST /subscriptions/id/cancel': (parts) =>
    understood(
      'wish',
      () => withBody(parts, cancelWish, (wish) => cancelWished(parts.account, parts.id, wish)),
      anotherSubscription(parts),
    ),
  'POST /subscriptions/id/pause': (parts) =>
    understood(
      'wish',
      () => withBody(parts, pauseWish, (wish) => pauseWished(parts.account, parts.id, wish)),
      anotherSubscription(parts),
    ),
  'POST /subscriptions/id/resume': (parts) =>
    understood(
      'wish',
      () => withBody(parts, resumeWish, (wish) => resumeWished(parts.account, parts.id, wish)),
      anotherSubscription(parts),
    ),
  'GET /customers/id': () => understood('look_up', () => notFound),
}

const anotherSubscription = ({ account }: Parts): Rest => ({
  wrong: () => strangeSubscription(account, stranger(account)),
})

function isAskedFor(query: URLSearchParams): (one: HeldTransaction) => boolean {
  const from = query.get('created_at[GTE]') ?? ''
  const to = query.get('created_at[LTE]') ?? '9'
  const origins = query.get('origin')?.split(',')
  const subscription = query.get('subscription_id')
  const ids = query.get('id')?.split(',')
  return ({ id, createdAt, origin = 'api', subscriptionId }) =>
    (ids?.includes(id) ?? true) &&
    createdAt >= from &&
    createdAt <= to &&
    (origins?.includes(origin) ?? true) &&
    (subscription === null || subscriptionId === subscription)
}

function saved({ endpoints }: Account, endpoint: Endpoint, status = 200): StandInReply {
  endpoints.set(endpoint.id, endpoint)
  return entity(renderEndpoint(endpoint), status)
}

/** Names are sent, objects come back. */
function renderEndpoint(endpoint: Endpoint): object {
  const events = endpoint.subscribed_events.map((name) => ({
    name,
    description: `Occurs when ${name}.`,
    group: 'Any',
    available_versions: [1],
  }))
  return { ...endpoint, include_sensitive_fields: false, subscribed_events: events }
}
