import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import type { StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { until } from '../support/until.ts'

/** Two of each noun; the ids of the newer ones. */
export interface NounWorld {
  readonly payment: string
  readonly call: string
  readonly event: string
  readonly invoice: string
  readonly subscription: string
  readonly review: string
  readonly card: string
  /** The payment that is to be reviewed. */
  readonly doubtful: string
}

const shelf = { payable: { type: 'order', id: 'shelf' }, customer: { email: 'payer@example.com' } }

/** Twice the same; what the second one made. */
async function twice<T>(make: (turn: number) => Promise<T>): Promise<T> {
  await make(1)
  return make(2)
}

export async function fillNouns(billing: StatedBilling): Promise<NounWorld> {
  const { core, database } = billing
  const save = async (gateway: string, payment: string | null = null) => {
    const id = newUuid()
    const reference = gateway === 'fake' ? `fake_card_good_${id}` : `pm_${id}`
    await sql`
      insert into billing.payment_methods (id, gateway, live, status, provider_reference, payment_id,
        brand, last_four)
      values (${id}::uuid, ${gateway}, false, 'attached', ${reference}, ${payment}::uuid, 'visa',
        '4242')`.execute(database.db)
    return id
  }
  const { subscription } = await twice(async () =>
    core.subscriptions.create({
      gateway: 'fake',
      amount: 19_900,
      currency: 'UAH',
      every: '3 months',
      payable: { type: 'account', id: '7' },
      paymentMethodId: await save('fake'),
    }),
  )
  const invoice = await twice(async () => {
    const owed = await billing.create({ payable: { type: 'order', id: 'owed' } })
    return core.invoices.issue(owed.id, { buyer: { name: '=1+1' } })
  })
  const doubtful = await twice(async (turn) => {
    const payment = await billing.create()
    await billing.say({ ...paid(payment), amount: 9_900n, providerReference: `pi_${turn}` })
    return payment.id
  })
  const { payment, call } = await twice(async () => {
    const made = await billing.create(shelf)
    return { payment: made.id, call: (await billing.say(paid(made))).id }
  })
  const card = await twice(() => save('stating', payment))
  const eventOf = async () => (await core.events.list({ paymentId: payment })).data[0]
  await until(async () => (await eventOf())?.position != null, { what: 'its event is in the feed' })
  const [review] = (await core.reviews.list({ paymentId: doubtful })).data
  const event = (await eventOf())?.id ?? ''
  const ids = { payment, call, event, invoice: invoice.id, subscription: subscription.id }
  return { ...ids, review: review?.id ?? '', card, doubtful }
}
