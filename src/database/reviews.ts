import { hash } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { NewId } from '../kernel/ids.ts'
import { largestAmount, type Money } from '../kernel/money.ts'
import { recordedReasons, reviewReasons, type ReviewReason } from '../payments/reasons.ts'
import type { ReviewState, StatedMoney } from '../payments/review.ts'
import type { Tables } from './tables.ts'

/** Something was found that a person must look at. */
export interface ReviewFinding {
  readonly gateway: string
  readonly reason: ReviewReason
  /** What exactly was found; other details are another finding. */
  readonly detail?: string | undefined
  /** The charge that it is about. */
  readonly paymentId?: string | null | undefined
  readonly periodId?: string | null
  readonly subscriptionId?: string | null
  /** The call that says so; null: a poll, or we ourselves. */
  readonly callId: string | null
  readonly stated?: Partial<StatedMoney>
  readonly expected?: Money | undefined
  /** It is news even where a person has looked: the review is opened again. */
  readonly isNews?: boolean
  /** Only its call tells it apart: nothing else is known well enough. */
  readonly isOfCall?: boolean
}

/** The row of a finding, and whether a person has looked at it already. */
export interface FoundReview {
  readonly id: string
  readonly state: ReviewState
}

/** The same as `openReviews`, for one. */
export async function openReview(
  db: Kysely<Tables>,
  finding: ReviewFinding,
  newId: NewId,
): Promise<FoundReview> {
  const [review] = await openReviews(db, [finding], newId)
  if (review === undefined) throw new Error(`a review of ${finding.reason} was not written`)
  return review
}

/**
 * Writes down what a person must look at, in the transaction of whatever found it. The same finding
 * again (of the same payment or period, for the same reason, with the same reference and money) adds
 * one to its row and opens nothing that was handled, unless only the service itself had closed it.
 * A call that is retried counts once. The answers are in the order of the findings. Two transactions
 * lock rows in the same order, as long as each calls this once.
 */
export async function openReviews(
  db: Kysely<Tables>,
  findings: readonly ReviewFinding[],
  newId: NewId,
): Promise<readonly FoundReview[]> {
  const found = new Map<ReviewFinding, FoundReview>()
  for (const turn of inTurns(findings)) {
    const written = await write(db, turn, newId)
    const news = await link(db, written)
    await countAgain(
      db,
      news.filter(({ isNew }) => !isNew),
    )
    const closed = written.filter(({ finding, state }) => finding.isNews && state === 'handled')
    await reopen(db, closed)
    for (const one of written) {
      const state = closed.includes(one) ? 'open' : one.state
      found.set(one.finding, { id: one.id, state })
    }
  }
  return findings.flatMap((finding) => found.get(finding) ?? [])
}

/** A statement writes a row once. */
function inTurns(
  findings: readonly ReviewFinding[],
): readonly ReadonlyMap<string, ReviewFinding>[] {
  const turns: Map<string, ReviewFinding>[] = []
  for (const finding of findings) {
    const key = keyOf(finding).toString('hex')
    const free = turns.find((turn) => !turn.has(key))
    if (free === undefined) turns.push(new Map([[key, finding]]))
    else free.set(key, finding)
  }
  return turns
}

/** A name that no person has: what the service itself has closed, nobody has looked at. */
export const serviceOperator = 'service'

interface WrittenReview extends FoundReview {
  readonly finding: ReviewFinding
  readonly isNew: boolean
}

async function write(
  db: Kysely<Tables>,
  turn: ReadonlyMap<string, ReviewFinding>,
  newId: NewId,
): Promise<readonly WrittenReview[]> {
  const ids = new Map([...turn.keys()].map((key) => [key, newId()]))
  const rows = await upsert(db, turn, ids)
  return rows.flatMap(({ key, id, state }) => {
    const hex = key.toString('hex')
    const finding = turn.get(hex)
    return finding === undefined ? [] : [{ id, state, finding, isNew: ids.get(hex) === id }]
  })
}

/** A row that is there is locked, and opened again if no person has closed it. */
async function upsert(
  db: Kysely<Tables>,
  turn: ReadonlyMap<string, ReviewFinding>,
  ids: ReadonlyMap<string, string>,
): Promise<readonly (FoundReview & { readonly key: Buffer })[]> {
  const list = [...turn.values()]
  const byService = sql`known.state = 'handled' and known.operator = ${sql.lit(serviceOperator)}`
  const { rows } = await sql<FoundReview & { readonly key: Buffer }>`
    insert into billing.reviews as known (id, key, gateway, reason, detail, payment_id, period_id,
      subscription_id, webhook_call_id, stated_reference, stated_amount, stated_currency,
      expected_amount, expected_currency)
    select * from unnest(
      ${[...ids.values()]}::uuid[],
      ${[...turn.keys()].map((key) => Buffer.from(key, 'hex'))}::bytea[],
      ${list.map(({ gateway }) => gateway)}::text[],
      ${list.map(({ reason }) => reason)}::text[],
      ${list.map(({ detail }) => storable(detail))}::text[],
      ${list.map(({ paymentId = null }) => paymentId)}::uuid[],
      ${list.map(({ periodId = null }) => periodId)}::uuid[],
      ${list.map(({ subscriptionId = null }) => subscriptionId)}::uuid[],
      ${list.map(({ callId }) => callId)}::uuid[],
      ${list.map(({ stated }) => storable(stated?.reference))}::text[],
      ${list.map(({ stated }) => storableAmount(stated?.amount))}::bigint[],
      ${list.map(({ stated }) => storable(stated?.currency))}::text[],
      ${list.map(({ expected }) => expected?.amount ?? null)}::bigint[],
      ${list.map(({ expected }) => expected?.currency ?? null)}::text[]
    ) as found (id, key) order by key
    on conflict (key) do update set
      last_at = excluded.last_at,
      state = case when ${byService} then 'open' else known.state end,
      handled_at = case when ${byService} then null else known.handled_at end,
      version = known.version + case when ${byService} then 1 else 0 end
    returning id, key, state`.execute(db)
  return rows
}

