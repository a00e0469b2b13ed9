import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { reasons } from '../../src/payments/reasons.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { consolePath, visiting, type Visitor } from './visitor.ts'

onAnyDatabase((engine) => {
  describe('the reviews in the console', () => {
    let billing: StatedBilling
    let olena: Visitor
    let petro: Visitor
    before(async () => {
      billing = await openStated(engine)
      const as = visiting(billing.core)
      olena = as('olena')
      petro = as('petro')
    })
    after(() => billing.close())

    /** Of money that does not fit its payment. */
    const reviewed = async () => {
      const payment = await billing.create()
      const call = await billing.say({
        ...paid(payment),
        amount: 9_900n,
        providerReference: `pi_${payment.id}`,
      })
      const [review] = (await billing.core.reviews.list({ paymentId: payment.id })).data
      assert.ok(review)
      return { payment, call, review, at: `/reviews/${review.id}` }
    }

    test('say that nothing needs a person, where that is so', async () => {
      const { text, html } = await olena.open('/reviews')
      assert.match(text, /Nothing needs a person\./)
      assert.match(html, /<option value="open" selected>/)
      assert.match((await olena.open('/reviews?gateway=fake')).text, /There is no such review/)
    })

    test('are listed in words with the money that was stated, the open ones by default', async () => {
      const { payment, review } = await reviewed()
      const { text, html } = await olena.open('/reviews')
      assert.match(text, /\$99\.00/)
      // In the words alone, which mask what may be the number of a card.
      assert.equal(text.split(`pi_${payment.id}`).length, 2)
      assert.ok(html.includes(`${consolePath}/payments/${payment.id}`))
      const has = async (query: string) =>
        (await olena.open(`/reviews?${query}`)).html.includes(`/reviews/${review.id}"`)
      assert.equal(await has('reason=amount_mismatch&gateway=stating'), true)
      assert.equal(await has('reason=over_refund'), false)
      assert.equal(await has('state=handled'), false)
      assert.equal(await has('state='), true)
      assert.equal(await has(`payment=${payment.id}`), true)
      assert.equal(await has('payment=42'), false)
    })

    test('show what was stated and expected, the payment, and the callbacks of it', async () => {
      const { payment, call, at } = await reviewed()
      const { text, html } = await olena.open(at)
      assert.match(text, /the payment stays as it was/)
      assert.ok(text.includes(reasons.amount_mismatch.step))
      assert.match(text, /Stated \$99\.00/)
      assert.match(text, /Expected \$100\.00/)
      assert.ok(text.includes(`pi_${payment.id}`))
      assert.ok(html.includes(`${consolePath}/payments/${payment.id}`))
      assert.ok(html.includes(`${consolePath}/calls/${call.id}`))
      assert.ok(text.includes(reasons.amount_mismatch.callback ?? ''))
      const { text: ofCall } = await olena.open(`/calls/${call.id}`)
      assert.ok(ofCall.includes(reasons.amount_mismatch.step))
      for (const path of [newUuid(), '42', `${newUuid()}/handle`]) {
        assert.equal((await olena.open(`/reviews/${path}`)).status, 404)
      }
    })

    test('are handled with a note, by whoever is signed in and not by whom the form names', async () => {
      const { review, call, at } = await reviewed()
      const note = 'refunded <b>by hand</b>\r\nat the provider'
      const answer = await olena.submit(`${at}/handle`, { note, operator: 'somebody' })
      assert.deepEqual(
        [answer.status, answer.headers.get('location')],
        [303, `${consolePath}${at}?done=handled`],
      )
      const handled = await billing.core.reviews.get(review.id)
      assert.deepEqual(
        [handled?.state, handled?.operator, handled?.note],
        ['handled', 'olena', 'refunded <b>by hand</b> at the provider'],
      )
      assert.equal((await billing.core.calls.get(call.id))?.needsReview, false)
      const page = await olena.open(at)
      assert.match(page.text, /Handled\. By olena ,/)
      assert.match(page.html, /&lt;b&gt;by hand/)
      assert.match(page.text, /olena handleReview done/)
      const [action] = (await billing.core.operators.actions()).data
      assert.deepEqual(action?.detail, { note: 'refunded <b>by hand</b> at the provider' })
      assert.ok(!page.html.includes(`${at}/handle`))
      const listed = await olena.open('/reviews?state=handled')
      assert.ok(listed.html.includes(at))
    })

    test('are not handled without a note', async () => {
      const { review, at } = await reviewed()
      const answer = await olena.submit(`${at}/handle`, { note: ' \n ' })
      assert.equal(answer.status, 422)
      assert.match(answer.text, /note/)
      assert.equal((await billing.core.reviews.get(review.id))?.state, 'open')
    })

    test('are handled by one of two operators; the other one reads by whom', async () => {
      const { review, at } = await reviewed()
      const [first, second] = [
        await olena.hidden(`${at}/handle`),
        await petro.hidden(`${at}/handle`),
      ]
      first.set('note', 'refunded')
      second.set('note', 'delivered')
      const answers = await Promise.all([
        olena.send(`${at}/handle`, first),
        petro.send(`${at}/handle`, second),
      ])
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([303, 409]))
      const { operator } = (await billing.core.reviews.get(review.id)) ?? {}
      const loser = answers.find(({ status }) => status === 409)
      assert.match(loser?.text ?? '', new RegExp(`was handled by ${operator} already`))
      const again = await olena.send(`${at}/handle`, first)
      assert.match(again.headers.get('location') ?? '', /done=already/)
    })

    test('that have changed since the form was opened are not handled by it', async () => {
      const { review, at } = await reviewed()
      for (const version of ['7', 'x', '-1', '1.5']) {
        const answer = await olena.submit(`${at}/handle`, { note: 'seen', version })
        assert.ok([409, 422].includes(answer.status), version)
      }
      assert.equal((await billing.core.reviews.get(review.id))?.state, 'open')
    })
  })
})
