import { similarName } from '../kernel/similar-name.ts'

/** A variable that was probably meant for us, and that nobody reads. */
export interface UnreadVariable {
  readonly name: string
  /** The one that was probably meant. */
  readonly meant: string | undefined
}

const ours = 'BILLING_'

/** Kubernetes sets these in each container, by the names of services: one may be called billing. */
const ofService =
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/
const addressOfService = /^(?:tcp|udp|sctp):\/\//

/** Of any names: what begins like our own, or is close to one that is read. */
export function unreadAmong(
  names: readonly string[],
  known: ReadonlySet<string>,
): readonly UnreadVariable[] {
  return names
    .filter((name) => !known.has(name))
    .map((name) => ({ name, meant: similarName(name, known) }))
    .filter(({ name, meant }) => meant !== undefined || name.startsWith(ours))
}

/**
 * The same for an environment, where most names belong to other programs. A name counts only if it
 * shares its first word with a setting, and that setting is not set.
 */
export function unreadVariables(
  environment: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>,
): readonly UnreadVariable[] {
  const isSet = (name: string) => (environment[name]?.trim() ?? '') !== ''
  const isOfService = (name: string) =>
    ofService.test(name) || addressOfService.test(environment[name] ?? '')
  const words = new Set(Array.from(known, firstWord))
  // A name of one word, such as HOME, is close to too many others.
  words.delete('')
  const names = Object.keys(environment).filter(
    (name) => isSet(name) && words.has(firstWord(name)) && !isOfService(name),
  )
  return unreadAmong(names, known).filter(
    ({ name, meant }) => name.startsWith(ours) || (meant !== undefined && !isSet(meant)),
  )
}

/** What is said of one. */
export function unreadText({ name, meant }: UnreadVariable): string {
  const question = meant === undefined ? '' : `; did you mean ${meant}?`
  return `${name} is set, but is not a setting${question}`
}

function firstWord(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf('_')))
}
