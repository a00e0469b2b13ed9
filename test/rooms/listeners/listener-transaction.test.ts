import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type pg from 'pg'
import { QuittanceError } from '../../../src/kernel/errors.ts'
import {
  listenerTransaction,
  refuseInsideListener,
  runInScope,
  type ListenerScope,
} from '../../../src/listeners/listener-scope.ts'

/** A client that keeps what it is asked. */
function recordingClient() {
  const asked: unknown[][] = []
  const client = {
    processID: 7,
    query: async (...args: unknown[]) => {
      asked.push(args)
      return { rows: [{ n: 1 }], command: 'SELECT', rowCount: 1 }
    },
    escapeLiteral(this: { processID: number }, text: string) {
      return `'${text}' by ${this.processID}`
    },
    release: () => assert.fail('it is not given back'),
    end: () => assert.fail('it is not ended'),
  }
  return { asked, client: client as unknown as pg.PoolClient }
}

function opened() {
  const { asked, client } = recordingClient()
  const scope: ListenerScope = { open: true, leavesTrace: false, leavesSession: false, nested: [] }
  return { asked, scope, tx: listenerTransaction(client, scope) }
}

const refused = (code: string, message: string) => (error: unknown) => {
  assert.ok(error instanceof QuittanceError)
  assert.deepEqual([error.code, error.message], [code, message])
  return true
}

