import { Hono, type Context } from 'hono'
import type { SubscriptionBill } from '../../money/subscription-bill.ts'
import { isQuittanceError, type ErrorCode } from '../../kernel/errors.ts'
import { withUuid } from '../../kernel/uuid.ts'
import { message } from '../../intake/responses.ts'
import { readBody } from '../read-body.ts'
import { onlyAllow, respond } from '../respond.ts'
import { isSameOrigin } from '../same-origin.ts'
import { shareLooks } from '../share-looks.ts'
import { excessOver } from '../throttle.ts'
import { seeOther } from './layout.ts'
import { lookOf, type Look } from './look.ts'
import { managedPage } from './managed-view.ts'
import { payPath, type PageContext } from './page-context.ts'
import {
  billPage,
  leadsNowhere,
  notOpenedPage,
  unknownSubscriptionPage,
} from './subscription-view.ts'

/** Where the pay page of a subscription is. */
export const subscriptionPages = '/billing/subscriptions'

const crossSite = message(403, 'this form must be sent from its own page')
const largestFormBytes = 1024

/**
 * `/billing/subscriptions/{id}/pay`: what is owed of a subscription, and the way to pay it. To open
 * it makes nothing: scanners of mail open every link. Only its button opens a checkout, and while
 * there is one, leads to that.
 */
export function subscriptionPage(context: PageContext): Hono {
  const { core } = context
  const app = new Hono()
  const find = shareLooks((id) => core.subscriptions.bill(id))
  const billOf = async (c: Context) => withUuid(c.req.param('id'), find)
  // Each makes one payment at most that can be paid; what is left over are closed ones.
  const excessOf = excessOver('10 per minute')
  app.get('/:id/pay', async (c) => {
    const bill = await billOf(c)
    const look = lookOf(core, c, bill?.subscription)
    return bill === undefined ? unknownSubscriptionPage(look) : shown(bill, context, look)
  })
  app.post('/:id/pay', async (c) => {
    if (!isSameOrigin(c, core.origin)) return respond(crossSite)
    await readBody(c, largestFormBytes)
    const bill = await billOf(c)
    const look = lookOf(core, c, bill?.subscription)
    if (bill === undefined) return unknownSubscriptionPage(look)
    return (await excessOf(bill.subscription.id)) ?? pay(bill, context, look)
  })
  app.all('/:id/pay', onlyAllow('GET, HEAD, POST'))
  return app
}

function shown(bill: SubscriptionBill, { core }: PageContext, look: Look) {
  const { gateway, managedBy } = bill.subscription
  const gatewayTitle = core.gateways()[gateway]?.title ?? gateway
  if (managedBy === 'provider') return managedPage(bill, { gatewayTitle, look })
  return billPage(bill, { gatewayTitle, isHttps: core.origin.startsWith('https:') }, look)
}

/** The page says it itself by the time that it is shown again. */
const outOfDate: ReadonlySet<ErrorCode> = new Set([
  'renewal_under_way',
  'subscription_ended',
  'subscription_invalid',
])

async function pay(
  { subscription, live }: SubscriptionBill,
  { core }: PageContext,
  look: Look,
): Promise<Response> {
  const { query } = look.language
  // Its page has no button: what there is to pay is a link.
  if (subscription.managedBy === 'provider') return seeOther(payPathOf(subscription.id) + query)
  try {
    const payment = await core.subscriptions.pay(subscription.id)
    const target = leadsNowhere(payment) ? payPathOf(subscription.id) : payPath(payment)
    return seeOther(target + query)
  } catch (error) {
    if (!isQuittanceError(error)) throw error
    // A page that has ended is not closed yet: what is shown would be the same button again.
    const isEnded = error.code === 'renewal_under_way' && live?.paymentMethodId === null
    if (isEnded) return notOpenedPage(subscription, 'not_answered', look)
    if (outOfDate.has(error.code)) return seeOther(payPathOf(subscription.id) + query)
    if (error.code === 'checkout_unknown') return notOpenedPage(subscription, 'not_answered', look)
    if (error.code === 'checkout_refused') return notOpenedPage(subscription, 'refused', look)
    throw error
  }
}

function payPathOf(id: string): string {
  return `${subscriptionPages}/${id}/pay`
}
