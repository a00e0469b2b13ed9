import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { PollReply } from '../../src/gateways/operations.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { openMoney, type MoneyBilling } from '../money/money-billing.ts'
import { providers } from '../money/providers.ts'
import type { ApiObject, Rewording } from '../providers/provider-stand-in.ts'
import { onPostgres } from '../support/databases.ts'

// Every gateway that can be asked is held to it: whatever its provider may say of a paid object one
// day, in words that we do not know, never reads as an end without money.

const unknownWords: readonly unknown[] = ['something_new', '', null, 7, [], {}]

const month = 31 * 24

for (const [name, start] of providers) {
  onPostgres((engine) => {
    describe(name, () => {
      let billing: MoneyBilling
      before(async () => {
        billing = await openMoney(engine, await start())
      })
      after(async () => {
        await billing.close()
        await billing.provider.close()
      })
      const createPaid = async () => {
        const payment = await billing.createOpened()
        billing.provider.pay(payment.id)
        return payment
      }

      /** Fields of a paid object that decide: worded otherwise, they make another answer. */
      const decidingFields = async (payment: Payment) => {
        const usual = await ask(billing, payment)
        const found: (readonly string[])[] = []
        for (const path of pathsIn(await wordingOf(billing, payment))) {
          billing.provider.reword(changing(path, 'something_new'))
          if (!isDeepStrictEqual(await ask(billing, payment), usual)) found.push(path)
        }
        billing.provider.reword()
        return found
      }

      const createLate = async () => {
        const payment = await createPaid()
        await billing.pass(payment, month)
        return billing.details(payment)
      }

      /** As the provider words it, it is paid, once; of a sum that went back, it may say more. */
      const assertPaid = async (payment: Payment) => {
        billing.provider.reword()
        await billing.core.payments.poll(payment.id)
        assert.equal((await billing.details(payment)).status, 'paid')
        const events = await billing.events(payment)
        assert.deepEqual(
          events.filter((one) => one !== 'PaymentRefunded'),
          ['PaymentSucceeded'],
        )
      }

      test(`${name}: a paid object with another word in any field that decides cancels nothing, ever`, async () => {
        let payment = await createLate()
        const fields = await decidingFields(payment)
        assert.ok(fields.some((path) => path.at(-1)?.toLowerCase().includes('status')))
        // What follows from a reply follows from it whichever word has made it.
        const known: (PollReply | undefined)[] = []
        for (const path of fields) {
          for (const word of unknownWords) {
            const what = `${path.join('.')} ${JSON.stringify(word)}`
            billing.provider.reword(changing(path, word))
            const reply = await ask(billing, payment)
            if (reply !== undefined) assertReadsAsNoEnd(reply, what)
            if (known.some((one) => isDeepStrictEqual(one, reply))) continue
            known.push(reply)
            if ((await pollUnlost(billing, payment, what)) === 'pending') continue
            await assertPaid(payment)
            payment = await createLate()
          }
        }
        await assertPaid(payment)
      })

      test(`${name}: whatever is changed in a paid object, it never reads as unpaid`, async () => {
        const payment = await billing.details(await createPaid())
        const paths = pathsIn(await wordingOf(billing, payment))
        assert.ok(paths.length > 5)
        for (const path of paths) {
          for (const word of ['something_new', null]) {
            billing.provider.reword(changing(path, word))
            const reply = await ask(billing, payment)
            if (reply !== undefined) assertReadsAsNoEnd(reply, `${path.join('.')} ${word}`)
          }
        }
        billing.provider.reword()
      })
    })
  })
}

/** Its status then: a payment that is not paid waits for a person. */
async function pollUnlost(billing: MoneyBilling, payment: Payment, what: string) {
  await billing.core.payments.poll(payment.id).catch((error: unknown) => {
    assert.ok(isQuittanceError(error), String(error))
  })
  const { status, pollError } = await billing.details(payment)
  assert.match(status, /^(?:pending|paid)$/, what)
  if (status === 'pending') assert.notEqual(pollError, null, what)
  return status
}

/** Undefined where the gateway refuses to read the reply: then nothing follows from it at all. */
async function ask({ provider }: MoneyBilling, payment: Payment): Promise<PollReply | undefined> {
  const now = new Date(payment.createdAt.getTime() + month * 3_600_000)
  const expired = { ...payment, expiresAt: payment.createdAt }
  const { config } = provider
  const credentials = readCredentials(provider.gateway, {}, { production: false, config })
  const context = { credentials, log: silentLog, signal: AbortSignal.timeout(60_000), now }
  try {
    return await provider.gateway.poll?.({ payment: expired, handedAt: payment.createdAt }, context)
  } catch (error) {
    assert.ok(isQuittanceError(error), String(error))
    return undefined
  }
}

function assertReadsAsNoEnd({ standing, outcomes }: PollReply, what: string): void {
  assert.match(standing, /^(?:paid|undecided|unclear)$/, what)
  for (const outcome of outcomes) {
    assert.ok(outcome.type !== 'payment' || outcome.status === 'paid', what)
  }
}

/** The object as the provider words it. */
async function wordingOf(billing: MoneyBilling, payment: Payment): Promise<ApiObject> {
  let found: ApiObject | undefined
  billing.provider.reword((object) => {
    found ??= object
    return object
  })
  await ask(billing, payment)
  billing.provider.reword()
  assert.ok(found)
  return found
}

/** Every field, also those of what is within. */
function pathsIn(value: unknown, depth = 0): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null || depth > 2) return []
  return Object.entries(value).flatMap(([name, inner]) => [
    [name],
    ...pathsIn(inner, depth + 1).map((path) => [name, ...path]),
  ])
}

function changing(path: readonly string[], word: unknown): Rewording {
  return (object) => {
    const copy = structuredClone(object)
    let within: Record<string, unknown> = copy
    for (const name of path.slice(0, -1)) within = within[name] as Record<string, unknown>
    within[path.at(-1) ?? ''] = word
    return copy
  }
}
