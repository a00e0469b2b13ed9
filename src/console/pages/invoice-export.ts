import { safeHeaders } from '../../http/respond.ts'
import { invoiceFormats, type InvoiceFormat } from '../../invoices/invoice.ts'
import type { Visit } from '../context.ts'
import { chosen, chosenOf } from '../parts/filters.ts'

const types = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl' } as const

/**
 * All documents of a month as a file. It is recorded before: what is not recorded is not given out.
 * Until the last line is out, what came of it is unknown.
 */
export async function invoiceExport({ console, visitor, url }: Visit): Promise<Response> {
  const { core } = console
  const month = chosen(url, 'month') ?? ''
  const format: InvoiceFormat = chosenOf(url, 'format', invoiceFormats) ?? 'csv'
  // What is wrong with the month is thrown here, before anything is recorded.
  const lines = core.invoices.export({ month, format })
  const id = console.newId()
  await core.operators.recordAction({
    id,
    operator: visitor.name,
    via: 'console',
    action: 'exportInvoices',
    subject: month,
    detail: { format },
  })
  const ended = async (outcome: string) => {
    await core.operators.endAction(id, outcome).catch((error: unknown) => {
      console.log.warn({ err: error, action: id }, 'what came of an action could not be recorded')
    })
  }
  const body = ReadableStream.from(noted(lines, ended)).pipeThrough(new TextEncoderStream())
  return new Response(body, {
    headers: {
      'content-type': types[format],
      'content-disposition': `attachment; filename="invoices-${month}.${format}"`,
      ...safeHeaders,
    },
  })
}

/** The same lines; says once whether all of them were taken. */
async function* noted(
  lines: AsyncIterable<string>,
  ended: (outcome: string) => Promise<void>,
): AsyncGenerator<string, void> {
  let outcome = 'broken_off'
  try {
    yield* lines
    outcome = 'done'
  } catch (error) {
    outcome = 'failed'
    throw error
  } finally {
    await ended(outcome)
  }
}
