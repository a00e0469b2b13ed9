/** A variable of the environment; a blank one counts as not set, as it does for the service. */
export function setVariable(name: string): string | undefined {
  const value = process.env[name]?.trim() ?? ''
  return value === '' ? undefined : value
}
