import type { Payload } from '../body/payload.ts'
import { plainAcknowledgment, type Acknowledgment } from '../gateway.ts'
import type { Credentials } from '../credential-fields.ts'
import { fieldsOf } from './payload.ts'
import { authenticate, signTexts } from './signature.ts'

const accepted = 'accept'

/**
 * The signed answer, a fresh one for each delivery: without it WayForPay sends the same callback
 * again for days. It repeats the reference as received. So it is made only for what WayForPay has
 * signed itself, and no other sender gets a text signed.
 */
export function acknowledge(payload: Payload, credentials: Credentials, now: Date): Acknowledgment {
  const found = authenticate(fieldsOf(payload), credentials)
  if (!found.ok) return plainAcknowledgment
  const { orderReference } = found.signed
  const time = Math.floor(now.getTime() / 1000)
  const signature = signTexts(found.secret, [orderReference, accepted, String(time)])
  return {
    contentType: 'application/json',
    body: JSON.stringify({ orderReference, status: accepted, time, signature }),
  }
}
