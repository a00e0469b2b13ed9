import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readControl } from './transaction-control.ts'

test('what begins and ends a transaction is known by its whole text', () => {
  const controls = {
    begin: ['begin', ' BEGIN work;', '/* a /* b */ */begin', '-- a\nstart transaction read write'],
    commit: ['commit', 'end transaction', 'commit and no chain', ';;commit;'],
    rollback: ['rollback', 'abort work', 'rollback transaction and no chain'],
    refused: [
      'begin isolation level serializable',
      'begin; select 1',
      'commit and chain',
      'commit; select 1',
      'commit prepared',
      'rollback and chain',
      'rollback; select 1',
      "prepare transaction 'x'",
    ],
  } as const
  for (const [control, texts] of Object.entries(controls)) {
    for (const text of texts) assert.equal(readControl(text), control, text)
  }
})

test('every other statement is none of them, whatever words it has', () => {
  for (const text of [
    'select 1; commit',
    'select begin, commit, rollback from abort',
    'rollback to savepoint a',
    'rollback work to a',
    'savepoint commit',
    'beginning',
    '-- commit',
    '/* commit */ select 1',
    '',
  ]) {
    assert.equal(readControl(text), undefined, text)
  }
})
