import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { idle } from '../support/billing.ts'
import { postgres } from '../support/databases.ts'
import { startStandIn } from '../support/stand-in.ts'
import { callbackAbout, gatewayOf, type Callback } from './callbacks.ts'
import { openService, refused, settles } from './callback-service.ts'

const publicKeyOf = (owner: string) => testCredentials(gatewayOf('monobank'), owner)['public_key']
const message = (text: string) => JSON.stringify({ message: text })

/** The service with a bank that gives its key out, over HTTP; both change. */
async function openAtBank() {
  const bank = { key: publicKeyOf('old') ?? '', isDown: false }
  const standIn = await startStandIn(() =>
    bank.isDown ? { status: 503, body: {} } : { body: { key: bank.key } },
  )
  const monobank = { token: 'token_of_the_merchant', api_base: standIn.base }
  const shop = await openService(postgres, { gateways: { monobank } })
  const answerTo = async (callback: Callback) => {
    const { answer } = await shop.receive('monobank', callback)
    return [answer.status, answer.body]
  }
  const close = async () => {
    await shop[Symbol.asyncDispose]()
    await standIn.close()
  }
  return { ...shop, bank, standIn, answerTo, [Symbol.asyncDispose]: close }
}

describe("bad inputs, I: the bank's key", () => {
  test('a bank that is down: 503 and nothing stored; up again: the same callback pays', async (t) => {
    await using shop = await openAtBank()
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const payment = await shop.pay('monobank')
    const callback = callbackAbout(payment, { owner: 'old' })
    shop.bank.isDown = true
    assert.deepEqual(await shop.answerTo(callback), [503, message('temporarily unavailable')])
    assert.deepEqual((await shop.core.calls.list()).data, [])
    shop.bank.isDown = false
    t.mock.timers.setTime(Date.now() + 6_000)
    assert.deepEqual(await shop.send(payment, callback), settles)
  })

  test('a key that is replaced in the midst of garbage: asked for once a minute, then known', async (t) => {
    await using shop = await openAtBank()
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const first = await shop.pay('monobank')
    assert.deepEqual(await shop.send(first, callbackAbout(first, { owner: 'old' })), settles)
    assert.equal(shop.standIn.requests.length, 1)

    const payment = await shop.pay('monobank')
    const genuine = callbackAbout(payment, { owner: 'new' })
    const garbage = () => shop.answerTo(callbackAbout(payment, { owner: 'nobody' }))
    const flood = () => Promise.all(Array.from({ length: 50 }, garbage))
    shop.bank.key = publicKeyOf('new') ?? ''
    assert.deepEqual(await shop.send(payment, genuine), refused)
    await flood()
    assert.equal(shop.standIn.requests.length, 1)

    t.mock.timers.setTime(Date.now() + 61_000)
    const [answers, taken] = await Promise.all([flood(), shop.answerTo(genuine)])
    assert.ok(answers.every(([status, body]) => status === 403 && body === message('forbidden')))
    assert.deepEqual(taken, [200, message('ok')])
    assert.equal(shop.standIn.requests.length, 2)
    await idle(shop.core)
    assert.equal((await shop.core.payments.get(payment.id))?.status, 'paid')
    const late = await shop.pay('monobank')
    assert.deepEqual(await shop.send(late, callbackAbout(late, { owner: 'old' })), refused)
  })
})
