import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isQuittanceError, QuittanceError } from '../../src/kernel/errors.ts'
import { providers } from '../money/providers.ts'
import { failureOf } from '../providers/kit.ts'
import type { Misbehaviour } from '../providers/provider-stand-in.ts'
import { gatewayOf } from '../spec/callbacks.ts'
import { until } from '../support/until.ts'
import {
  contextOf,
  countOf,
  isIn,
  operations,
  paid,
  opened,
  pollOf,
  togetherOf,
  type Changing,
  type Prepared,
} from './prepared.ts'

// Every gateway, every operation, every way in which a provider can treat the request: what moves
// money is asked for once, and only what the provider refused is known not to be done.

/** What is known after each, and whether the provider has done it. */
const faults: readonly (readonly [Misbehaviour, code: string, done: boolean])[] = [
  ['cut', 'provider_unreachable', true],
  ['garbled', 'provider_reply_invalid', true],
  ['wrong', 'provider_reply_invalid', true],
  ['down', 'provider_unreachable', false],
  ['refuse', 'provider_refused', false],
]

/** A poll changes nothing, so that some gateways ask again after the others. */
const unreadable = faults.filter(([fault]) => fault !== 'cut' && fault !== 'down')

/** Where nobody answers, an operation ends with its signal. */
const silences: readonly (readonly [Misbehaviour, done: boolean])[] = [
  ['never', true],
  ['lost', false],
]

for (const [name, start] of providers) {
  describe(name, () => {
    for (const operation of (Object.keys(operations) as Changing[]).filter(isIn(name))) {
      for (const [fault, code, done] of faults) {
        test(`${name}: a ${operation} that is answered ${fault} was asked for once`, async (t) => {
          const provider = await start()
          t.after(() => provider.close())
          const prepared = await operations[operation](provider)
          if (fault === 'wrong' && provider.namesNothing?.includes(operation)) return
          const before = countOf(provider, operation)
          provider.misbehave(operation, fault)
          const asked = prepared.ask(contextOf(provider)).then(failedOf)
          const failure = await failureOf(asked)
          assert.equal(failure.code, code)
          assert.equal(failure.providerCode !== undefined, fault === 'refuse')
          assert.equal(countOf(provider, operation) - before, 1)
          await assertDone(prepared, done)
        })
      }

      for (const [silence, done] of silences) {
        test(`${name}: a ${operation} that is ${silence} answered ends with its signal`, async (t) => {
          const provider = await start()
          t.after(() => provider.close())
          const prepared = await operations[operation](provider)
          const before = countOf(provider, operation)
          provider.misbehave(operation, silence)
          const reason = new Error('its time is up')
          const ending = new AbortController()
          const { signal } = ending
          const context = contextOf(provider, { signal })
          const ended = assert.rejects(
            prepared.ask(context),
            (error) =>
              error === reason ||
              (isQuittanceError(error) && error.code === 'provider_unreachable'),
          )
          await until(() => countOf(provider, operation) > before, { what: 'it is asked' })
          ending.abort(reason)
          await ended
          assert.equal(countOf(provider, operation) - before, 1)
          await assertDone(prepared, done)
        })
      }

      test(`${name}: a late answer to a ${operation} is waited for`, async (t) => {
        const provider = await start()
        t.after(() => provider.close())
        const prepared = await operations[operation](provider)
        provider.misbehave(operation, 'late')
        await prepared.ask(contextOf(provider))
      })
    }

    if (gatewayOf(name).pollTogether !== undefined) {
      for (const [fault, code] of unreadable) {
        test(`${name}: a poll of several that is answered ${fault} says nothing of any`, async (t) => {
          const provider = await start()
          t.after(() => provider.close())
          const payment = await opened(provider)
          const ask = async () => togetherOf(provider, [payment], contextOf(provider))
          provider.misbehave('poll', fault)
          assert.equal((await failureOf(ask())).code, code)
          assert.deepEqual((await ask())?.get(payment.id), await pollOf(provider, payment))
        })
      }
    }

    for (const [fault, code] of unreadable) {
      test(`${name}: a poll that is answered ${fault} says nothing of the payment`, async (t) => {
        const provider = await start()
        t.after(() => provider.close())
        const payment = await paid(provider)
        provider.misbehave('poll', fault)
        const failure = await failureOf(Promise.resolve(pollOf(provider, payment)))
        assert.equal(failure.code, code)
        assert.equal((await pollOf(provider, payment))?.standing, 'paid')
      })
    }
  })
}

async function assertDone({ done, found }: Prepared, expected: boolean): Promise<void> {
  if (done !== undefined) assert.equal(done(), expected ? 1 : 0)
  if (found !== undefined) assert.equal(await found(), expected)
}

/** A refund that the provider refuses may also be an answer: it has failed. */
function failedOf(reply: unknown): unknown {
  const { status, code } = (typeof reply === 'object' && reply !== null ? reply : {}) as {
    readonly status?: unknown
    readonly code?: string
  }
  if (status !== 'failed') return reply
  throw new QuittanceError('provider_refused', 'the reply says so', { providerCode: code })
}
