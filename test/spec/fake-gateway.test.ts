import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { onAnyDatabase } from '../support/databases.ts'
import { ok, startSpec, type SpecService } from './spec-service.ts'

onAnyDatabase((engine) => {
  let service: SpecService
  before(async () => {
    service = await startSpec(engine)
  })
  after(() => service[Symbol.asyncDispose]())
  const json = { 'content-type': 'application/json' }

  describe('Fake gateway request', () => {
    for (const [result, status, event] of [
      ['success', 'paid', 'PaymentSucceeded'],
      ['failure', 'failed', 'PaymentFailed'],
    ] as const) {
      test(`result ${result}: stored, queued, deduplicated; the payment becomes ${status}, ${event}`, async () => {
        const payment = await service.create()
        for (let delivery = 0; delivery < 2; delivery += 1) {
          const reply = await service.fake(payment.id, result)
          assert.deepEqual([reply.status, reply.body], [200, ok])
          const call = await service.lastCall()
          assert.equal(call.gateway, 'fake')
          assert.deepEqual(call.payload, { payment_id: payment.id, result })
          assert.equal(call.outcome?.[0]?.result, delivery === 0 ? 'applied' : 'duplicate')
        }
        const after = await service.payment(payment.id)
        assert.equal(after.status, status)
        assert.deepEqual(
          after.events.map(({ type, dedup_key }) => [type, dedup_key]),
          [[event, `payment:${status}:${payment.id}`]],
        )
      })
    }

    const id = randomUUID()
    const refused: readonly (readonly [string, string, string])[] = [
      ['payment_id is required', JSON.stringify({ result: 'success' }), 'payment_id'],
      ...[null, 42, true, [id], { id }].map(
        (payment_id) =>
          [
            `168: payment_id ${JSON.stringify(payment_id)} is no string`,
            JSON.stringify({ payment_id, result: 'success' }),
            'payment_id',
          ] as const,
      ),
      ['result is required', JSON.stringify({ payment_id: id }), 'result'],
      ...['SUCCESS', true, ['success'], 'success\n', 'paid', '', null].map(
        (result) =>
          [
            `167: result ${JSON.stringify(result)} is not allowed`,
            JSON.stringify({ payment_id: id, result }),
            'result',
          ] as const,
      ),
      ['171: a form is no JSON', `payment_id=${id}&result=success`, 'body'],
      ['a key given twice', `{"payment_id":"${id}","result":"failure","result":"success"}`, 'body'],
    ]
    for (const [what, body, field] of refused) {
      test(`${what}: 422 names ${field}, nothing stored`, async () => {
        const before = await service.countCalls()
        const reply = await service.post('fake', body, json)
        const message = `${field} is missing or not allowed`
        assert.deepEqual([reply.status, reply.body], [422, { message }])
        assert.equal(await service.countCalls(), before)
      })
    }

    test('171: the content type is no matter, consistently', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'image/png']) {
        const payment = await service.create()
        const body = JSON.stringify({ payment_id: payment.id, result: 'success' })
        const reply = await service.post('fake', body, { 'content-type': type })
        assert.equal(reply.status, 200, type)
        await service.lastCall()
        assert.equal((await service.payment(payment.id)).status, 'paid', type)
      }
    })

    for (const [what, reference, reason] of [
      ['168: a payment_id that is no UUID', 'not-a-uuid', 'invalid_reference'],
      ['170: an unknown UUID', randomUUID(), 'unknown_payment'],
    ] as const) {
      test(`${what}: 200 Ignored ${reason}`, async () => {
        assert.equal((await service.fake(reference, 'success')).status, 200)
        const call = await service.lastCall()
        assert.deepEqual([call.state, call.outcome?.[0]?.reason], ['ignored', reason])
      })
    }

    test('169: the payment of a real gateway: 200 Ignored gateway_mismatch, no change', async () => {
      for (const result of ['success', 'failure'] as const) {
        const payment = await service.create({ gateway: 'stripe' })
        assert.equal((await service.fake(payment.id, result)).status, 200)
        const call = await service.lastCall()
        assert.equal(call.outcome?.[0]?.reason, 'gateway_mismatch')
        const after = await service.payment(payment.id)
        assert.deepEqual([after.status, after.events, after.transitions], ['pending', [], []])
      }
    })
  })
})
