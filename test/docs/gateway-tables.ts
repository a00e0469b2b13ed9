import { builtin } from '../../src/gateways/builtin.ts'
import { capabilitiesOf } from '../../src/gateways/capabilities.ts'
import { neededCredentials } from '../../src/gateways/credentials.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { code, codes, type Table } from './table.ts'

const said = (can: boolean) => (can ? 'yes' : '')

const signing = builtin.filter(({ verification }) => verification === 'signature')

function linked({ name, title }: Gateway): string {
  return `[${title}](../src/gateways/${name}/README.md)`
}

function setUp(gateway: Gateway): readonly string[] {
  const { apiCredential = '', credentials, callbackUrlField } = gateway
  const needed = neededCredentials(gateway)
  const api = credentials[apiCredential]?.env[0]
  return [
    code(gateway.name),
    needed.map((one) => one.split(' or ').map(code).join(' or ')).join(', '),
    api === undefined ? '' : code(api),
    callbackUrlField === undefined ? 'register' : code(callbackUrlField),
  ]
}

function ability(gateway: Gateway): readonly string[] {
  const can = capabilitiesOf(gateway)
  const { closeCheckout, backfill } = gateway
  return [
    code(gateway.name),
    ...[can.checkout, can.poll, can.refund, can.partialRefund, can.savedCards].map(said),
    ...[closeCheckout !== undefined, can.registerWebhook, backfill !== undefined].map(said),
    said(can.subscriptions),
  ]
}

function variables({ credentials }: Gateway): readonly (readonly string[])[] {
  return Object.values(credentials).map((field) => [
    codes(field.env.slice(0, 1)),
    field.description.replace(/\.$/, ''),
    [
      ...(field.default === undefined ? [] : [code(field.default)]),
      ...(field.productionDefault === undefined
        ? []
        : [`in production ${code(field.productionDefault)}`]),
    ].join('; '),
  ])
}

const isRegistered = ({ registration }: Gateway) => registration !== undefined

function registering({ name, aliases }: Gateway): readonly string[] {
  const command = (one: string) => `${one}-register-webhook`
  return [code(`quittance ${command(name)}`), `${codes(aliases.map(command))} is the same`]
}

export const gatewayTables: readonly Table[] = [
  {
    page: 'docs/3-gateways.md',
    under: '3. Gateways',
    rows: [
      ['Provider', 'Gateway', 'Aliases', 'Signature'],
      ...builtin.map((one) => [linked(one), code(one.name), codes(one.aliases), one.scheme]),
    ],
  },
  {
    page: 'docs/3-gateways.md',
    under: 'The three steps',
    rows: [
      ['Gateway', 'Set', 'Also, for checkouts, refunds and polls', 'Callback URL'],
      ...signing.map(setUp),
    ],
  },
  {
    page: 'docs/7-money.md',
    under: 'What each gateway can do',
    rows: [
      ['Gateway', 'Checkout', 'Poll', 'Refund', 'In part'].concat([
        'Charge a saved card',
        'Close a checkout',
        'Register',
        'Backfill',
        'Subscriptions',
      ]),
      ...builtin.map(ability),
    ],
  },
  {
    page: 'docs/configuration.md',
    under: 'Of the gateways',
    rows: [['Variable', 'Meaning', 'Default'], ...builtin.flatMap(variables)],
  },
  {
    page: 'docs/8-registration.md',
    under: 'Stripe and Paddle',
    rows: [['Command', 'Also'], ...builtin.filter(isRegistered).map(registering)],
  },
]

/** The end of `.env.example`. */
export const exampleVariables = builtin
  .map(({ title, credentials }) =>
    [`# ${title}`, ...Object.values(credentials).map(({ env }) => `${env[0]}=`)].join('\n'),
  )
  .join('\n\n')

/** What help says of them. */
export const builtinSummaries = builtin.map(({ registration, backfill, ...gateway }) => ({
  name: gateway.name,
  title: gateway.title,
  aliases: gateway.aliases,
  verification: gateway.verification,
  registration: registration !== undefined,
  backfill: backfill !== undefined,
}))

/** How the README names them. */
export const namesInReadme = codes(builtin.map(({ name }) => name))
