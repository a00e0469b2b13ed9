import type { Gateway } from './gateway.ts'

/** What help says of a gateway. */
export interface GatewaySummary extends Pick<
  Gateway,
  'name' | 'title' | 'aliases' | 'verification'
> {
  /** Whether our endpoint can be registered at the provider. */
  readonly registration: boolean
  /** Whether past events can be fetched. */
  readonly backfill: boolean
}

/**
 * The built-in gateways in brief: loading all of them would double the time that help takes.
 * Written by "npm run tables".
 */
export const builtinSummaries = [
  {
    name: 'fake',
    title: 'Fake gateway',
    aliases: [],
    verification: 'none',
    registration: false,
    backfill: false,
  },
  {
    name: 'stripe',
    title: 'Stripe',
    aliases: ['alpha'],
    verification: 'signature',
    registration: true,
    backfill: true,
  },
  {
    name: 'paddle',
    title: 'Paddle',
    aliases: ['beta'],
    verification: 'signature',
    registration: true,
    backfill: true,
  },
  {
    name: 'monobank',
    title: 'monobank',
    aliases: ['ecdsa'],
    verification: 'signature',
    registration: false,
    backfill: false,
  },
  {
    name: 'liqpay',
    title: 'LiqPay',
    aliases: ['sha1-base64'],
    verification: 'signature',
    registration: false,
    backfill: false,
  },
  {
    name: 'wayforpay',
    title: 'WayForPay',
    aliases: ['md5'],
    verification: 'signature',
    registration: false,
    backfill: false,
  },
  {
    name: 'hutko',
    title: 'hutko (Fondy, Flitt)',
    aliases: ['fondy', 'flitt', 'sha1-pipe'],
    verification: 'signature',
    registration: false,
    backfill: false,
  },
] as const satisfies readonly GatewaySummary[]
