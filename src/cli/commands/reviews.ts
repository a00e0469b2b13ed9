import { InvalidArgumentError, type Command } from 'commander'
import { reviewFilters } from '../../payments/review.ts'
import { addExamples } from '../examples.ts'
import { addList, found, printOne, printPage, queryOf } from '../noun.ts'

interface HandleOptions {
  readonly note: string
  readonly operator?: string
  readonly ifVersion?: number
  readonly json?: boolean
}

const exampleId = '0190163d-8694-739b-aea5-966c26f8ad90'

export function addReviews(program: Command): void {
  const reviews = program.command('reviews').description('what a person must look at')
  const listCommand = addList(reviews, reviewFilters).action(list)
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

function readVersion(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1.')
}

async function list(_options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const page = await withCore(async (core) =>
    core.reviews.list(await queryOf(core, command, reviewFilters)),
  )
  const { reviewNoun } = await import('../../wire/review.ts')
  await printPage(page, command, reviewNoun)
}

async function show(id: string, _options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const review = found(await withCore((core) => core.reviews.get(id)), 'review', id)
  const { reviewNoun } = await import('../../wire/review.ts')
  await printOne(review, command, reviewNoun)
}

async function handle(id: string, options: HandleOptions, command: Command): Promise<void> {
  const { note, operator, ifVersion: version } = options
  const { withCore } = await import('../open-core.ts')
  const review = await withCore((core) => core.reviews.handle(id, { note, operator, version }))
  const { reviewNoun } = await import('../../wire/review.ts')
  await printOne(review, command, reviewNoun)
}
