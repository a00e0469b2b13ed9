import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kysely } from 'kysely'
import { listDisputes } from '../../../src/database/disputes.ts'
import { takenBack } from '../../../src/database/refunds.ts'
import type { Tables } from '../../../src/database/tables.ts'
import type { DisputeOutcome } from '../../../src/payments/outcome.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { apply, charge, historyOf, idOf, rowOf } from './room.ts'

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  const dispute = (
    status: DisputeOutcome['status'],
    fields: Partial<DisputeOutcome> = {},
  ): DisputeOutcome => ({
    type: 'dispute',
    payment: { id: idOf('a') },
    reference: 'dp_1',
    status,
    ...fields,
  })
  /** The claim of a status of the first dispute that the room records. */
  const claims = (status: DisputeOutcome['status'], of = 'a paid') => ({
    type: `dispute:${status}`,
    claims: 'PaymentDisputed',
    key: `dispute:${status}:new`,
    about: of,
    dispute: status,
    of,
    ...(status !== 'won' && { review: true }),
  })
  const disputes = async (db: Kysely<Tables>) =>
    (await listDisputes(db, idOf('a'))).map(({ providerReference, status, amount, currency }) =>
      [providerReference, status, amount, currency].join(' '),
    )

  for (const status of ['open', 'lost', 'won'] as const) {
    test(
      `a dispute that is first reported as ${status} is recorded beside its charge, which stays as it is`,
      rolledBack(async (db) => {
        const before = await charge(db, 'a', { status: 'paid' })
        assert.deepEqual(await apply(db, [dispute(status, { amount: 500n, currency: 'USD' })]), [
          claims(status),
        ])
        assert.deepEqual(await disputes(db), [`dp_1 ${status} 500 USD`])
        assert.deepEqual(await rowOf(db, 'a'), before)
        assert.deepEqual(await historyOf(db, idOf('a')), [])
      }),
    )

    test(
      `said again, ${status} changes nothing, and claims the same event`,
      rolledBack(async (db) => {
        await charge(db, 'a', { status: 'paid' })
        const [first] = await apply(db, [dispute(status)])
        const [again] = await apply(db, [dispute(status, { amount: 7n, currency: 'USD' })])
        assert.deepEqual(again, first)
        assert.deepEqual(await disputes(db), [`dp_1 ${status}  `])
      }),
    )
  }

  for (const [known, stated, review] of [
    ['won', 'open', false],
    ['won', 'lost', true],
    ['lost', 'open', false],
    ['lost', 'won', false],
  ] as const) {
    test(
      `a dispute that was ${known} stays so when it is said to be ${stated}${review ? ', which a person looks at' : ''}`,
      rolledBack(async (db) => {
        await charge(db, 'a')
        await apply(db, [dispute(known)])
        const late = { type: 'dispute', reason: 'already_settled', of: 'a pending' }
        assert.deepEqual(await apply(db, [dispute(stated)]), [
          { ...late, ...(review && { review }) },
        ])
        assert.deepEqual(await disputes(db), [`dp_1 ${known}  `])
      }),
    )
  }

  for (const end of ['won', 'lost'] as const) {
    test(
      `an open dispute that is ${end} takes the money that is stated now, else keeps what was stated`,
      rolledBack(async (db) => {
        await charge(db, 'a')
        const other = { reference: 'dp_2' }
        await apply(db, [
          dispute('open', { amount: 500n, currency: 'USD' }),
          dispute('open', { ...other, amount: 7n, currency: 'USD' }),
        ])
        const ended = await apply(db, [
          dispute(end),
          dispute(end, { ...other, amount: 8n, currency: 'EUR' }),
        ])
        const claimed = claims(end, 'a pending')
        assert.deepEqual(ended, [claimed, claimed])
        assert.deepEqual(await disputes(db), [`dp_1 ${end} 500 USD`, `dp_2 ${end} 8 EUR`])
      }),
    )
  }

  test(
    'the same id at two charges is two disputes',
    rolledBack(async (db) => {
      await charge(db, 'a')
      await charge(db, 'b')
      await apply(db, [dispute('won')])
      const [other] = await apply(db, [dispute('open', { payment: { id: idOf('b') } })])
      assert.deepEqual(other, claims('open', 'b pending'))
    }),
  )

  test(
    'a dispute that another account states is not recorded, and a person looks',
    rolledBack(async (db) => {
      await charge(db, 'a')
      const mismatch = { type: 'dispute', reason: 'merchant_mismatch', of: 'a pending' }
      assert.deepEqual(await apply(db, [dispute('won', { merchantAccount: 'another' })]), [
        { ...mismatch, review: true },
      ])
      assert.deepEqual(await disputes(db), [])
    }),
  )

  test(
    'a dispute that ended by a refund takes nothing besides that refund, in whatever order they come',
    rolledBack(async (db) => {
      const lost = dispute('lost', { amount: 600n, currency: 'USD', byRefund: true })
      for (const [name, stated] of [
        ['a', [lost]],
        ['b', [dispute('open', { amount: 600n, currency: 'USD' }), lost]],
      ] as const) {
        const paid = await charge(db, name, { status: 'paid', amount: 1_000n })
        for (const one of stated) await apply(db, [{ ...one, payment: { id: paid.id } }])
        const none = { refunded: 0n, credited: 0n, reserved: 0n, isDisputed: false, disputes: [] }
        assert.deepEqual((await takenBack(db, [paid]))(paid), none)
      }
    }),
  )

  const money = { amount: 500n, currency: 'USD' }
  const taken = (reference: string, fields = {}) =>
    dispute('open', { reference, ...money, ...fields })
  const givenBack = (reference: string, fields = {}) =>
    dispute('won', { reference, givesBack: true, ...money, ...fields })

  for (const [what, stated, stands] of [
    ['comes later', [taken('c1'), givenBack('r1')], ['c1 won']],
    ['comes first', [givenBack('r1'), taken('c1')], ['c1 won']],
    ['is told again', [taken('c1'), givenBack('r1'), givenBack('r1'), taken('c1')], ['c1 won']],
    [
      'is told again, while the next dispute is open',
      [taken('c1'), givenBack('r1'), taken('c2'), givenBack('r1')],
      ['c1 won', 'c2 open'],
    ],
    [
      'comes first, and before two of them',
      [givenBack('r1'), taken('c1'), taken('c2'), givenBack('r1')],
      ['c1 won', 'c2 open'],
    ],
    [
      'ends the oldest of two, then the other',
      [taken('c1'), taken('c2'), givenBack('r1'), givenBack('r2')],
      ['c1 won', 'c2 won'],
    ],
    [
      'is of a dispute that is won already',
      [taken('c1'), dispute('won', { reference: 'c1', ...money }), givenBack('r1')],
      ['c1 won'],
    ],
    [
      'is about other money',
      [taken('c1'), givenBack('r1', { amount: 499n })],
      ['c1 open', 'r1 won'],
    ],
    [
      'ends one of its own kind, not the oldest',
      [taken('w1', { kind: 'w' }), taken('c1', { kind: 'c' }), givenBack('r1', { kind: 'c' })],
      ['w1 open', 'c1 won'],
    ],
    [
      'comes before the one of its own kind',
      [taken('w1', { kind: 'w' }), givenBack('r1', { kind: 'c' }), taken('c1', { kind: 'c' })],
      ['w1 open', 'c1 won'],
    ],
  ] as const) {
    test(
      `what gives back the money of a dispute has an id of its own, and ends it: it ${what}`,
      rolledBack(async (db) => {
        await charge(db, 'a', { status: 'paid' })
        for (const one of stated) await apply(db, [one])
        const found = (await listDisputes(db, idOf('a'))).map(
          ({ providerReference, status }) => `${providerReference} ${status}`,
        )
        assert.deepEqual(found, stands)
      }),
    )
  }

  test(
    'a person looks where it ends none of the disputes, and one is open; also when it is told again',
    rolledBack(async (db) => {
      await charge(db, 'a', { status: 'paid' })
      assert.deepEqual(await apply(db, [givenBack('r1')]), [claims('won')])
      await apply(db, [taken('c2', { amount: 7n })])
      for (const _ of ['first', 'again']) {
        const unmatched = await apply(db, [givenBack('r2', { amount: 8n })])
        const detail = 'this came back, but another dispute is open'
        assert.deepEqual(unmatched, [{ ...claims('won'), review: true, detail }])
      }
      assert.deepEqual(await apply(db, [givenBack('r3', { amount: 7n })]), [claims('won')])
    }),
  )

  test(
    'in one report, in whatever order, it is one dispute that is won',
    rolledBack(async (db) => {
      await charge(db, 'a', { status: 'paid' })
      for (const [c, r] of [
        ['a1', 'b1'],
        ['b2', 'a2'],
      ] as const) {
        await apply(db, [taken(c), givenBack(r)])
      }
      assert.deepEqual(await disputes(db), ['a1 won 500 USD', 'b2 won 500 USD'])
    }),
  )
})
