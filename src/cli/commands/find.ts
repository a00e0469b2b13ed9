import type { Command } from 'commander'
import { addExamples } from '../examples.ts'
import { printRows } from '../noun.ts'
import { print, printJson, printTable, shortTime } from '../output.ts'
import { addPaging, type PagingOptions } from '../paging.ts'
import { readSince } from '../read-time.ts'
import type { PaymentStanding } from '../../payments/standing.ts'
import type { Found, FoundPayment, Hit } from '../../wire/found.ts'
import type { ScannedCalls } from '../../inspect/scan-calls.ts'

interface FindOptions extends PagingOptions {
  readonly inCalls?: boolean
  readonly since?: Date
  readonly json?: boolean
}

export function addFind(program: Command): void {
  const command = program
    .command('find')
    .description('whatever has this id, reference, e-mail, phone, or amount and day')
    .argument('<text...>')
    .option('--in-calls', 'callbacks whose payload contains the text, newest first')
    .option('--since <time>', 'with --in-calls: back to then (default: 24h)', readSince)
    .action(find)
  addPaging(command)
  addExamples(command, [
    ['find pi_3MtwBwLkdIwHu7ix28a3tqPa'],
    ['find payer@example.com'],
    ['find order:42'],
    ['find 19.99 EUR yesterday'],
    ['find --in-calls pi_3MtwBwLkdIwHu7ix28a3tqPa --since 7d'],
  ])
}

async function find(words: readonly string[], _options: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<FindOptions>()
  const text = words.join(' ')
  if (options.inCalls === true) return findInCalls(text, options)
  const { foundView } = await import('../../wire/found.ts')
  const { withCore } = await import('../open-core.ts')
  const { standingsOf } = await import('../../billing/standings-of.ts')
  const { found, standingOf } = await withCore(async (core) => {
    const hits = await core.inspect.find(text)
    return { found: hits, standingOf: await standingsOf(core, hits.data.filter(isPayment)) }
  })
  if (options.json === true) printJson(foundView(found))
  else await printFound(found, standingOf)
}

async function printFound(
  { data, hasMore }: Found,
  standingOf: (payment: FoundPayment) => PaymentStanding,
): Promise<void> {
  if (data.length === 0) {
    print('Nothing has this id, reference, or amount and day. Inside callbacks: --in-calls')
    return
  }
  const { moneyText } = await import('../../kernel/money.ts')
  const { standingText } = await import('../../payments/standing.ts')
  const noteOf = (hit: Hit) =>
    isPayment(hit) ? [standingText(standingOf(hit)), moneyText(hit), hit.gateway] : []
  printTable({
    headings: ['id', 'what', 'by', 'created (UTC)'],
    rows: data.map((hit) => [hit.id, hit.kind, hit.by, shortTime(hit.createdAt)]),
    ...(data.some(isPayment) && {
      notes: { headings: ['payment'], rows: data.map((hit) => [noteOf(hit).join(', ')]) },
    }),
  })
  if (hasMore) print('There may be more: say it more exactly.')
}

function isPayment(hit: Hit): hit is FoundPayment {
  return 'amount' in hit
}

async function findInCalls(text: string, options: FindOptions): Promise<void> {
  const { limit, cursor, since } = options
  const { callView } = await import('../../wire/call.ts')
  const { pageView } = await import('../../wire/page.ts')
  const { withCore } = await import('../open-core.ts')
  const page = await withCore((core) =>
    core.inspect.callsWith({
      text,
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
      ...(since !== undefined && { from: since }),
    }),
  )
  if (options.json !== true) return await printCalls(page)
  printJson({ ...pageView(page, callView), looked_back_to: page.lookedBackTo.toISOString() })
}

async function printCalls({ data, lookedBackTo, nextCursor }: ScannedCalls): Promise<void> {
  const { listedCalls } = await import('../call-nouns.ts')
  if (data.length > 0) await printRows(data, listedCalls)
  const found = data.length === 0 ? 'None was found. ' : ''
  print(`${found}Looked back to ${lookedBackTo.toISOString()}.`)
  if (nextCursor !== null) print(`Look further: --cursor ${nextCursor}`)
}
