import assert from 'node:assert/strict'
import { valid, type Verdict } from '../../src/gateways/gateway.ts'

/** A verdict that was not waited for, without the body that it accepts. */
export function judgementOf(verdict: Verdict | Promise<Verdict>): Verdict {
  assert.ok(!(verdict instanceof Promise))
  return 'valid' in verdict && verdict.valid ? valid : verdict
}
