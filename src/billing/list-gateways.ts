import { accountOf } from '../gateways/accounts.ts'
import type { Gateway } from '../gateways/gateway.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { choiceAmong } from '../kernel/similar-name.ts'
import { accountsVariable, readAccounts, type SetAccount } from './read-accounts.ts'
import { settingsIn, variablesOf } from './setting.ts'
import { variableSettings } from './settings-schema.ts'

type Config = Readonly<Record<string, string>>

/** What decides which gateways there are besides those that are given whole. */
export interface GatewayOptions {
  /** Settings by gateway and field; of an account also `driver`. */
  readonly gateways: Readonly<Record<string, Config>>
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** A gateway, and what is configured of it. */
export interface ListedGateway {
  readonly gateway: Gateway
  readonly config: Config
}

export interface GatewayList {
  /** The given gateways, then the accounts; what is at fault is left out. */
  readonly listed: readonly ListedGateway[]
  readonly faults: readonly QuittanceError[]
  /** Every variable that is read, by a gateway or by Quittance itself. */
  readonly variables: ReadonlySet<string>
}

/** The gateways that are given, and the accounts of them that the options add. */
export function listGateways(
  drivers: readonly Gateway[],
  { gateways, environment }: GatewayOptions,
): GatewayList {
  const set = readAccounts({ gateways, text: environment[accountsVariable] }, drivers)
  const faults = [...set.faults]
  const owners = ownersOfVariables(drivers)
  const accounts = set.accounts.flatMap(({ name, driver, label }) => {
    const account = accountOf(driver, name)
    const fault = claimVariables(account, { owners, label })
    if (fault !== undefined) faults.push(fault)
    return fault === undefined ? [account] : []
  })
  const all = [...drivers, ...accounts]
  const names = all.map(({ name }) => name)
  const known = new Set([...names, ...set.named])
  const unknown = Object.keys(gateways).filter((name) => !known.has(name))
  return {
    listed: all.map((gateway) => ({ gateway, config: configOf(gateway, gateways) })),
    faults: [...faults, ...unknown.map((name) => unknownGateway(name, names))],
    variables: new Set(owners.keys()),
  }
}

/** `driver` is no setting of the gateway. */
function configOf({ name }: Gateway, gateways: GatewayOptions['gateways']): Config {
  const { driver: _, ...config } = Object.hasOwn(gateways, name) ? (gateways[name] ?? {}) : {}
  return config
}

function unknownGateway(name: string, names: readonly string[]): QuittanceError {
  return new QuittanceError(
    'gateway_unknown',
    `gateways.${name}: no such gateway${choiceAmong(name, names)}`,
    { fix: 'Correct the name. Of an account, say which gateway it is one of: driver.' },
  )
}

/** Who reads a variable already. */
type Owners = Map<string, string>

function ownersOfVariables(drivers: readonly Gateway[]): Owners {
  const own = settingsIn(variableSettings).flatMap(variablesOf)
  const ofGateways = drivers.flatMap((gateway) =>
    variablesIn(gateway).map((variable) => [variable, gateway.name] as const),
  )
  return new Map([...own.map((variable) => [variable, 'Quittance'] as const), ...ofGateways])
}

function variablesIn({ credentials }: Gateway): readonly string[] {
  return Object.values(credentials).flatMap(({ env }) => env)
}

/** One variable cannot set two things. */
function claimVariables(
  account: Gateway,
  { owners, label }: { readonly owners: Owners } & Pick<SetAccount, 'label'>,
): QuittanceError | undefined {
  const variables = variablesIn(account)
  const taken = variables.find((variable) => owners.has(variable))
  if (taken !== undefined) {
    return new QuittanceError(
      'setting_invalid',
      `${label}: the variable ${taken} of ${account.name} is one of ${owners.get(taken)} already`,
      { fix: 'Give the account another name.' },
    )
  }
  for (const variable of variables) owners.set(variable, account.name)
  return undefined
}
