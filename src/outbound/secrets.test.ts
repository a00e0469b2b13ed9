import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { readCipher } from '../kernel/encryption.ts'
import { hours, minutes } from '../kernel/duration.ts'
import { newUuid } from '../kernel/ids.ts'
import { newSecretText, openSecrets, sealRotated, sealSecret } from './secrets.ts'

test('an exchanged secret signs for 24 hours behind the new one, and not a minute longer (11)', () => {
  const cipher = readCipher(randomBytes(32).toString('base64'))
  const endpointId = newUuid()
  const [first, second, third] = [newSecretText(), newSecretText(), newSecretText()]
  const begun = new Date('2026-11-20T12:00:00Z')
  const later = (time: number) => new Date(begun.getTime() + time)
  const rotated = sealRotated(cipher, {
    endpointId,
    stored: sealSecret(cipher, { endpointId, text: first }),
    text: second,
    now: begun,
  })
  const signing = (stored: Uint8Array, now: Date) =>
    openSecrets(cipher, { endpointId, stored, now })?.map((one) => one.reveal())
  assert.deepEqual(signing(rotated, begun), [second, first])
  assert.deepEqual(signing(rotated, later(hours(24) - minutes(1))), [second, first])
  assert.deepEqual(signing(rotated, later(hours(24) + minutes(1))), [second])
  // Exchanged once more meanwhile: the time of the first is not prolonged.
  const again = sealRotated(cipher, {
    endpointId,
    stored: rotated,
    text: third,
    now: later(hours(20)),
  })
  assert.deepEqual(signing(again, later(hours(23))), [third, second, first])
  assert.deepEqual(signing(again, later(hours(25))), [third, second])
  assert.deepEqual(signing(again, later(hours(45))), [third])
})
