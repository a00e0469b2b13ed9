import { moneyText } from '../kernel/money.ts'
import { intervalText } from '../subscriptions/interval.ts'
import type { Terms } from '../subscriptions/subscription.ts'
import type { ListedSubscription } from '../wire/subscription.ts'
import { print, printTable, shortTime, visible } from './output.ts'

/** A subscription as it stands, one fact per line. */
export function printSubscription(subscription: ListedSubscription): void {
  const { id, status, access, payable, nextTerms } = subscription
  print(`subscription ${id}`)
  print(`status       ${status}, ${access ? 'gives access' : 'gives no access'}`)
  print(visible(`terms        ${termsText(subscription)}${zoneText(subscription.timeZone)}`))
  if (nextTerms !== null) print(visible(`then         ${termsText(nextTerms)}`))
  print(`gateway      ${subscription.gateway}`)
  print(visible(`payable      ${payable.type}:${payable.id}`))
  print(visible(chargedText(subscription)))
  for (const [name, at] of datesOf(subscription)) print(`${name.padEnd(12)} ${at.toISOString()}`)
  if (subscription.endReason !== null) print(`reason       ${subscription.endReason}`)
  if (subscription.actionError !== null) print(visible(`error        ${subscription.actionError}`))
}

function datesOf(subscription: ListedSubscription): readonly (readonly [string, Date])[] {
  const dates: readonly (readonly [string, Date | null])[] = [
    ['created', subscription.createdAt],
    ['trial ends', subscription.trialEndsAt],
    ['paid until', subscription.paidUntil],
    ['no access', subscription.suspendedAt],
    ['pauses', subscription.pauseAt],
    ['resumes', subscription.resumeAt],
    ['ends', subscription.endedAt === null ? subscription.cancelAt : null],
    ['ended', subscription.endedAt],
    ['next action', subscription.nextActionAt],
  ]
  return dates.filter((one): one is readonly [string, Date] => one[1] !== null)
}

/** What is charged: the saved card, or whatever the provider has that manages it. */
function chargedText(subscription: ListedSubscription): string {
  const { managedBy, providerReference, paymentMethodId } = subscription
  if (managedBy === 'provider') {
    return `managed by   the provider: ${providerReference ?? 'it has not begun there'}`
  }
  const remark = cardText(subscription) === 'gone' ? ', which cannot be charged' : ''
  return `card         ${paymentMethodId ?? 'none'}${remark}`
}

/** `gone`: it was removed, or cannot be charged for another reason; `theirs`: the provider's. */
function cardText({
  managedBy,
  paymentMethodId,
  renewable,
}: ListedSubscription): 'ok' | 'gone' | 'none' | 'theirs' {
  if (managedBy === 'provider') return 'theirs'
  if (paymentMethodId === null) return 'none'
  return renewable ? 'ok' : 'gone'
}

/** Whose days and months the periods are counted in, where they are not those of the times shown. */
export function zoneText(timeZone: string): string {
  return timeZone === 'UTC' ? '' : `, counted in ${timeZone}`
}

/** `199.00 UAH every month (plan pro)`. */
export function termsText(terms: Terms): string {
  const plan = terms.plan === null ? '' : ` (plan ${terms.plan})`
  return `${moneyText(terms)} every ${intervalText(terms.every)}${plan}`
}

export function printSubscriptions(subscriptions: readonly ListedSubscription[]): void {
  if (subscriptions.length === 0) {
    print('No subscriptions.')
    return
  }
  const rows = subscriptions.map((one) => [
    one.id,
    one.status,
    one.access ? 'yes' : 'no',
    cardText(one),
    `${moneyText(one)} / ${intervalText(one.every)}`,
    one.paidUntil === null ? '' : shortTime(one.paidUntil),
    one.gateway,
  ])
  const headings = ['id', 'status', 'access', 'card', 'terms', 'paid until (UTC)', 'gateway']
  printTable({ headings, rows })
}
