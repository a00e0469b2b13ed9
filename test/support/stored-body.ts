import assert from 'node:assert/strict'
import type { Verdict } from '../../src/gateways/gateway.ts'

/** The text that is stored of a callback whose signature covers a part of it only. */
export function storedBody(verdict: Verdict | Promise<Verdict>): string {
  assert.ok(!(verdict instanceof Promise))
  assert.ok('valid' in verdict && verdict.valid && verdict.signedBody)
  return Buffer.from(verdict.signedBody).toString()
}
