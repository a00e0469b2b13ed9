import { startHutko } from '../providers/hutko.ts'
import { startLiqpay } from '../providers/liqpay.ts'
import { startMonobank } from '../providers/monobank.ts'
import { startPaddle } from '../providers/paddle.ts'
import type { ProviderStandIn } from '../providers/provider-stand-in.ts'
import { startStripe } from '../providers/stripe.ts'
import { startWayforpay } from '../providers/wayforpay.ts'

/** A stand-in of every provider, by the name of its gateway. */
export const providers: readonly (readonly [string, () => Promise<ProviderStandIn>])[] = [
  ['stripe', () => startStripe()],
  ['paddle', () => startPaddle()],
  ['monobank', () => startMonobank()],
  ['liqpay', () => startLiqpay()],
  ['wayforpay', () => startWayforpay()],
  ['hutko', () => startHutko()],
]
