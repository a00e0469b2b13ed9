import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { onlyOpens, openScripted } from '../money/scripted.ts'
import { idle, newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { paid } from '../support/statements.ts'
import { consolePath, visiting, type Visitor } from './visitor.ts'

const hostile = '<script>alert(1)</script>"onmouseover=x \u202e4242424242424242'

onAnyDatabase((engine) => {
  describe('the pages of payments', () => {
    let billing: TestBilling
    let olena: Visitor
    before(async () => {
      billing = await openBilling(engine)
      olena = visiting(billing.core)('olena')
    })
    after(() => billing.close())

    const paidPayment = async () => {
      const { id } = await newPayment(billing.core)
      await sendFake(billing.core, id, 'failure')
      await sendFake(billing.core, id, 'success')
      const worker = await billing.core.work()
      await idle(billing.core)
      await worker.stop()
      return id
    }

    test('are listed by filters, which are kept in the address', async () => {
      const id = await paidPayment()
      assert.ok((await olena.open('/payments?status=paid')).html.includes(`/payments/${id}"`))
      const { html, text } = await olena.open('/payments?status=failed')
      assert.ok(!html.includes(`/payments/${id}"`))
      assert.match(html, /<option value="failed" selected>/)
      assert.doesNotMatch(text, /Create a test payment/)
      const wrong = await olena.open('/payments?status=paid&payable=4711')
      assert.equal(wrong.status, 400)
      assert.match(wrong.text, /must be a type and an id, such as account:7/)
      assert.match(wrong.html, /<option value="paid" selected>/)
    })

    test('say of a paid one on every page what became of it; its status stays paid', async () => {
      const [part, whole, disputed] = [
        await paidPayment(),
        await paidPayment(),
        await paidPayment(),
      ]
      await billing.core.refunds.create(part, { amount: 250 })
      await billing.core.refunds.create(whole)
      await sql`insert into billing.disputes (id, payment_id, gateway, provider_reference, status)
        values (${newUuid()}, ${disputed}, 'fake', 'dp_1', 'open')`.execute(billing.database.db)
      const badgeOn = async (path: string, id: string) => {
        const { html } = await olena.open(path)
        const [, row] = html.split(path.includes(id) ? '<h1' : `payments/${id}"`)
        return /class="badge (\w+)">([^<]+)</
          .exec(row ?? '')
          ?.slice(1)
          .join(' ')
      }
      for (const [id, badge] of [
        [part, 'warn partly refunded'],
        [whole, 'plain refunded'],
        [disputed, 'bad disputed'],
      ] as const) {
        assert.equal(await badgeOn('/payments?status=paid', id), badge)
        assert.equal(await badgeOn(`/payments/${id}`, id), badge)
        assert.equal(await badgeOn('/search?q=order:42', id), badge)
        assert.equal((await billing.core.payments.get(id))?.status, 'paid')
      }
      assert.equal(await badgeOn('/payments?stuck=dispute_open', disputed), 'bad disputed')
    })

    test('tell one history of callbacks, moves and events, and show a kind of it alone', async () => {
      const open = await newPayment(billing.core)
      assert.match((await olena.open(`/payments/${open.id}`)).text, /Pay at http/)
      const id = await paidPayment()
      const { text, html } = await olena.open(`/payments/${id}`)
      assert.doesNotMatch(text, /Pay at/)
      assert.match(text, /created \$49\.99/)
      assert.match(text, /payment:failed: applied.*pending -> failed/)
      assert.match(text, /payment:paid: applied.*failed -> paid/)
      assert.match(text, /PaymentFailed/)
      assert.match(text, /PaymentSucceeded/)
      assert.match(html, new RegExp(`${consolePath}/calls/[\\da-f-]{36}`))
      const problems = (await olena.open(`/payments/${id}?show=problems`)).text
      assert.doesNotMatch(problems, /PaymentSucceeded/)
    })

    test('lead to the charge in the provider’s dashboard, and by a hostile reference nowhere', async () => {
      const { id } = await newPayment(billing.core)
      const at = async (reference: string, live: boolean) => {
        await sql`update billing.payments set gateway = 'stripe', live = ${live},
          provider_reference = ${reference} where id = ${id}::uuid`.execute(billing.database.db)
        return (await olena.open(`/payments/${id}`)).html
      }
      const link = (url: string) => `<a href="${url}" rel="noreferrer">Stripe dashboard</a>`
      const test = await at('pi_881', false)
      assert.ok(test.includes(link('https://dashboard.stripe.com/test/payments/pi_881')))
      const live = await at('pi_881', true)
      assert.ok(live.includes(link('https://dashboard.stripe.com/payments/pi_881')))
      const other = await at(`pi_${hostile}`, true)
      assert.doesNotMatch(other, /dashboard\.stripe|<script>|"onmouseover|\u202e/)
      assert.match(other, /pi_&lt;script/)
    })

    test('show hostile text as text, and no number of a card', async () => {
      const { id } = await newPayment(billing.core, {
        payable: { type: 'order', id: hostile.replace('\u202e', '') },
        description: hostile.replace('\u202e', ''),
        customer: { email: 'a"onmouseover=x@example.com' },
      })
      for (const path of [`/payments/${id}`, '/payments', `/search?q=${id.slice(0, 8)}`]) {
        const { html, status } = await olena.open(path)
        assert.equal(status, 200)
        assert.doesNotMatch(html, /<script>|"onmouseover|\u202e|4242424242424242/, path)
      }
    })

    test('a refund is typed, is one however often the form is sent, and is in the audit', async () => {
      const id = await paidPayment()
      const form = await olena.hidden(`/payments/${id}/refund`)
      form.set('amount', '2.50')
      form.set('reason', 'ticket 881')
      const answers = await Promise.all(
        [1, 2].map(() => olena.send(`/payments/${id}/refund`, form)),
      )
      assert.deepEqual(
        answers.map(({ status }) => status),
        [303, 303],
      )
      const [refund, ...more] = (await billing.core.payments.get(id))?.refunds ?? []
      assert.equal(refund?.amount, 250n)
      assert.equal(refund.id, form.get('id'))
      assert.deepEqual(more, [])
      const { text } = await olena.open('/audit')
      assert.match(text, /olena console refundPayment .* amount: 2\.50, reason: ticket 881/)
    })

    test('what cannot be refunded says why in its form, and nothing is done', async () => {
      const id = await paidPayment()
      for (const amount of ['0', 'all', '1000000', '1.001', '1,5', '1,000']) {
        const { status, text } = await olena.submit(`/payments/${id}/refund`, { amount })
        assert.ok(status === 409 || status === 422, `${amount}: ${status}`)
        assert.match(text, /amount|left to refund/)
      }
      assert.deepEqual((await billing.core.payments.get(id))?.refunds, [])
    })

    test('of a refund that nobody knows of, no second form is offered', async () => {
      const { billing: scripted, script } = await openScripted(engine)
      onlyOpens(script)
      const payment = await scripted.create({ gateway: 'scripted' })
      await scripted.sayBy('scripted', paid(payment))
      script.refund = () => Promise.reject(new QuittanceError('provider_unreachable', 'silent'))
      const petro = visiting(scripted.core)('petro')
      const answer = await petro.submit(`/payments/${payment.id}/refund`, { amount: '1.00' })
      assert.equal(answer.status, 303)
      const at = answer.headers.get('location') ?? ''
      assert.equal(at, `${consolePath}/payments/${payment.id}?done=unknown`)
      assert.match((await petro.open(at)).text, /nobody knows yet whether it was done/)
      assert.equal((await scripted.details(payment)).refunds.length, 1)
      await scripted.close()
    })

    test('a cancelled one says so where the operator came from', async () => {
      const { id } = await newPayment(billing.core)
      const { status, headers } = await olena.submit(`/payments/${id}/cancel`)
      assert.equal(status, 303)
      const at = headers.get('location') ?? ''
      assert.equal(at, `${consolePath}/payments/${id}?done=canceled`)
      assert.match((await olena.open(at)).text, /The payment is canceled\..*canceled/)
    })

    test('money that is stuck is listed, the longest first', async () => {
      const { id } = await newPayment(billing.core)
      assert.doesNotMatch(
        (await olena.open('/payments?stuck=checkout_unknown')).html,
        /scope="row"/,
      )
      await sql`update billing.payments set checkout = 'unknown', created_at = now() - interval '3 hours'
        where id = ${id}::uuid`.execute(billing.database.db)
      const { html, text } = await olena.open('/payments?stuck=checkout_unknown')
      assert.ok(html.includes(`/payments/${id}"`))
      assert.match(text, /3 h ago/)
    })
  })

  describe('the search of the console', () => {
    let billing: TestBilling
    let olena: Visitor
    before(async () => {
      billing = await openBilling(engine)
      olena = visiting(billing.core)('olena')
    })
    after(() => billing.close())

    test('leads to the page of an id, and lists what else is named so', async () => {
      const payment = await newPayment(billing.core, {
        payable: { type: 'order', id: '4711' },
        customer: { email: 'payer@example.com' },
      })
      const byId = await olena.open(`/search?q=${payment.id}`)
      assert.equal(byId.status, 303)
      assert.equal(byId.headers.get('location'), `${consolePath}/payments/${payment.id}`)
      const byOrder = await olena.open('/search?q=4711')
      assert.ok(byOrder.html.includes(`/payments/${payment.id}"`))
      assert.match(byOrder.text, /the id of what it is for/)
      assert.match((await olena.open('/search?q=payer@example.com')).text, /e-mail/)
      assert.match((await olena.open('/search?q=nobody')).text, /Nothing is named so\./)
      assert.match((await olena.open('/search')).text, /Any id of ours/)
    })

    test('looks inside callbacks, and says how far back', async () => {
      const { id } = await newPayment(billing.core)
      await sendFake(billing.core, id, 'success')
      const { text, html } = await olena.open(`/search/calls?text=${id}`)
      assert.match(html, new RegExp(`${consolePath}/calls/[\\da-f-]{36}`))
      assert.match(text, /Looked back to/)
    })

    test('what nobody can have meant is refused in words', async () => {
      for (const text of ['%00', 'x'.repeat(2_000)]) {
        const { status } = await olena.open(`/search?q=${text}`)
        assert.ok(status === 200 || status === 400, `${status}`)
      }
    })
  })
})
