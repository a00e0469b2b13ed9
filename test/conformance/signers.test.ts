import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'
import type { Gateway, SignInput } from '../../src/gateways/gateway.ts'
import { assertNever } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Outcome, PaymentOutcome } from '../../src/payments/outcome.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { nobody, signInput } from '../providers/kit.ts'

// What the test callbacks of every gateway make of a payment. What becomes of each scenario:
// gateways.test.ts. Only the fake gateway knows nothing of ids, accounts and modes.

type Payment = Partial<SignInput['payment']>

const paymentId = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01'
const otherId = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e02'

function credentialsOf(gateway: Gateway, owner = 'merchant') {
  const config = { ...testCredentials(gateway, owner), ...nobody(gateway) }
  return readCredentials(gateway, {}, { production: false, config })
}

function bodyOf(gateway: Gateway, scenario: string, payment: Payment) {
  const credentials = credentialsOf(gateway)
  const signed = gateway.signer?.sign(signInput(credentials, { scenario, payment }))
  assert.ok(signed)
  assert.ok(signed.headers['content-type'], 'it says what it is')
  return signed
}

async function outcomesOf(
  gateway: Gateway,
  scenario: string,
  payment: Payment,
): Promise<readonly Outcome[]> {
  const { headers, body } = bodyOf(gateway, scenario, payment)
  const context = {
    credentials: credentialsOf(gateway),
    log: silentLog,
    signal: AbortSignal.timeout(60_000),
  }
  const payload = gateway.parse({ headers, body: Buffer.from(body) })
  return gateway.interpret(payload, context)
}

async function paidOf(gateway: Gateway, payment: Payment): Promise<PaymentOutcome> {
  const [outcome] = await outcomesOf(gateway, 'paid', payment)
  assert.ok(outcome?.type === 'payment' && outcome.status === 'paid')
  return outcome
}

/** Under what each thing is named: a refund is one thing by its amount. */
function namesIn(outcome: Outcome): Readonly<Record<string, string | undefined>> {
  switch (outcome.type) {
    case 'payment': {
      // A renewal is a charge of its own.
      const { renews, payment, checkoutReference, providerReference } = outcome
      return renews === undefined ? { checkoutReference, providerReference, ...payment } : {}
    }
    case 'refund': {
      if ('refundedTotal' in outcome) return { ...outcome.payment }
      return { ...outcome.payment, [`refund of ${outcome.amount}`]: outcome.refundReference }
    }
    case 'dispute':
      return { ...outcome.payment }
    case 'payment_method':
      return { card: outcome.reference, customer: outcome.customerReference }
    case 'subscription':
    case 'invoice':
    case 'ignored':
      return {}
    default:
      return assertNever(outcome)
  }
}

/** The names of everything that the scenarios of a payment name; nobody is asked for more. */
async function namesOf(gateway: Gateway, id: string): Promise<ReadonlyMap<string, Set<string>>> {
  const found = new Map<string, Set<string>>()
  for (const [scenario, { means }] of Object.entries(gateway.signer?.scenarios ?? {})) {
    if (means === 'looked up') continue
    for (const outcome of await outcomesOf(gateway, scenario, { id })) {
      for (const [what, name] of Object.entries(namesIn(outcome))) {
        if (name === undefined) continue
        // An id that says what it is of is another one than that of another kind.
        const kind = `${what} ${/^[a-z]+_/.exec(name)?.[0] ?? ''}`
        found.set(kind, (found.get(kind) ?? new Set<string>()).add(name))
      }
    }
  }
  return found
}

/** Where a provider writes fewer digits. */
const largest: Readonly<Record<string, bigint>> = {
  liqpay: 999_999_999_999_999n,
  wayforpay: 999_999_999_999_999n,
}

for (const gateway of builtin.filter(({ verification }) => verification === 'signature')) {
  const { name } = gateway
  describe(name, () => {
    test(`${name}: all callbacks about a payment give a thing one name, and each its own`, async () => {
      const names = await namesOf(gateway, paymentId)
      for (const [what, ofIt] of names) assert.equal(ofIt.size, 1, what)
      const all = [...names.values()].flatMap((ofIt) => [...ofIt])
      const others = [...(await namesOf(gateway, otherId)).values()].flatMap((ofIt) => [...ofIt])
      assert.ok(all.length > 0)
      assert.equal(new Set([...all, ...others]).size, all.length + others.length)
    })

    test(`${name}: references, account and mode are those of the payment, where it has them`, async () => {
      const { checkoutReference = null, providerReference = null } = await paidOf(gateway, {
        id: otherId,
      })
      const { merchantAccount, live: itsMode } = gateway.account(credentialsOf(gateway, 'stranger'))
      for (const live of itsMode === null ? [true, false] : [itsMode]) {
        const fields = { checkoutReference, providerReference, merchantAccount, live }
        const paid = await paidOf(gateway, { id: paymentId, ...fields })
        assert.equal(paid.checkoutReference ?? null, checkoutReference)
        assert.equal(paid.providerReference ?? null, providerReference)
        assert.equal(paid.merchantAccount ?? null, merchantAccount)
        if (paid.live !== undefined) assert.equal(paid.live, live)
      }
    })

    test(`${name}: the smallest amount and the largest are written exactly`, async () => {
      for (const amount of [1n, largest[name] ?? 9_007_199_254_740_991n]) {
        assert.equal((await paidOf(gateway, { amount })).amount, amount)
      }
    })
  })
}
