import type { Gateway } from '../gateways/gateway.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { choiceAmong } from '../kernel/similar-name.ts'

/** Names accounts: `stripe-eu:stripe,liqpay-books:liqpay`. */
export const accountsVariable = 'BILLING_GATEWAYS'

/** An account as it is set. */
export interface SetAccount {
  readonly name: string
  readonly driver: Gateway
  /** Where it is set. */
  readonly label: string
}

export interface SetAccounts {
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
export function readAccounts(sources: Sources, drivers: readonly Gateway[]): SetAccounts {
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
