import type { Command } from 'commander'
import { callFilters } from '../../events/webhook-call.ts'
import { callAdvice } from '../call-remark.ts'
import { addExamples, exampleGateway } from '../examples.ts'
import { addList, asksJson, found, printOne, printPage, queryOf } from '../noun.ts'
import { addReplay } from './replay.ts'

export function addCalls(program: Command): void {
  const calls = program.command('calls').description('the stored callbacks')
  const listCommand = addList(calls, callFilters).action(list)
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
  const { withCore } = await import('../open-core.ts')
  const page = await withCore(async (core) =>
    core.calls.list(await queryOf(core, command, callFilters)),
  )
  const { listedCalls } = await import('../call-nouns.ts')
  await printPage(page, command, listedCalls)
}

async function show(id: string, _options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const call = found(await withCore((core) => core.calls.get(id)), 'call', id)
  const { shownCall } = await import('../call-nouns.ts')
  await printOne(call, command, { ...shownCall, further: callAdvice(call) })
  if (asksJson(command)) return
  const { printDeferredEvent } = await import('../print-payment.ts')
  for (const event of call.deferredEvents) printDeferredEvent(event)
}
