import type { Gateway } from './gateway.ts'
import { fake } from './fake/index.ts'
import { stripe } from './stripe/index.ts'

/** The gateways that come with the service; their order is the order of every list. */
export const builtin: readonly Gateway[] = [fake, stripe]
