import type { Gateway } from './gateway.ts'
import { fake } from './fake/index.ts'
import { stripe } from './stripe/index.ts'
import { paddle } from './paddle/index.ts'
import { monobank } from './monobank/index.ts'
import { liqpay } from './liqpay/index.ts'
import { wayforpay } from './wayforpay/index.ts'
import { hutko } from './hutko/index.ts'

/** The gateways that come with the service; every list has them in this order. */
export const builtin: readonly Gateway[] = [
  fake,
  stripe,
  paddle,
  monobank,
  liqpay,
  wayforpay,
  hutko,
]
