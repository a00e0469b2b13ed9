import type { DeclineKind } from '../../payments/decline.ts'
import { reasonCodes } from './reason-code.ts'

/**
 * Reason codes that decline a card: https://wiki.wayforpay.com/en/view/852131, "Codes of
 * responses". WayForPay says there what each of them is about; what it means for a saved card is
 * reasoned from that. Those of our request (its form, fields, permissions) are left out.
 */
export const declines: ReadonlyMap<string, DeclineKind> = new Map<string, DeclineKind>([
  ['1101', 'soft'], // the bank says no
  ['1102', 'soft'], // wrong CVV, of which a token has none
  ['1103', 'hard'], // expired
  ['1104', 'soft'], // too little money
  ['1105', 'hard'], // no such card, or in a state that is not allowed
  ['1106', 'soft'], // too often
  ['1108', 'authentication'], // 3-D Secure failed
  ['1114', 'soft'], // the fraud protection
  ['1116', 'hard'], // no such token
  ['1120', 'soft'], // the bank cannot be reached
  ['1122', 'soft'], // the gate says no
  ['1135', 'soft'], // the limits of the card
  [reasonCodes.awaiting3ds, 'authentication'],
])
