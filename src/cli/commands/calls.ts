import { Option, type Command } from 'commander'
import { callStates, type CallState } from '../../events/webhook-call.ts'
import { counted } from '../../kernel/counted.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { callAdvice, callRemark, reviewRemark } from '../call-remark.ts'
import { addExamples, exampleGateway } from '../examples.ts'
import { print, printJson, printTable, shortTime, visible } from '../output.ts'
import { addPaging, type PagingOptions } from '../paging.ts'
import { addReplay } from './replay.ts'

interface ListOptions extends PagingOptions {
  readonly state?: CallState
  readonly gateway?: string
  readonly payment?: string
  readonly needsReview?: boolean
  readonly json?: boolean
}

export function addCalls(program: Command): void {
  const calls = program.command('calls').description('the stored callbacks')
  const listCommand = addPaging(calls.command('list').description('newest first'))
    .addOption(new Option('--state <state>', 'only these').choices(callStates))
    .option('--gateway <name>', 'only of this gateway')
    .option('--payment <id>', 'only of this payment')
    .option('--needs-review', 'only those that a person must look at')
    .action(list)
  addExamples(listCommand, [
    ['calls list --state failed'],
    [`calls list --gateway ${exampleGateway} --limit 5`],
  ])
  const showCommand = calls
    .command('show')
    .description('one callback: headers, payload, outcome, exception, deferred events')
    .argument('<id>')
    .action(show)
  addExamples(showCommand, [['calls show 0190163d-8694-739b-aea5-966c26f8ad90']])
  addReplay(calls)
}

async function list(_options: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<ListOptions>()
  const { callView } = await import('../../wire/call.ts')
  const { pageView } = await import('../../wire/page.ts')
  const { withCore } = await import('../open-core.ts')
  const { gatewayQuery } = await import('../gateway-query.ts')
  if (options.payment !== undefined) await requireUuid(options.payment)
  const page = await withCore((core) =>
    core.calls.list({
      ...(options.limit !== undefined && { limit: options.limit }),
      ...(options.cursor !== undefined && { cursor: options.cursor }),
      ...(options.state !== undefined && { state: options.state }),
      ...(options.needsReview === true && { needsReview: true }),
      ...(options.payment !== undefined && { paymentId: options.payment }),
      ...gatewayQuery(core, options.gateway),
    }),
  )
  if (options.json === true) printJson(pageView(page, callView))
  else if (page.data.length === 0 && page.nextCursor === null) print('No calls.')
  else if (page.data.length === 0) print(`None so far. Look further: --cursor ${page.nextCursor}`)
  else {
    const rows = page.data.map((call) => [
      call.id,
      call.gateway,
      call.state,
      shortTime(call.receivedAt),
    ])
    const notes = page.data.map((call) => [call.paymentId ?? '', callRemark(call)])
    printTable({
      headings: ['id', 'gateway', 'state', 'received (UTC)'],
      rows,
      notes: { headings: ['payment', 'outcome'], rows: notes },
    })
    if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`)
  }
}

async function requireUuid(text: string): Promise<void> {
  const { readUuid } = await import('../../kernel/ids.ts')
  if (readUuid(text) !== undefined) return
  throw new QuittanceError('usage', `--payment must be a UUID, got ${JSON.stringify(text)}`)
}

async function show(id: string, _options: unknown, command: Command): Promise<void> {
  const { callDetailsView } = await import('../../wire/call.ts')
  const { withCore } = await import('../open-core.ts')
  const call = await withCore((core) => core.calls.get(id))
  if (call === undefined) {
    throw new QuittanceError('call_not_found', `there is no call ${JSON.stringify(id)}`)
  }
  const view = callDetailsView(call)
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson(view)
    return
  }
  const { printDeferredEvent } = await import('../print-payment.ts')
  print(`call        ${call.id}`)
  print(`gateway     ${call.gateway}`)
  print(`url         ${visible(call.url)}`)
  print(`received    ${call.receivedAt.toISOString()}`)
  print(`state       ${call.state}, ${counted(call.attempts, 'failed attempt')}`)
  if (view.next_attempt_at !== null) print(`due         ${view.next_attempt_at}`)
  const review = reviewRemark(call)
  if (review !== undefined) print(`review      needed: ${review}`)
  if (call.paymentId !== null) print(`payment     ${call.paymentId}`)
  for (const key of call.dedupClaims) print(`claim       ${key}`)
  for (const one of call.outcome ?? []) print(`outcome     ${JSON.stringify(one)}`)
  for (const line of callAdvice(call)) print(line)
  for (const event of call.deferredEvents) printDeferredEvent(event)
  for (const { at, attempt, listener, exception } of call.failedAttempts) {
    const [first = ''] = exception.split('\n')
    const where = listener === null ? '' : `, listener ${listener}`
    print(visible(`failed      ${at.toISOString()}, attempt ${attempt}${where}: ${first}`))
  }
  print('headers')
  for (const [name, value] of Object.entries(call.headers)) print(visible(`  ${name}: ${value}`))
  print('payload')
  print(visible(call.payload ?? unreadableBody(view)))
  if (call.exception !== null) print(visible(`exception\n${call.exception}`))
}

function unreadableBody(body: {
  readonly body_base64: string | null
  readonly body_encrypted: boolean
}): string {
  if (body.body_encrypted) return '(unreadable; kept encrypted)'
  return `(unreadable; base64) ${body.body_base64 ?? ''}`
}
