import { failureKinds } from '../events/failed-attempt.ts'
import type { Numbers } from './slots.ts'

const states = ['processed', 'ignored', 'failed']
const statuses = ['paid', 'failed', 'canceled']
const causes = ['call', 'poll']
const signIns = ['signed_in', 'refused', 'limited']

/**
 * Makes the slots whose labels are known beforehand. Monitoring asks how much a counter grew: one that
 * appears with its first value seems not to have grown at all.
 */
export function beginAtZero(numbers: Numbers, gateways: readonly string[]): void {
  for (const gateway of gateways) {
    for (const state of states) numbers.slot('calls_finished_total', { gateway, state })
    for (const kind of failureKinds) numbers.slot('attempts_failed_total', { gateway, kind })
    for (const status of statuses) {
      for (const cause of causes) {
        numbers.slot('payments_decided_total', { gateway, status, cause })
      }
    }
  }
  for (const result of signIns) numbers.slot('sign_ins_total', { result })
  numbers.slot('calls_finished_total', { gateway: '', state: 'failed' })
  numbers.slot('attempts_failed_total', { gateway: '', kind: 'worker_lost' })
}
