import assert from 'node:assert/strict'
import test from 'node:test'
import type { Endpoint } from '../../events/endpoint.ts'
import { endpointFindings, feedFinding, unsentFindings } from './check-endpoints.ts'

const endpoint = { name: 'shop', enabled: true, disabledReason: null, failures: 0, position: 10 }
const said = (changes: Partial<Endpoint>, last: number) =>
  endpointFindings({ ...(endpoint as Endpoint), ...changes }, last).map(({ state, found, fix }) => [
    state,
    found,
    fix,
  ])

test('an endpoint that takes what it gets is no finding', () => {
  assert.deepEqual(said({}, 1_010), [])
})

test('one that is disabled, failing or far behind is a warning, with the command that helps', () => {
  assert.deepEqual(said({ enabled: false, disabledReason: 'gone' }, 11), [
    [
      'warning',
      'shop is disabled (gone), 1 event behind',
      'Once it is well: quittance endpoints enable shop',
    ],
  ])
  assert.deepEqual(said({ failures: 3 }, 12), [
    [
      'warning',
      'shop has failed 3 times in a row, 2 events behind',
      'See what it answers: quittance endpoints attempts shop',
    ],
  ])
  const [behind] = said({}, 1_011)
  assert.deepEqual(behind?.slice(0, 2), ['warning', 'shop is 1001 events behind'])
})

test('events that wait over a minute for their place are a warning', () => {
  assert.deepEqual([feedFinding(0).state, feedFinding(2).state], ['ok', 'warning'])
})

test('events that were given up, or wait though their endpoint is well, are warnings', () => {
  const found = (failures: number, unsent: { failed: number; late: number } | undefined) =>
    unsentFindings(
      { name: 'shop', enabled: true, failures },
      unsent && { endpointId: 'any', ...unsent },
    ).map((finding) => finding.found)
  assert.deepEqual(found(0, undefined), [])
  assert.deepEqual(found(0, { failed: 1, late: 2 }), [
    '1 event for shop given up in the last 7 days, after ten attempts',
    '2 events for shop due again for over 10 minutes',
  ])
  assert.deepEqual(found(5, { failed: 0, late: 2 }), [])
})
