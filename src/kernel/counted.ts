/** `1 step`, `2 steps`: of a noun whose plural only adds an s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
