import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { failureKinds } from '../../src/events/failed-attempt.ts'
import { callStates, payloadKinds } from '../../src/events/webhook-call.ts'
import { causes } from '../../src/payments/payment.ts'
import { reasons } from '../../src/payments/reasons.ts'
import {
  callStateWords,
  failureKindWords,
  outcomeInWords,
  outcomesInWords,
  payloadKindWords,
} from '../../src/console/words/calls.ts'
import { sourceWords } from '../../src/console/words/events.ts'
import { causeWords } from '../../src/console/words/timeline.ts'
import { isNotice, notices } from '../../src/console/words/notices.ts'
import { refusalInWords, refusalWords } from '../../src/console/words/refusals.ts'
import { unreadableReasons } from '../../src/gateways/body/payload.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { read } from '../tidy/source-files.ts'

describe('the words of the console', () => {
  const complete = {
    'state of a call': [callStateWords, callStates],
    'kind of a payload': [payloadKindWords, payloadKinds],
    'kind of a failed attempt': [failureKindWords, failureKinds],
    'cause of a payment': [causeWords, causes],
    'source of an event': [sourceWords, [...causes, 'browser']],
  } as const
  for (const [what, [words, names]] of Object.entries(complete)) {
    test(`there are some for each ${what}, and for nothing else`, () => {
      assert.deepEqual(Object.keys(words).toSorted(), [...names].toSorted())
      assert.ok(Object.values(words).every((one: string) => one.length > 3 && !one.includes('_')))
    })
  }

  test('there are a meaning, a cause and a fix for each refusal, and for nothing else', () => {
    const reasons = new Set([...builtin.flatMap(reasonsOf), ...refusalsOfIntake()])
    assert.ok(reasons.size > 40, `${reasons.size} were found`)
    // Reasons beyond those that are counted one by one, and answers that have no reason besides.
    const others = ['encoding', 'failed', 'other', 'throttled', 'unavailable', 'wrong_address']
    assert.deepEqual(Object.keys(refusalWords).toSorted(), [...reasons, ...others].toSorted())
    for (const { meaning, cause, fix } of Object.values(refusalWords)) {
      for (const text of [meaning, cause, fix]) assert.match(text, /^[A-Z].*\.$/)
    }
  })

  test('a refusal of a gateway of one’s own has words that say so', () => {
    assert.match(refusalInWords('moon_phase').meaning, /a reason of its own/)
    assert.match(refusalInWords('toString').meaning, /a reason of its own/)
    assert.equal(refusalInWords('body_invalid_json'), refusalWords.invalid_json)
    assert.equal(refusalInWords('body_not_an_object'), refusalWords.body_not_an_object)
  })

  test('say what became of each thing that a call says, and count the rest', () => {
    const applied = { result: 'applied', type: 'payment:paid' } as const
    const ignored = {
      result: 'ignored',
      type: 'ignored',
      reason: 'unhandled_event',
      detail: 'charge.moved',
    } as const
    assert.equal(outcomeInWords(applied), 'payment:paid: applied')
    assert.equal(
      outcomeInWords({ ...applied, result: 'duplicate' }),
      'payment:paid: known already: nothing was done',
    )
    assert.equal(outcomeInWords(ignored), `${reasons.unhandled_event.callback} (charge.moved)`)
    assert.match(outcomesInWords(Array.from({ length: 5 }, () => applied)), /And 2 more\.$/)
  })

  test('a notice is one of those that there are, whatever the address says', () => {
    assert.ok(Object.keys(notices).every(isNotice))
    for (const one of ['', 'toString', '<script>', null]) assert.equal(isNotice(one), false)
  })
})

/** Of a body within the body, it is the same as of the body. */
function reasonsOf({ name, refusalReasons = [] }: Gateway): readonly string[] {
  assert.ok(refusalReasons.length > 0, `${name} lists its reasons`)
  const inner = new Map<string, string>(unreadableReasons.map((one) => [`body_${one}`, one]))
  return refusalReasons.map((reason) => inner.get(reason) ?? reason)
}

/** Every literal with which the intake says why it refuses, besides what gateways say. */
function refusalsOfIntake(): readonly string[] {
  const literals = read('src/intake/receive.ts').matchAll(/reason: '(\w+)'/g)
  return Array.from(literals, ([, reason = '']) => reason)
}