describe('the transaction of a listener', () => {
  test('takes plain SQL, Kysely and whatever a query builder sends through the client', async () => {
    const { asked, tx } = opened()
    const { rows } = await tx.query('select 1')
    assert.deepEqual(rows, [{ n: 1 }])
    await tx.query('select $1', ['a'])
    await tx.client.query({ text: 'select 2', values: [] })
    await tx.withTables<{ orders: { id: number } }>().selectFrom('orders').select('id').execute()
    const [plain, bound, config, built] = asked
    assert.deepEqual(plain, ['select 1', []])
    assert.deepEqual(bound, ['select $1', ['a']])
    assert.deepEqual(config, [{ text: 'select 2', values: [] }])
    assert.match(JSON.stringify(built), /select \\"id\\" from \\"orders\\"/)
  })

  test('shows the client as it is', () => {
    const { tx } = opened()
    assert.equal((tx.client as unknown as { processID: number }).processID, 7)
    const { escapeLiteral } = tx.client
    assert.equal(escapeLiteral('a'), `'a' by 7`)
  })

  test('takes what has no text of its own', async () => {
    const { asked, tx } = opened()
    const query = tx.client.query as unknown as (asked: unknown) => Promise<unknown>
    for (const odd of [{ submit: () => {} }, null, undefined, 7]) await query(odd)
    assert.equal(asked.length, 4)
  })

  test('is refused once the listener has ended', async () => {
    const { asked, scope, tx } = opened()
    scope.open = false
    const text = 'the transaction of a listener was used after the listener had ended'
    const late = (error: unknown) => {
      refused('outer_handle_in_listener', text)(error)
      return (error as QuittanceError).fix === 'Await every statement inside the listener.'
    }
    assert.throws(() => tx.client.query('select 1'), late)
    assert.throws(() => tx.query('select 1'), late)
    await assert.rejects(
      tx.withTables<{ a: { b: 1 } }>().selectFrom('a').selectAll().execute(),
      late,
    )
    assert.deepEqual(asked, [])
  })

  test('cannot be given back or ended', () => {
    const { tx } = opened()
    const text = 'a listener tried to release the connection of its transaction'
    const isRefused = refused('transaction_control_refused', text)
    assert.throws(() => tx.client.release(), isRefused)
    assert.throws(() => (tx.client as unknown as pg.Client).end(), isRefused)
  })

  describe('refuses to end what it did not begin, and what no savepoint can stand for:', () => {
    const statements = [
      'begin isolation level serializable',
      'begin transaction isolation level repeatable read, read write',
      'begin read only',
      'begin read write, read only',
      'begin deferrable',
      'begin; insert into orders values (1); commit',
      'begin; begin',
      'start  \n transaction read only',
      'commit and chain',
      'rollback and chain',
      `commit prepared 'a'`,
      'commit',
      'Commit',
      'end',
      'abort',
      'rollback',
      'rollback;',
      'rollback work',
      'rollback transaction',
      'rollback tomorrow',
      'rollback workto a',
      'rollback; rollback to savepoint a',
      `prepare transaction 'a'`,
      `prepare \t transaction 'a'`,
      '  \n\tcommit',
      '-- ours\ncommit',
      '--\ncommit',
      '-- one\n-- two\n  commit',
      '/* ours */commit',
      '/**/ commit',
      '/* a\nb */ commit',
      '/* a * b / c */commit',
      '/* one */ -- two\n /* three */ commit',
      '/* one /* two */ */ commit',
      '-- ours\rcommit',
      '/* -- */ commit',
      '; ;commit',
      'rollback /* /* */ to a */',
      'rollback -- to a',
      'release quittance_nested_1',
      'rollback to savepoint "quittance_nested_12"',
      // Behind this savepoint the event itself is rolled back.
      'rollback to savepoint quittance_listeners',
      'ROLLBACK TO Quittance_Listeners',
      'release "quittance_listeners"',
      'select 1; rollback to quittance_listeners',
    ]
    for (const statement of statements) {
      test(JSON.stringify(statement), async () => {
        const { asked, tx } = opened()
        const shown = statement.trim().slice(0, 40)
        const isRefused = refused(
          'transaction_control_refused',
          `a listener tried to end its transaction: ${shown}`,
        )
        assert.throws(() => tx.client.query(statement), isRefused)
        assert.throws(() => tx.client.query({ text: statement }), isRefused)
        assert.deepEqual(asked, [])
      })
    }

    test('and shows no more of a statement than it needs', () => {
      const { tx } = opened()
      const statement = ` commit ${'x'.repeat(100)} `
      const text = `a listener tried to end its transaction: commit ${'x'.repeat(33)}`
      assert.throws(() => tx.client.query(statement), refused('transaction_control_refused', text))
    })
  })

  describe('takes savepoints, and what only looks like an end:', () => {
    const statements = [
      'savepoint a',
      'release savepoint a',
      'rollback to a',
      'rollback  to savepoint a',
      'rollback work to a',
      'rollback \n work \n to a',
      'ROLLBACK TRANSACTION TO SAVEPOINT a',
      'rollback transaction  to a',
      '/* ours */ rollback to a',
      'rollback /* ours */ to a',
      `rollback to "--"`,
      'begins',
      'prepare plan as select 1',
      'select 1; commit',
      'commitments',
      'ending',
      'endless',
      'starttransaction',
      'preparetransaction',
      '-- commit',
      '-- commit\nselect 1',
      '/* commit */ select 1',
      '/* a */ / commit',
      '- commit',
      'x commit',
      'xcommit',
    ]
    for (const statement of statements) {
      test(JSON.stringify(statement), async () => {
        const { asked, tx } = opened()
        await tx.client.query(statement)
        assert.equal(asked.length, 1)
      })
    }
  })

  describe('takes as the beginning and the end of a nested one:', () => {
    const controls = {
      begin: [
        'BEGIN',
        'begin;',
        ' begin ; ',
        'begin work',
        'begin transaction',
        'Start  \n Transaction',
        '/* ours */ begin -- of it',
        'begin /* a /* b */ c */ work',
        'begin isolation level read committed',
        'start transaction isolation level READ UNCOMMITTED, read write',
        'start transaction read write not deferrable',
      ],
      commit: ['COMMIT', 'commit work;', 'commit transaction', 'end', 'end and no chain'],
      rollback: [
        'ROLLBACK',
        'rollback work',
        'rollback transaction;',
        'abort',
        'abort and no chain',
      ],
    }
    const sent = {
      begin: 'savepoint quittance_nested_2',
      commit: 'release savepoint quittance_nested_1',
      rollback: 'rollback to savepoint quittance_nested_1; release savepoint quittance_nested_1',
    }
    const kinds = ['begin', 'commit', 'rollback'] as const
    for (const [kind, statement] of kinds.flatMap((one) =>
      controls[one].map((text) => [one, text] as const),
    )) {
      test(JSON.stringify(statement), async () => {
        const { asked, scope, tx } = opened()
        await tx.query('begin')
        const { command } = await tx.query(statement)
        assert.deepEqual(asked, [['savepoint quittance_nested_1'], [sent[kind]]])
        assert.equal(command, kind.toUpperCase())
        assert.equal(scope.nested.length, kind === 'begin' ? 2 : 0)
      })
    }

    test('any statement of theirs in the forms that pg takes', async () => {
      const { asked, tx } = opened()
      await tx.client.query({ text: 'begin', values: [], rowMode: 'array' })
      await tx.client.query('begin', [])
      const query = tx.client.query as unknown as (...args: unknown[]) => unknown
      for (const args of [['commit'], ['rollback', []]]) {
        const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>()
        const done = (error: Error | null, result: pg.QueryResult) =>
          error === null ? resolve(result) : reject(error)
        assert.equal(query(...args, done), undefined)
        assert.equal((await promise).command, String(args[0]).toUpperCase())
      }
      assert.equal(asked.length, 4)
    })
  })

  describe('notices what stays behind in it:', () => {
    const statements = [
      `set local work_mem = '1MB'`,
      'SET ROLE shop',
      ' set x = 1',
      'select 1;set x = 1',
      'select 1; \n set x = 1',
      'reset all',
      'prepare plan as select 1',
      'declare c cursor for select 1',
      `select set_config('a', 'b', true)`,
      `select set_config  ('a', 'b', true)`,
      `select pg_catalog.set_config('a', 'b', true)`,
      'create temp table a (b int)',
      'create table pg_temp.a (b int)',
      `select set_config('a', 'b', false)`,
      '/* by tenant */ set local search_path to shop',
      '-- name: SetTenant\n  set local search_path to shop',
      'create temporary table a (b int)',
      'CREATE TEMP VIEW a as select 1',
    ]
    for (const statement of statements) {
      test(JSON.stringify(statement), async () => {
        const { scope, tx } = opened()
        await tx.client.query(statement)
        assert.equal(scope.leavesTrace, true)
        assert.equal(scope.leavesSession, !/set local|', true\)/.test(statement))
        await tx.client.query('select 1')
        assert.equal(scope.leavesTrace, true)
      })
    }
  })

  describe('sees nothing left behind by:', () => {
    const statements = [
      'select 1',
      'update orders set paid = true',
      'select 1; update orders set paid = true',
      'settle',
      'resetting',
      'declared',
      'prepared',
      'select my_set_config(1)',
      'select set_config',
      'select template, temporarily, attempt from orders',
      'select xtemp, tempx',
      'insert into temperatures values (1)',
    ]
    for (const statement of statements) {
      test(JSON.stringify(statement), async () => {
        const { scope, tx } = opened()
        await tx.client.query(statement)
        assert.equal(scope.leavesTrace, false)
        assert.equal(scope.leavesSession, false)
      })
    }
  })
})

describe('a handle that is not bound to the listener’s transaction', () => {
  const use = () => refuseInsideListener('billing.payments.get')
  const text = `billing.payments.get was used inside a listener's transaction`

  test('is refused inside a listener, across everything that it awaits', async () => {
    await runInScope(
      { open: true, leavesTrace: false, leavesSession: false, nested: [] },
      async () => {
        await new Promise((resolve) => setImmediate(resolve))
        assert.throws(use, refused('outer_handle_in_listener', text))
      },
    )
  })

  test('is refused by the code that says what it would do there', () => {
    runInScope({ open: true, leavesTrace: false, leavesSession: false, nested: [] }, () => {
      assert.throws(
        () => refuseInsideListener('the provider', 'gateway_call_in_transaction'),
        refused(
          'gateway_call_in_transaction',
          `the provider was used inside a listener's transaction`,
        ),
      )
    })
  })

  test('is free outside, and once the listener has ended', () => {
    use()
    assert.equal(
      runInScope({ open: false, leavesTrace: false, leavesSession: false, nested: [] }, () => {
        use()
        return 'done'
      }),
      'done',
    )
  })
})
