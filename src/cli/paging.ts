import { InvalidArgumentError, type Command } from 'commander'

export interface PagingOptions {
  readonly limit?: number
  readonly cursor?: string
}

/** `--limit` and `--cursor`, the same in every list. */
export function addPaging(command: Command): Command {
  return command
    .option('--limit <count>', 'how many, 1 to 100 (default: 20)', readLimit)
    .option('--cursor <cursor>', 'continue after a page')
}

export function readLimit(text: string): number {
  if (/^(?:[1-9]\d?|100)$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1 to 100.')
}
