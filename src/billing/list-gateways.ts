import { accountOf } from '../gateways/accounts.ts'
import type { Gateway } from '../gateways/gateway.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { choiceAmong } from '../kernel/similar-name.ts'
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

/** Names accounts: `stripe-eu:stripe,liqpay-books:liqpay`. */
const accountsVariable = 'BILLING_GATEWAYS'

/** An account as it is set. */
interface SetAccount {
  readonly name: string
  readonly driver: Gateway
  /** Where it is set. */
  readonly label: string
}

interface SetAccounts {
  readonly accounts: readonly SetAccount[]
  /** Everything that is set as one, whether it is right or not. */
  readonly named: readonly string[]
  readonly faults: readonly QuittanceError[]
}

/** An account in words, before anything of it is checked. */
interface Entry {
  readonly name: string
  readonly driver: string
  readonly label: string
}

interface Sources {
  /** Settings by gateway and field. */
  readonly gateways: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** What the variable holds. */
  readonly text: string | undefined
}

/** The accounts that the variable and the configuration name; they may name the same. */
function readAccounts(sources: Sources, drivers: readonly Gateway[]): SetAccounts {
  const { entries, faults } = entriesIn(sources.text ?? '', exampleOf(drivers))
  const all = [...entries, ...configured(sources.gateways)]
  const accounts = new Map<string, SetAccount>()
  for (const entry of all) {
    const checked = check(entry, drivers, accounts.get(entry.name))
    if (checked instanceof QuittanceError) faults.push(checked)
    else accounts.set(entry.name, checked)
  }
  return { accounts: [...accounts.values()], named: all.map(({ name }) => name), faults }
}

function configured(gateways: Sources['gateways']): readonly Entry[] {
  return Object.entries(gateways).flatMap(([name, { driver }]) =>
    driver === undefined ? [] : [{ name, driver, label: `gateways.${name}.driver` }],
  )
}

function entriesIn(text: string, example: string): { entries: Entry[]; faults: QuittanceError[] } {
  const entries: Entry[] = []
  const faults: QuittanceError[] = []
  for (const [at, part] of text.split(',').entries()) {
    if (part.trim() === '') continue
    const pair = part.split(':').map((one) => one.trim())
    const [name = '', driver = ''] = pair
    if (pair.length === 2 && isAccountName(name) && driver !== '') {
      entries.push({ name, driver, label: accountsVariable })
      continue
    }
    // Never the text itself: it may be something else that was pasted here.
    const expected = `must hold pairs of a name and its gateway, such as ${example}`
    faults.push(invalid(`${accountsVariable} ${expected}; pair ${at + 1} is none (${nameRule})`))
  }
  return { entries, faults }
}

const nameRule =
  'a name is at most 64 lower-case letters, digits and dashes, and begins with a letter'

/** Two dashes, or one at the end, would make the variables of two accounts the same. */
function isAccountName(name: string): boolean {
  return name.length <= 64 && /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)
}

/** What is ours under `/billing`, and how our own variables begin. */
const reserved =
  /^(?:(?:billing|quittance)(?:-.*)?|api|assets|console|invoices|pay|return|subscriptions|webhooks)$/

function check(
  { name, driver, label }: Entry,
  drivers: readonly Gateway[],
  known: SetAccount | undefined,
): SetAccount | QuittanceError {
  if (!isAccountName(name)) return invalid(`${label}: ${nameRule}`)
  const whole = drivers.find((one) => [one.name, ...one.aliases].includes(name))
  if (whole !== undefined) {
    const taken = `${label}: ${name} is the gateway ${whole.name} itself`
    return invalid(`${taken}; an account has another name, such as ${whole.name}-eu`)
  }
  if (reserved.test(name)) return invalid(`${label}: the name ${name} is one of Quittance’s own`)
  const found = drivers.find((one) => [one.name, ...one.aliases].includes(driver))
  if (found === undefined) {
    const names = drivers.map((one) => one.name)
    return invalid(`${label}: ${name} is of an unknown gateway${choiceAmong(driver, names)}`)
  }
  if (known === undefined) return { name, driver: found, label }
  if (known.driver !== found) {
    const both = `${known.label} says of ${known.driver.name}, ${label} of ${found.name}`
    return invalid(`${name} cannot be an account of two gateways: ${both}`)
  }
  if (known.label === label) return invalid(`${label} names ${name} twice`)
  return known
}

function exampleOf(drivers: readonly Gateway[]): string {
  const signing = drivers.find(({ verification }) => verification === 'signature')
  const driver = signing?.name ?? 'name'
  return `${driver}-eu:${driver}`
}

function invalid(message: string): QuittanceError {
  return new QuittanceError('setting_invalid', message)
}