/** Which of these say what they had not said before: a call that is retried says nothing new. */
async function link(
  db: Kysely<Tables>,
  written: readonly WrittenReview[],
): Promise<readonly WrittenReview[]> {
  const calling = written.filter(({ finding }) => finding.callId !== null)
  if (calling.length === 0) return written
  const { rows } = await sql<{ review_id: string }>`
    insert into billing.review_calls (call_id, review_id)
    select * from unnest(
      ${calling.map(({ finding }) => finding.callId)}::uuid[],
      ${calling.map(({ id }) => id)}::uuid[])
    on conflict do nothing returning review_id`.execute(db)
  const linked = new Set(rows.map((row) => row.review_id))
  return written.filter(({ id, finding }) => finding.callId === null || linked.has(id))
}

async function countAgain(db: Kysely<Tables>, repeated: readonly FoundReview[]): Promise<void> {
  if (repeated.length === 0) return
  await sql`
    update billing.reviews set times = times + 1
    where id = any(${repeated.map(({ id }) => id)}::uuid[])`.execute(db)
}

async function reopen(db: Kysely<Tables>, closed: readonly FoundReview[]): Promise<void> {
  if (closed.length === 0) return
  await sql`
    update billing.reviews set state = 'open', handled_at = null, version = version + 1
    where id = any(${closed.map(({ id }) => id)}::uuid[])`.execute(db)
}

/** What makes two findings the same one. What nothing names is known by its call. */
function keyOf(finding: ReviewFinding): Buffer {
  const { gateway, reason, detail, paymentId, periodId, callId, stated } = finding
  const matter = [paymentId, periodId, stated?.reference].map((one) => one ?? null)
  const isNamed = finding.isOfCall !== true && matter.some((one) => one !== null)
  const named = [...matter, detail ?? null, String(stated?.amount ?? ''), stated?.currency ?? null]
  return hash(
    'sha256',
    JSON.stringify([gateway, reason, ...(isNamed ? named : [callId])]),
    'buffer',
  )
}

/** Columns refuse NUL; nobody reads more than this. */
function storable(text: string | null | undefined): string | null {
  return text?.replaceAll('\u0000', '\uFFFD').slice(0, 2_000) ?? null
}

function storableAmount(amount: bigint | null | undefined): bigint | null {
  return amount == null || amount > largestAmount || amount < -largestAmount ? null : amount
}

const closable = reviewReasons.filter((reason) => !recordedReasons.includes(reason))

/**
 * Closes the reviews of calls that are processed again and do not say the same any more: the present
 * transaction has not opened these reviews. A review of a period stays open, because no call says
 * it twice, and so does a review of a recorded fact, or for a reason of a newer version. Returns the
 * calls that have an open review and stay marked. Their reviews are locked, so no operator handles one
 * before the transaction ends. Call this before the calls' rows are locked.
 */
export async function closeUnsaid(
  db: Kysely<Tables>,
  callIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (callIds.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    update billing.reviews set ${closed('its callback was processed again, and needs nobody')}
    where id in (select review_id from billing.review_calls
        where call_id = any(${[...callIds]}::uuid[]))
      and state = 'open' and period_id is null and subscription_id is null
      and reason = any(${[...closable]})
      and last_at < date_trunc('milliseconds', now())
    returning id`.execute(db)
  const { rows: left } = await sql<{ id: string }>`
    select link.call_id as id from billing.review_calls as link
      join billing.reviews as review on review.id = link.review_id
    where link.call_id = any(${[...callIds]}::uuid[]) and review.state = 'open'
    order by review.id for share of review`.execute(db)
  await unmarkCalls(
    db,
    rows.map(({ id }) => id),
  )
  return new Set(left.map(({ id }) => id))
}

/** Closes what polls of a payment could not understand: a later one did. */
export async function closeUnclear(db: Kysely<Tables>, paymentId: string): Promise<void> {
  await sql`
    update billing.reviews set ${closed('a later poll was understood')}
    where payment_id = ${paymentId}::uuid and reason = 'poll_unclear' and state = 'open'`.execute(
    db,
  )
}

function closed(note: string) {
  return sql`state = 'handled', operator = ${serviceOperator}, note = ${note},
    handled_at = statement_timestamp(), version = version + 1`
}

/** Takes the mark from calls of closed reviews, unless another review of them is open. */
export async function unmarkCalls(db: Kysely<Tables>, reviewIds: readonly string[]): Promise<void> {
  if (reviewIds.length === 0) return
  const { rows } = await sql<{ id: string }>`
    select distinct link.call_id as id from billing.review_calls as link
    where link.review_id = any(${[...reviewIds]}::uuid[]) and not exists (
      select from billing.review_calls as other join billing.reviews as review
        on review.id = other.review_id
      where other.call_id = link.call_id and review.state = 'open')`.execute(db)
  if (rows.length === 0) return
  await sql`
    update billing.webhook_calls set needs_review = false
    where id = any(${rows.map(({ id }) => id)}::uuid[]) and needs_review`.execute(db)
}
