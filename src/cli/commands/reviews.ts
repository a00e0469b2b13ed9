import { InvalidArgumentError, Option, type Command } from 'commander'
import { counted } from '../../kernel/counted.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { choiceAmong } from '../../kernel/similar-name.ts'
import {
  isReviewReason,
  reviewReasons,
  reviewStates,
  type Review,
  type ReviewReason,
  type ReviewState,
} from '../../payments/review.ts'
import { addExamples } from '../examples.ts'
import { print, printJson, printTable, shortTime, visible } from '../output.ts'
import { addPaging, type PagingOptions } from '../paging.ts'

interface ListOptions extends PagingOptions {
  readonly state?: ReviewState
  readonly reason?: ReviewReason
  readonly gateway?: string
  readonly payment?: string
  readonly json?: boolean
}

interface HandleOptions {
  readonly note: string
  readonly operator?: string
  readonly ifVersion?: number
  readonly json?: boolean
}

const exampleId = '0190163d-8694-739b-aea5-966c26f8ad90'

export function addReviews(program: Command): void {
  const reviews = program.command('reviews').description('what a person must look at')
  const listCommand = addPaging(reviews.command('list').description('newest first'))
    .addOption(new Option('--state <state>', 'only these').choices(reviewStates))
    .option('--reason <reason>', 'only for this reason: see docs/5-operations.md', readReason)
    .option('--gateway <name>', 'only of this gateway')
    .option('--payment <id>', 'only of this payment')
    .action(list)
  addExamples(listCommand, [
    ['reviews list --state open'],
    ['reviews list --reason dispute_open --limit 5'],
  ])
  const showCommand = reviews
    .command('show')
    .description('one review: what was stated, what was expected, who has handled it')
    .argument('<id>')
    .action(show)
  addExamples(showCommand, [[`reviews show ${exampleId}`]])
  const handleCommand = reviews
    .command('handle')
    .description('a person has looked: close a review, with a note')
    .argument('<id>')
    .requiredOption('--note <text>', 'what was found, and what was done')
    .option('--operator <name>', 'who has looked')
    .option('--if-version <number>', 'only if it still is the version that was shown', readVersion)
    .action(handle)
  addExamples(handleCommand, [[`reviews handle ${exampleId} --note refunded --operator olena`]])
}

function readReason(text: string): ReviewReason {
  if (isReviewReason(text)) return text
  throw new InvalidArgumentError(`There is no such reason${choiceAmong(text, reviewReasons)}.`)
}

function readVersion(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1.')
}

async function list(_options: unknown, command: Command): Promise<void> {
  const { json, gateway, payment, ...rest } = command.optsWithGlobals<ListOptions>()
  const { state, reason, cursor, limit } = rest
  const { pageView } = await import('../../wire/page.ts')
  const { reviewView } = await import('../../wire/review.ts')
  const { inWords } = await import('../../payments/review-words.ts')
  const { withCore } = await import('../open-core.ts')
  const { gatewayQuery } = await import('../gateway-query.ts')
  const page = await withCore((core) =>
    core.reviews.list({
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
      ...(state !== undefined && { state }),
      ...(reason !== undefined && { reason }),
      ...(payment !== undefined && { paymentId: payment }),
      ...gatewayQuery(core, gateway),
    }),
  )
  if (json === true) printJson(pageView(page, reviewView))
  else if (page.data.length === 0) print('No reviews.')
  else {
    const rows = page.data.map((review) => [
      review.id,
      review.state,
      review.gateway,
      String(review.times),
      shortTime(review.lastAt),
    ])
    const notes = page.data.map((review) => [review.paymentId ?? '', inWords(review)])
    printTable({
      headings: ['id', 'state', 'gateway', 'times', 'last (UTC)'],
      rows,
      notes: { headings: ['payment', 'what'], rows: notes },
    })
    if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`)
  }
}

async function show(id: string, _options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const review = await withCore((core) => core.reviews.get(id))
  if (review === undefined) {
    throw new QuittanceError('review_not_found', `there is no review ${JSON.stringify(id)}`)
  }
  await printReview(review, command)
}

async function handle(id: string, options: HandleOptions, command: Command): Promise<void> {
  const { note, operator, ifVersion: version } = options
  const { withCore } = await import('../open-core.ts')
  const review = await withCore((core) => core.reviews.handle(id, { note, operator, version }))
  await printReview(review, command)
}

async function printReview(review: Review, command: Command): Promise<void> {
  const { reviewView } = await import('../../wire/review.ts')
  const view = reviewView(review)
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson(view)
    return
  }
  const { moneyText } = await import('../../kernel/money.ts')
  const { stated, expected } = review
  const { amount, currency } = stated
  const facts: readonly (readonly [string, string | null])[] = [
    ['review', review.id],
    ['state', review.state],
    ['reason', review.reason],
    ['what', view.in_words],
    ['gateway', review.gateway],
    ['payment', review.paymentId],
    ['period', review.periodId],
    ['subscription', review.subscriptionId],
    ['call', review.webhookCallId],
    ['reference', stated.reference],
    ['stated', amount === null || currency === null ? null : moneyText({ amount, currency })],
    ['expected', expected && moneyText(expected)],
    ['said', `${counted(review.times, 'time')}, the last time ${view.last_at}`],
    ['first', view.created_at],
    ['version', String(review.version)],
    ['handled', view.handled_at],
    ['operator', review.operator],
    ['note', review.note],
  ]
  for (const [name, value] of facts) {
    if (value !== null) print(visible(`${name.padEnd(12)}${value}`))
  }
}
